#include "transcript/rewritten_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"
#include "message/json/content_hash.h"

namespace bough::transcript {
namespace {

constexpr std::uint64_t kReadAtOnce = 1'000;
constexpr std::size_t kSharedAtOnce = 100;
constexpr std::size_t kShort = 8;

std::uint64_t jsonHash(std::string_view json) {
  return message::ContentHasher().hashIfValid(json);
}

// Returns the content of an entry without its origin.
std::string contentOf(const Entry& entry) {
  if (const auto message = json::findMember(entry.payload, "message")) return std::string(*message);
  std::string content = entry.type;
  json::ObjectReader members(entry.payload);
  while (const auto member = members.next()) {
    if (member->key == "transcript") continue;
    content += fmt::format("\n{} {}", member->key, member->value);
  }
  return content;
}

bool haveSameContent(const Entry& one, const Entry& other) {
  if (one.type == entry_type::kSessionInfo) return lineOf(one) == lineOf(other);
  const std::string first = contentOf(one);
  const std::string second = contentOf(other);
  return first == second || jsonHash(first) == jsonHash(second);
}

// Returns a hash of everything about an entry that does not depend on the place of its line; 0 when that cannot tell it
// from other entries. The id of a message is left out because it may be made from the id of its line.
std::uint64_t contentHash(const Entry& entry, const std::string& parentId) {
  std::string content = entry.type;
  if (entry.type == entry_type::kSessionInfo) {
    const auto usage = json::findMember(entry.payload, "usage");
    const auto line = usage ? std::nullopt : lineOf(entry);
    if (!usage && !line) return 0;
    content += usage ? fmt::format(" {} {}", entry.timestamp, *usage) : *line;
    return hashOf(content);
  }
  content += fmt::format(" {} {}", parentId, entry.timestamp);
  json::ObjectReader members(json::findMember(entry.payload, "message").value_or(entry.payload));
  while (const auto member = members.next()) {
    if (member->key == "transcript" || member->key == "id") continue;
    if (member->value == json::quoted(entry.id)) continue;  // a summary that keeps nothing before it
    content += fmt::format("\n{} {}", member->key, jsonHash(member->value));
  }
  return hashOf(content);
}

// Members of a payload that name entries.
constexpr std::string_view kMembersNamingEntries[] = {"firstKeptEntryId", "entryId"};

void replaceName(Entry& entry, std::string_view member, std::string_view id) {
  const std::string_view value = *json::findMember(entry.payload, member);
  entry.payload.replace(static_cast<std::size_t>(value.data() - entry.payload.data()), value.size(), json::quoted(id));
}

std::vector<std::string_view> membersNaming(const Entry& entry, const std::string& id) {
  std::vector<std::string_view> members;
  std::ranges::copy_if(kMembersNamingEntries, std::back_inserter(members),
                       [&](std::string_view member) { return json::findString(entry.payload, member) == id; });
  return members;
}

// Returns whether bough made the id and the id ends with the place of the line.
bool endsWithOffset(std::string_view id) {
  const std::size_t colon = id.rfind(':');
  return colon != std::string_view::npos && id.find_first_not_of("0123456789.", colon + 1) == std::string_view::npos;
}

std::uint64_t contentHash(const Entry& entry) {
  return contentHash(entry, entry.parentId.value_or(""));
}

// The same regardless of the parent, which may have been damaged, or repaired since.
std::uint64_t contentHashAnyParent(const Entry& entry) {
  return contentHash(entry, "\n");
}

// Only the type and the time of a redacted entry are left.
std::uint64_t redactedHashAnyParent(const Entry& entry) {
  return hashOf(fmt::format("{} {} redacted", entry.type, entry.timestamp));
}

// What remains of a redacted entry to recognize it by.
std::uint64_t redactedHash(const Entry& entry) {
  return hashOf(fmt::format("{} {} {} redacted", entry.type, entry.parentId.value_or(""), entry.timestamp));
}

// Calls `use` with each line of the entry's bytes, without its line end.
void eachLine(const Entry& entry, const std::function<void(std::string_view)>& use) {
  const std::string bytes = lineOf(entry).value_or("");
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = std::string_view(bytes).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) use(line);
    at = end + 1;
  }
}

}  // namespace

