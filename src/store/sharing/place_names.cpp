#include "store/sharing/place_names.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "store/rules/renamed_places.h"

namespace bough {
namespace {

// Returns a string in a payload without its quotes. No id contains a character that needs an escape.
std::string_view textIn(std::string_view object, std::string_view name) {
  const auto value = json::findMember(object, name).value_or("");
  return value.size() > 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : std::string_view();
}

void replaceIn(std::string& payload, std::string_view part, const std::string& id) {
  payload.replace(static_cast<std::size_t>(part.data() - payload.data()), part.size(), id);
}

// Returns the id of a shared entry; looks at the newest session first. Only this entry is read: places that it names
// itself do not matter.
Result<std::optional<std::string>> sharedIdAt(const ForkHistory& history, std::string_view place) {
  for (const ForkHistory::Part& part : history.parts() | std::views::reverse) {
    BOUGH_TRY(const auto sequence, sequenceNamedFrom(*part.session, place));
    if (!sequence || !std::ranges::binary_search(part.sequences, *sequence)) continue;
    BOUGH_TRY(auto entries, part.session->ownRead(std::array{*sequence}));
    return std::move(entries.front().id);
  }
  return std::nullopt;
}

Result<void> nameTarget(SharingSession& session, Entry& entry) {
  const std::string_view target = textIn(entry.payload, "entryId");
  if (!offsetOfUnreadableId(target)) return {};
  BOUGH_TRY(const auto id, resolvedId(session, std::string(target)));
  replaceIn(entry.payload, target, id);
  return {};
}

}  // namespace

Result<std::optional<std::uint64_t>> sequenceNamedFrom(SharingSession& session, std::string_view name) {
  if (!offsetOfUnreadableId(name)) return session.ownSequenceOf(name);
  constexpr EntryKind kKinds[] = {EntryKind::SessionInfo};
  BOUGH_TRY(const auto sequences, session.ownControls(kKinds));
  std::string now(name);
  for (const std::uint64_t sequence : sequences) {
    BOUGH_TRY(const auto info, session.ownRead(std::array{sequence}));
    now = renamedIn(info.front().payload, now).value_or(now);
  }
  return session.ownSequenceOf(now);
}

Result<std::string> resolvedId(SharingSession& session, std::string id) {
  if (!offsetOfUnreadableId(id)) return id;
  BOUGH_TRY(const auto own, session.ownSequenceOf(id));
  if (own) {
    BOUGH_TRY(const auto entries, session.ownRead(std::array{*own}));
    return entries.front().id;
  }
  BOUGH_TRY(const auto shared, session.history());
  BOUGH_TRY(auto known, sharedIdAt(*shared, id));
  return known ? std::move(*known) : std::move(id);
}

Result<void> resolveOrigin(const ForkHistory& history, Entry& header) {
  const auto origin = json::findMember(header.payload, "parentSession").value_or("");
  const std::string_view leaf = textIn(origin, "entryId");
  if (!offsetOfUnreadableId(leaf)) return {};
  BOUGH_TRY(const auto id, sharedIdAt(history, leaf));
  if (id) replaceIn(header.payload, leaf, *id);
  return {};
}

Result<void> resolvePlaces(SharingSession& session, std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    if (entry.parentId && offsetOfUnreadableId(*entry.parentId)) {
      BOUGH_TRY(entry.parentId, resolvedId(session, std::move(*entry.parentId)));
    }
    const EntryKind kind = entryKind(entry.type);
    if (isControl(kind)) {
      BOUGH_TRY(nameTarget(session, entry));
    }
    if (kind != EntryKind::SessionHeader || entry.payload.find("unreadable:") == std::string::npos) continue;
    BOUGH_TRY(const auto shared, session.history());
    BOUGH_TRY(resolveOrigin(*shared, entry));
  }
  return {};
}

}  // namespace bough
