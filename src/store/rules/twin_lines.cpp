#include "store/rules/twin_lines.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "store/rules/entry_rules.h"
#include "store/rules/erasure.h"

namespace bough {
namespace {

bool isOfMessage(std::string_view type) {
  constexpr std::string_view kTypes[] = {entry_type::kMessage, "user",     "assistant",
                                         "tool_call",          "tool_use", "tool_result"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

// Adds the content of an entry, without the line that it came from.
void addContentTexts(const Entry& entry, json::TextSet& texts) {
  json::ObjectReader members(entry.payload);
  while (const auto member = members.next()) {
    if (member->key != "transcript" && member->key != "dialect") texts.add(member->key, member->value);
  }
}

}  // namespace

void TwinLines::add(const Entry& entry) {
  ids_.insert(entry.id);
  const auto line = agentLineOf(entry.payload);
  if (!line) return;
  agents_.insert(line->agent);
  addContentTexts(entry, texts_);
}

bool TwinLines::carriesOne(const Entry& entry) const {
  const auto transcript = json::findMember(entry.payload, "transcript");
  const auto carries = transcript ? json::findMember(*transcript, "carries") : std::nullopt;
  if (!carries || json::kindOf(*carries) != json::Kind::Array) return false;
  json::ArrayReader list(*carries);
  while (const auto id = list.next()) {
    if (ids_.contains(json::decodeString(*id).value_or(""))) return true;
  }
  return false;
}

bool TwinLines::isTwin(const Entry& entry, bool alsoMessages) const {
  const bool isMessage = isOfMessage(entry.type);
  if ((isMessage && !alsoMessages) || !canBeRedacted(entryKind(entry.type)) || ids_.contains(entry.id)) return false;
  const auto line = agentLineOf(entry.payload);
  if (!line) return false;
  if (carriesOne(entry)) return true;
  if (!agents_.contains(line->agent)) return false;
  json::TextSet own;
  if (isMessage) addContentTexts(entry, own);
  bool found = false;
  json::TextSet::each(entry.payload, [&](std::string_view name, std::string_view quoted) {
    if (found) return;
    if (name != "line") {
      found = !isMessage && texts_.repeats(quoted);
      return;
    }
    std::string piece;
    json::appendDecoded(piece, quoted.substr(1, quoted.size() - 2));
    json::TextSet::each(piece, [&](std::string_view, std::string_view text) {
      found = found || (texts_.repeats(text) && !own.repeats(text));
    });
  });
  return found;
}

Result<std::vector<std::string>> twinsOf(StoredSession& session, const std::vector<std::string>& entryIds,
                                         bool forGood) {
  constexpr std::size_t kPart = 256;
  constexpr std::size_t kPartBytes = std::size_t{16} << 20;
  BOUGH_TRY(const auto named, session.load({.options = {.showRedacted = true}, .ids = entryIds}));
  TwinLines said;
  for (const Entry& entry : named.entries) said.add(entry);
  std::vector<std::string> twins;
  if (!said.wereImported()) return twins;  // otherwise the whole session is read
  for (std::uint64_t from = 0;;) {
    BOUGH_TRY(
        const auto part,
        session.load(
            {.options = {.fromSequence = from, .limit = kPart, .limitBytes = kPartBytes, .showRedacted = forGood}}));
    if (part.entries.empty()) return twins;
    from += part.entries.size();
    for (const Entry& entry : part.entries) {
      if (said.isTwin(entry, forGood)) twins.push_back(entry.id);
    }
  }
}

}  // namespace bough