Result<void> RewrittenFileMatcher::resolveId(Entry& entry, const IsKnown& isKnown) {
  const std::vector<std::string_view> membersNamingItself = membersNaming(entry, entry.id);
  followRenamed(entry);
  const auto origin = originOf(entry);
  if (origin && origin->hasLine) {
    BOUGH_TRY(hasRecord_, hasLinesOf(entry));
  }
  if (!origin || origin->torn) return {};
  std::optional<Entry> stored;
  if (isKnown(entry.id)) {
    auto loaded = store_.loadEntry(sessionId_, entry.id);
    if (!loaded || loaded->redacted || haveSameContent(entry, *loaded)) {
      matched_.insert(hashOf(entry.id));
      return {};
    }
    stored = std::move(*loaded);
  }
  BOUGH_TRY(auto moved, findMoved(entry));
  if (moved.empty()) {
    BOUGH_TRY(moved, findAnyParent(entry));
  }
  if (!moved.empty()) matched_.insert(hashOf(moved));
  if (!moved.empty()) {
    rename(entry, std::move(moved), membersNamingItself);
  } else if (stored && entry.type == entry_type::kSessionInfo) {
    makeIdUnique(entry, *stored);
  } else if (stored && isConversation(entryKind(entry.type))) {
    std::string id = idBesideStored(entry, *origin, isConversation(entryKind(stored->type)), isKnown);
    if (!id.empty()) rename(entry, std::move(id), membersNamingItself);
  }
  return {};
}

Result<bool> RewrittenFileMatcher::hasMoved(const Entry& entry) {
  BOUGH_TRY(const auto moved, findMoved(entry));
  return !moved.empty();
}

void RewrittenFileMatcher::addTo(TranscriptReport& report) {
  report.recovered += conflictCount_;
  if (const auto head = renamed_.find(report.headId); head != renamed_.end()) report.headId = head->second;
  std::ranges::move(damage_, std::back_inserter(report.damage));
}

// A line without an id is named by its place. In a file that was rewritten, another line may be there: it is kept as
// well, under another id.
void RewrittenFileMatcher::makeIdUnique(Entry& entry, const Entry& stored) const {
  const auto line = lineOf(entry);
  if (line && lineOf(stored) != line) entry.id += ":" + Sha256::of(*line).substr(0, kShort);
}

// Returns a new id for an entry of the conversation, which is then kept next to the stored one; later new entries
// continue it. Returns an empty string when the session has all of its content.
std::string RewrittenFileMatcher::idBesideStored(const Entry& entry, const Origin& origin, bool isBesideConversation,
                                                 const IsKnown& isKnown) {
  std::string id = entry.id + ":" + Sha256::of(contentOf(entry)).substr(0, kShort);
  const bool isKept = isKnown(id);
  if (hasRecord_ && isBesideConversation && !isKept) return {};
  // A line that was damaged there before is not another message.
  if (isKept || !isBesideConversation || ++conflictCount_ > TranscriptReport::kMaxDamage) return id;
  const std::string_view what = entry.type == entry_type::kMessage ? "message" : "entry";
  damage_.push_back({.offset = origin.offset,
                     .sizeBytes = origin.sizeBytes,
                     .reason = fmt::format("the session has another {} of this id; both are kept", what),
                     .recovered = true});
  return id;
}

void RewrittenFileMatcher::rename(Entry& entry, std::string id,
                                  const std::vector<std::string_view>& membersNamingItself) {
  for (const std::string_view name : membersNamingItself) replaceName(entry, name, id);
  renamed_[entry.id] = id;
  entry.id = std::move(id);
}

// An entry refers to renamed entries by their new ids. Such an old id may equal the entry's own id in the file.
void RewrittenFileMatcher::followRenamed(Entry& entry) const {
  if (renamed_.empty()) return;
  const auto parent = renamed_.find(entry.parentId.value_or(""));
  if (parent != renamed_.end()) entry.parentId = parent->second;
  for (const std::string_view name : kMembersNamingEntries) {
    const auto named = renamed_.find(json::findString(entry.payload, name).value_or(""));
    if (named != renamed_.end()) replaceName(entry, name, named->second);
  }
}

// Returns whether the session has every line that the entry was made from. Lines that form one answer now may have been
// stored separately.
Result<bool> RewrittenFileMatcher::hasLinesOf(const Entry& entry) {
  BOUGH_TRY(readStored());
  bool hasAll = true;
  eachLine(entry, [&](std::string_view line) { hasAll &= lines_.contains(hashOf(line)); });
  return hasAll;
}

