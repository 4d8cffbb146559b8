#include "transcript/model/entry_list.h"

#include <bough/transcript.h>

#include <algorithm>
#include <limits>
#include <utility>

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
constexpr std::size_t kStrayEntries = 8;  // limit for a block that is not adjacent to a cached block

std::uint32_t asNumber(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

// Returns about how much memory an entry takes.
std::size_t bytesOf(const Entry& entry) {
  return sizeof(Entry) + entry.payload.size() + entry.meta.size() + entry.extra.size();
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
  if (hiddenEntries_) hiddenEntries_->end();
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
      if (hiddenEntries_) {
        BOUGH_TRY(hiddenEntries_->note(entry, size() - 1));
      }
      if (isKept) bytes += bytesOf(entry);
      isKept = isKept && bytes <= keptBytes;
      if (isKept) kept_.push_back(std::move(entry));
    }
    if (!isKept) kept_ = {};
  }
  if (isKept) entries_ = &kept_;
  if (hiddenEntries_) hiddenEntries_->end();
  return {};
}

const EntryList::Hidden* EntryList::hidden(std::size_t place) const {
  return hiddenEntries_ ? hiddenEntries_->find(place) : nullptr;
}

void EntryList::add(const Entry& entry, std::string_view id) {
  Outline outline;
  outline.id = id;
  outline.payloadBytes = asNumber(entry.payload.size());
  outline.carriedBytes = asNumber(transcript::carriedBytes(entry));
  outline.kind = entryKind(entry.type);
  outline.isMessage = message::isMessageType(entry.type);
  outline.isRedacted = entry.redacted;
  outline.isUnreadable = isUnreadable(entry);
  if (isConversation(outline.kind)) {
    if (!hiddenEntries_ && (entry.redacted || outline.isUnreadable))
      hiddenEntries_ = std::make_shared<HiddenEntries>(*this);
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
  if (const EntryPin* other = hiddenEntries_ ? hiddenEntries_->replacement(place) : nullptr) return *other;
  if (entries_ != nullptr) return {EntryPin(), &(*entries_)[place]};
  const auto block = blockOf(place);
  if (block) return {block, &block->entries[place - block->first]};
  static const Entry kNothing;
  return {EntryPin(), &kNothing};
}

std::shared_ptr<const EntryList::Block> EntryList::blockOf(std::size_t place) const {
  const auto found = std::ranges::find_if(cache_.blocks, [&](const auto& block) {
    return place >= block->first && place - block->first < block->entries.size();
  });
  if (found != cache_.blocks.end()) {
    std::rotate(cache_.blocks.begin(), found, found + 1);
    return cache_.blocks.front();
  }
  if (cache_.error) return nullptr;
  auto read = readBlock(place);
  if (!read) {
    cache_.error = std::move(read.error());
    return nullptr;
  }
  cache_.bytes += read->bytes;
  cache_.blocks.push_front(std::make_shared<const Block>(std::move(*read)));
  while (cache_.blocks.size() > 1 && cache_.bytes > kCachedBytes) {
    cache_.bytes -= cache_.blocks.back()->bytes;
    cache_.blocks.pop_back();
  }
  return cache_.blocks.front();
}

Result<EntryList::Block> EntryList::readBlock(std::size_t place) const {
  const bool follows = place == 0 || std::ranges::any_of(cache_.blocks, [&](const auto& block) {
                         return block->first + block->entries.size() == place;
                       });
  const bool precedes =
      std::ranges::any_of(cache_.blocks, [&](const auto& block) { return block->first == place + 1; });
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
