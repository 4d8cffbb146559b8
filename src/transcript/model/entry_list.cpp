#include "transcript/model/entry_list.h"

#include <bough/transcript.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "message/dialect/entry_message.h"
#include "transcript/model/carried.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

constexpr std::size_t kCachedBytes = std::size_t{8} << 20;
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kBlockEntries = 256;
constexpr std::size_t kStrayEntries = 8;  // of a block that neither follows nor precedes one that is there

std::uint32_t asNumber(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

// What an entry takes in memory, about.
std::size_t bytesOf(const Entry& entry) {
  return sizeof(Entry) + entry.payload.size() + entry.meta.size() + entry.extra.size();
}

bool wasErased(const Entry& stored) {
  return stored.payload.starts_with(R"({"erased":{)");
}

struct CallName {
  std::string id;
  std::string name;
};

// What a message says of calls.
struct Calling {
  bool isAnswer = false;  // of a model
  std::vector<CallName> calls;
  std::vector<CallName> results;
};

std::optional<Calling> callingIn(const Entry& entry) {
  const auto message = normalizeEntry(entry);
  if (!message) return std::nullopt;
  Calling calling{.isAnswer = message->role == Role::Assistant, .calls = {}, .results = {}};
  for (const Block& block : message->blocks) {
    const bool isCall = block.kind == BlockKind::ToolCall;
    if (!isCall && block.kind != BlockKind::ToolResult) continue;
    (isCall ? calling.calls : calling.results).push_back({block.id.decode(), block.name.decode()});
  }
  return calling;
}

// A message that says the same of each of these results.
std::string resultsPayload(const std::vector<CallName>& results, std::string_view text) {
  json::Writer writer;
  writer.beginObject().member("dialect", "bough").key("message").beginObject().member("role", "tool");
  writer.key("content").beginArray();
  for (const CallName& result : results) {
    writer.beginObject().member("type", "tool_result").member("id", result.id);
    if (!result.name.empty()) writer.member("name", result.name);
    writer.member("content", text).endObject();
  }
  return writer.endArray().endObject().endObject().take();
}

}  // namespace

EntryList::EntryList(const std::vector<Entry>& entries) : entries_(&entries) {
  addAll(entries);
}

EntryList::EntryList(std::vector<Entry>&& entries) : entries_(&kept_), kept_(std::move(entries)) {
  addAll(kept_);
}

void EntryList::addAll(const std::vector<Entry>& entries) {
  outlines_.reserve(entries.size());
  for (const Entry& entry : entries) add(entry, entry.id);
  inferResults();
}

Result<std::shared_ptr<const EntryList>> EntryList::ofSession(Session session, std::size_t keptBytes) {
  const std::shared_ptr<EntryList> list(new EntryList);
  list->session_ = std::move(session);
  BOUGH_TRY(list->readSession(keptBytes));
  return list;
}

Result<void> EntryList::readSession(std::size_t keptBytes) {
  BOUGH_TRY(auto cursor, session_->cursor());
  std::size_t bytes = 0;
  bool isKept = true;
  while (true) {
    BOUGH_TRY(std::vector<Entry> entries, cursor.next(kBlockEntries));
    if (entries.empty()) break;
    for (Entry& entry : entries) {
      add(entry, keepId(entry.id));
      BOUGH_TRY(noteHidden(entry, size() - 1));
      if (isKept) bytes += bytesOf(entry);
      isKept = isKept && bytes <= keptBytes;
      if (isKept) kept_.push_back(std::move(entry));
    }
    if (!isKept) kept_ = {};
  }
  if (isKept) entries_ = &kept_;
  inferResults();
  return {};
}

// Who said a hidden message, and which calls it answered is read from what is hidden; nothing else of
// it is used.
Result<void> EntryList::noteHidden(const Entry& entry, std::size_t place) {
  if (!entry.redacted || !isTalk(place)) return {};
  BOUGH_TRY(const auto stored, session_->load({.fromSequence = place, .limit = 1, .showRedacted = true}));
  if (stored.empty() || stored.front().id != entry.id) return {};
  Hidden& hidden = hidden_[place];
  hidden.isErased = wasErased(stored.front());
  if (hidden.isErased) return {};
  const auto origin = originOf(stored.front());
  if (origin && !origin->hasLine) dropLine(place, *origin);
  if (!isMessage(place)) return {};
  const auto message = normalizeEntry(stored.front());
  if (message) hidden.role = message->role;
  const auto calling = callingIn(stored.front());
  if (calling && !calling->results.empty()) {
    replace(place, entry, resultsPayload(calling->results, "The result was redacted."));
  }
  return {};
}