// Returns the id under which the session has the entry, whose line has moved; empty when the session does not have it.
Result<std::string> RewrittenFileMatcher::findMoved(const Entry& entry) {
  BOUGH_TRY(readStored());
  const std::uint64_t hash = contentHash(entry);
  const auto findIn = [&](const FlatMap<std::uint64_t>& places) {
    const std::uint64_t* sequence = hash == 0 ? nullptr : places.find(hash);
    return sequence == nullptr ? places.find(redactedHash(entry)) : sequence;
  };
  std::string id;
  if (const std::uint64_t* sequence = findIn(byContent_); sequence != nullptr) {
    BOUGH_TRY(store_.readOwnEntries(sessionId_, *sequence, 1, [&](std::uint64_t, Entry& stored) { id = stored.id; }));
  } else if (sequence = findIn(shared_); sequence != nullptr) {
    BOUGH_TRY(auto stored, store_.loadEntriesAt(sessionId_, {static_cast<Sequence>(*sequence)}));
    id = std::move(stored.front().id);
  }
  if (id.empty()) return id;
  if (!endsWithOffset(id) && !endsWithOffset(entry.id)) id.clear();  // the agent tells them apart
  // Somebody may say the same thing twice.
  if (isConversation(entryKind(entry.type)) && endsWithOffset(entry.id) && matched_.contains(hashOf(id))) id.clear();
  return id;
}

// Returns the id under which the session has the entry with another parent. Of several entries with the same content,
// takes the first that no entry of the file was matched with.
Result<std::string> RewrittenFileMatcher::findAnyParent(const Entry& entry) {
  std::string id;
  if (!endsWithOffset(entry.id) || !isConversation(entryKind(entry.type))) return id;
  std::uint32_t at = nextPlace(contentHashAnyParent(entry));
  if (at == kNone) at = nextPlace(redactedHashAnyParent(entry));
  if (at == kNone) return id;
  BOUGH_TRY(store_.readOwnEntries(sessionId_, places_[at].sequence, 1,
                                  [&](std::uint64_t, Entry& stored) { id = stored.id; }));
  return id;
}

// Returns the first place with this content that no entry of the file was matched with yet.
std::uint32_t RewrittenFileMatcher::nextPlace(std::uint64_t hash) {
  const std::uint32_t* first = byContentAnyParent_.find(hash);
  if (first == nullptr) return kNone;
  std::uint32_t at = *first;
  while (at != kNone && matched_.contains(places_[at].idHash)) at = places_[at].next;
  byContentAnyParent_.set(hash, at);
  return at;
}

Result<void> RewrittenFileMatcher::readStored() {
  if (std::exchange(isRead_, true)) return {};
  for (std::uint64_t from = 0, count = 1; count > 0; from += count) {
    count = 0;
    BOUGH_TRY(store_.readOwnEntries(sessionId_, from, kReadAtOnce, [&](std::uint64_t sequence, Entry& entry) {
      ++count;
      addStored(entry, sequence, byContent_);
      addPlace(entry, sequence);
    }));
  }
  return readShared();
}

Result<void> RewrittenFileMatcher::readShared() {
  BOUGH_TRY(const auto state, store_.sessionState(sessionId_));
  if (!state.origin) return {};
  BOUGH_TRY(auto cursor, store_.openCursor(sessionId_));
  for (std::uint64_t sequence = 0;;) {
    BOUGH_TRY(const auto entries, cursor.next(kSharedAtOnce));
    if (entries.empty()) return {};
    for (const Entry& entry : entries) addStored(entry, sequence++, shared_);
  }
}

// Keeps entries with the same content in order.
void RewrittenFileMatcher::addPlace(const Entry& entry, std::uint64_t sequence) {
  if (!endsWithOffset(entry.id) || !isConversation(entryKind(entry.type))) return;
  const std::uint64_t hash = entry.redacted ? redactedHashAnyParent(entry) : contentHashAnyParent(entry);
  const auto at = static_cast<std::uint32_t>(places_.size());
  places_.push_back({.sequence = sequence, .idHash = hashOf(entry.id), .next = kNone});
  if (const std::uint32_t* first = byContentAnyParent_.find(hash); first != nullptr) {
    Place& begin = places_[*first];
    places_[begin.last == kNone ? *first : begin.last].next = at;
    begin.last = at;
  } else {
    byContentAnyParent_.insert(hash, at);
  }
}

void RewrittenFileMatcher::addStored(const Entry& entry, std::uint64_t sequence, FlatMap<std::uint64_t>& byContent) {
  eachLine(entry, [&](std::string_view line) { lines_.insert(hashOf(line)); });
  const auto origin = originOf(entry);
  if (!entry.redacted && (!origin || origin->torn)) return;
  const std::uint64_t hash = entry.redacted ? redactedHash(entry) : contentHash(entry);
  if (hash != 0) byContent.insert(hash, sequence);
}

}  // namespace bough::transcript
