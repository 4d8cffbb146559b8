#include "transcript/source/session_list.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"id", "sessionId", "transcript_file", "sessionFile"};

std::string stampOf(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {} {}.{}", path, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Caches the list that was used last; the sessions of a folder are processed one after the other.
struct Last {
  std::mutex mutex;
  std::string stamp;
  std::shared_ptr<const SessionList> list;
};

Last& lastList() {
  static Last last;
  return last;
}

std::string placeKey(std::string_view member, std::string_view value) {
  return fmt::format("{}\n{}", member, value);
}

}  // namespace

Result<std::shared_ptr<const SessionList>> SessionList::at(const std::string& path) {
  const std::string stamp = stampOf(path);
  Last& last = lastList();
  const std::scoped_lock lock(last.mutex);
  if (!stamp.empty() && last.stamp == stamp) return last.list;
  BOUGH_TRY(auto text, readSmallFile(path));
  if (!text) return nullptr;
  std::shared_ptr<SessionList> list(new SessionList(std::move(*text)));
  BOUGH_TRY(list->read(path));
  last.stamp = stamp;
  last.list = list;
  return list;
}

Result<void> SessionList::read(const std::string& path) {
  const std::size_t begin = text_.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string::npos) return {};
  const std::string_view json = std::string_view(text_).substr(begin);
  if ((json.front() != '{' && json.front() != '[') || !json::check(json)) {
    return fail(ErrorCode::Damaged, fmt::format("{}, the agent's list of sessions, is damaged", path),
                "titles and keys that only the list has are missing");
  }
  eachSession(json, [&](const std::string& key, std::string_view value) {
    if (json::kindOf(value) != json::Kind::Object) return false;
    const std::size_t place = sessions_.size();
    sessions_.push_back({.key = key, .value = value});
    places_.try_emplace(placeKey({}, key), place);
    json::ObjectReader members(value);
    while (const auto member = members.next()) {
      for (const std::string_view name : kNames) {
        if (!member->keyIs(name)) continue;
        const std::string text = json::decodeString(member->value).value_or("");
        if (!text.empty()) places_.try_emplace(placeKey(name, nameOf(text)), place);
      }
    }
    return false;
  });
  return {};
}

bool SessionList::hasMember(std::string_view member) const {
  const std::string begin = placeKey(member, "");
  return std::ranges::any_of(places_, [&](const auto& each) { return each.first.starts_with(begin); });
}

const SessionList::Session* SessionList::find(std::string_view member, std::string_view value) const {
  const auto found = places_.find(placeKey(member, member.empty() ? std::string(value) : nameOf(value)));
  return found == places_.end() ? nullptr : &sessions_[found->second];
}

}  // namespace bough::transcript