// The line that a hidden entry came from says what is hidden. It is with the first of the entries before it that came
// from it.
void EntryList::dropLine(std::size_t place, const Origin& origin) {
  while (place-- > 0) {
    const EntryPin entry = at(place);
    const auto other = originOf(*entry);
    if (isRedacted(place)) continue;
    if (!other || other->agent != origin.agent || other->at != origin.at) return;
    if (!other->hasLine) continue;
    auto without = std::make_shared<Entry>(*entry);
    without->payload = "{";
    json::ObjectReader members(entry->payload);
    while (const auto member = members.next()) {
      if (member->key == "transcript") continue;
      if (without->payload.size() > 1) without->payload += ',';
      without->payload += fmt::format("\"{}\":{}", member->key, member->value);
    }
    without->payload += '}';
    replaced_[place] = std::move(without);
    return;
  }
}

// Damaged, or erased, or hidden where the session is not at hand.
bool EntryList::mayHoldResults(std::size_t place) const {
  if (!isTalk(place) || replaced_.contains(place)) return false;
  if (isUnreadable(place)) return true;
  const Hidden* known = hidden(place);
  return isRedacted(place) && isMessage(place) && (known == nullptr || known->isErased);
}

void EntryList::inferResults() {
  for (std::size_t i = 0; lacksSome_ && i < size(); ++i) {
    if (mayHoldResults(i)) inferResults(i);
  }
}

// Which calls an entry answered that nobody can read: those right before it that no other one answers. Where more such
// entries follow, each has one result.
void EntryList::inferResults(std::size_t place) {
  constexpr std::size_t kNear = 4096;
  const auto callingAt = [&](std::size_t at) {
    const bool isReadable = isMessage(at) && !isHidden(at);
    return isReadable ? callingIn(*this->at(at)) : std::nullopt;
  };
  std::vector<CallName> open;
  std::unordered_set<std::string> answered;
  bool isAtCalls = false;
  std::size_t steps = 0;
  for (std::size_t up = parent(place); up != kNone && ++steps < kNear; up = parent(up)) {
    const auto calling = callingAt(up);
    if (!calling || !calling->isAnswer) {
      if (isAtCalls || (calling && calling->results.empty())) break;
      if (!calling) continue;
      for (const CallName& result : calling->results) answered.insert(result.id);
      continue;
    }
    isAtCalls = true;
    open.insert(open.begin(), calling->calls.begin(), calling->calls.end());
  }
  if (open.empty()) return;
  std::size_t others = 0;
  std::unordered_set<std::size_t> after = {place};
  for (std::size_t next = place + 1; next < std::min(size(), place + kNear); ++next) {
    if (!isTalk(next) || !after.contains(parent(next))) continue;
    const auto calling = callingAt(next);
    if (calling && calling->results.empty()) continue;
    others += static_cast<std::size_t>(mayHoldResults(next));
    after.insert(next);
    for (std::size_t i = 0; calling && i < calling->results.size(); ++i) answered.insert(calling->results[i].id);
  }
  std::erase_if(open, [&](const CallName& call) { return answered.contains(call.id); });
  if (open.empty()) return;
  if (others > 0) open.resize(1);
  const bool isDamaged = isUnreadable(place);
  const bool isErased = !isDamaged && hidden(place) != nullptr;
  replace(place, *at(place),
          resultsPayload(open, isDamaged  ? "The result cannot be read: its entry is damaged."
                               : isErased ? "The result was erased."
                                          : "The result was redacted."));
}

void EntryList::replace(std::size_t place, const Entry& entry, std::string payload) {
  auto results = std::make_shared<Entry>(entry);
  results->type = entry_type::kMessage;
  results->payload = std::move(payload);
  results->redacted = true;  // it does not travel
  outlines_[place].isMessage = true;
  outlines_[place].isRedacted = true;
  replaced_[place] = std::move(results);
}

const EntryList::Hidden* EntryList::hidden(std::size_t place) const {
  const auto found = hidden_.find(place);
  return found == hidden_.end() ? nullptr : &found->second;
}

void EntryList::add(const Entry& entry, std::string_view id) {
  Outline outline;
  outline.id = id;
  outline.payloadBytes = asNumber(entry.payload.size());
  outline.carriedBytes = asNumber(transcript::carriedBytes(entry));
  outline.kind = entryKind(entry.type);
  outline.isMessage = message::isMessageType(entry.type);
  outline.isRedacted = entry.redacted;
  outline.isUnreadable = bough::isUnreadable(entry);
  if (isConversation(outline.kind)) {
    lacksSome_ = lacksSome_ || entry.redacted || bough::isUnreadable(entry);
    const std::size_t parent = entry.parentId && !entry.parentId->empty() ? find(*entry.parentId) : kNone;
    if (parent != kNone) outline.parent = static_cast<Sequence>(parent);
  }
  outlines_.push_back(outline);
  if (!isConversation(outline.kind)) return;
  places_.add(static_cast<Sequence>(outlines_.size() - 1), [&](Sequence each) { return outlines_[each].id; });
}

