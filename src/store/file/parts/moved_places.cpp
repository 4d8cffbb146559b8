#include "store/file/parts/moved_places.h"

#include <fmt/format.h>

#include "base/model/unreadable.h"
#include "bough/entry.h"
#include "log/format/line.h"

namespace bough {

void addNamedPlaces(std::set<std::uint64_t>& places, std::string_view line) {
  constexpr std::string_view kBegin = R"("unreadable:)";
  for (std::size_t at = line.find(kBegin); at != std::string_view::npos; at = line.find(kBegin, at + 1)) {
    const auto offset = offsetOfUnreadableId(line.substr(at + 1, line.find('"', at + 1) - at - 1));
    if (offset && places.size() <= kMostNamedPlaces) places.insert(*offset);
  }
}

Result<void> checkNamedPlaces(const std::set<std::uint64_t>& places, std::string_view path) {
  if (places.size() <= kMostNamedPlaces) return {};
  return fail(ErrorCode::Unsupported,
              fmt::format("the store names more than {} places of entries that could not be read, the last of them in "
                          "{}; what they name could be lost",
                          kMostNamedPlaces, path),
              "look which file names so many (`\"unreadable:…\"`), move it out of the store, and erase again");
}

void MovedPlaces::begin(std::uint64_t offset, std::uint64_t bytes) {
  for (auto named = named_.lower_bound(offset); named != named_.end() && *named - offset < bytes; ++named) {
    places_[*named] = written_ + (*named - offset);
  }
}

std::string MovedPlaces::idInCopy(std::string id) const {
  const auto offset = places_.empty() ? std::nullopt : offsetOfUnreadableId(id);
  const auto place = offset ? places_.find(*offset) : places_.end();
  return place == places_.end() ? id : unreadableId(place->second);
}

std::string MovedPlaces::withNewPlaces(std::string line) const {
  const auto keys = places_.empty() ? std::nullopt : readCanonicalKeys(line);
  if (!keys) return line;
  const bool hasParent = keys->parentId.has_value();
  const bool namesOne = isControl(entryKind(keys->type));
  if (hasParent) moveAfter(line, R"("parentId":")");
  if (namesOne) moveAfter(line, R"("entryId":")");
  return line;
}

std::map<std::string, std::string> MovedPlaces::renamed() const {
  std::map<std::string, std::string> names;
  for (const auto& [from, to] : places_) {
    if (from != to) names.emplace(unreadableId(from), unreadableId(to));
  }
  return names;
}

void MovedPlaces::moveAfter(std::string& line, std::string_view name) const {
  const std::size_t at = line.find(name);
  if (at == std::string::npos) return;
  const std::size_t begin = at + name.size();
  const std::size_t size = line.find('"', begin) - begin;
  line.replace(begin, size, idInCopy(line.substr(begin, size)));
}

}  // namespace bough