std::string_view EntryList::keepId(std::string_view id) {
  constexpr std::size_t kTextBytes = std::size_t{64} << 10;
  if (ids_.empty() || ids_.back().capacity() - ids_.back().size() < id.size()) {
    ids_.emplace_back().reserve(std::max(kTextBytes, id.size()));
  }
  std::string& text = ids_.back();
  const std::size_t begin = text.size();
  text += id;
  return std::string_view(text).substr(begin);
}

std::size_t EntryList::find(std::string_view id) const {
  const Sequence found = places_.find(id, [&](Sequence each) { return outlines_[each].id; });
  return found == kNoSequence ? kNone : found;
}

EntryPin EntryList::at(std::size_t place) const {
  if (const auto found = replaced_.find(place); found != replaced_.end()) return found->second;
  if (entries_ != nullptr) return {EntryPin(), &(*entries_)[place]};
  const auto block = blockOf(place);
  if (block) return {block, &block->entries[place - block->first]};
  static const Entry kNothing;
  return {EntryPin(), &kNothing};
}

std::shared_ptr<const EntryList::Block> EntryList::blockOf(std::size_t place) const {
  const auto found = std::ranges::find_if(blocks_, [&](const auto& block) {
    return place >= block->first && place - block->first < block->entries.size();
  });
  if (found != blocks_.end()) {
    std::rotate(blocks_.begin(), found, found + 1);
    return blocks_.front();
  }
  if (error_) return nullptr;
  auto read = readBlock(place);
  if (!read) {
    error_ = std::move(read.error());
    return nullptr;
  }
  blockBytes_ += read->bytes;
  blocks_.push_front(std::make_shared<const Block>(std::move(*read)));
  while (blocks_.size() > 1 && blockBytes_ > kCachedBytes) {
    blockBytes_ -= blocks_.back()->bytes;
    blocks_.pop_back();
  }
  return blocks_.front();
}

Result<EntryList::Block> EntryList::readBlock(std::size_t place) const {
  const bool follows = place == 0 || std::ranges::any_of(blocks_, [&](const auto& block) {
                         return block->first + block->entries.size() == place;
                       });
  const bool precedes = std::ranges::any_of(blocks_, [&](const auto& block) { return block->first == place + 1; });
  const std::size_t most = follows || precedes ? kBlockEntries : kStrayEntries;
  std::size_t first = place;
  std::size_t end = place + 1;
  std::size_t bytes = payloadBytes(place);
  const auto hasRoom = [&](std::size_t next) {
    if (end - first >= most || bytes + payloadBytes(next) > kBlockBytes) return false;
    bytes += payloadBytes(next);
    return true;
  };
  while (precedes && !follows && first > 0 && hasRoom(first - 1)) --first;
  while ((follows || !precedes) && end < size() && hasRoom(end)) ++end;
  std::vector<Sequence> sequences;
  for (std::size_t i = first; i < end; ++i) sequences.push_back(static_cast<Sequence>(i));
  Block block;
  block.first = first;
  BOUGH_TRY(block.entries, session_->entriesAt(sequences));
  bool isSame = block.entries.size() == sequences.size();
  for (std::size_t i = 0; isSame && i < sequences.size(); ++i) isSame = block.entries[i].id == id(first + i);
  if (!isSame) return fail(ErrorCode::Conflict, "the session was rewritten while it was read", "try again");
  for (const Entry& entry : block.entries) block.bytes += bytesOf(entry);
  return block;
}

}  // namespace bough::transcript

namespace bough {

TranscriptSource::TranscriptSource(const std::vector<Entry>& entries)
    : list_(std::make_shared<const transcript::EntryList>(entries)) {}

TranscriptSource::TranscriptSource(std::vector<Entry>&& entries)
    : list_(std::make_shared<const transcript::EntryList>(std::move(entries))) {}

TranscriptSource::TranscriptSource(std::shared_ptr<const transcript::EntryList> list) : list_(std::move(list)) {}

Result<TranscriptSource> TranscriptSource::open(SessionStore& store, const std::string& sessionId,
                                                std::size_t keptBytes) {
  BOUGH_TRY(auto session, store.session(sessionId));
  BOUGH_TRY(auto list, transcript::EntryList::ofSession(std::move(session), keptBytes));
  return TranscriptSource(std::move(list));
}

}  // namespace bough
