#include "store/rules/append_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/model/head.h"
#include "base/model/unreadable.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "store/rules/entry_rules.h"

namespace bough {
namespace {

constexpr std::string_view kNoId = "entry (no id yet)";
constexpr std::size_t kEnvelopeBytes = 256;  // about the size of a line without its payload

class BatchRules {
 public:
  BatchRules(LogView& log, const SessionBatch& batch, const EntrySerializer& serializer, IdGenerator& ids, Clock& clock,
             BatchLines& lines)
      : log_(log),
        sessionId_(batch.sessionId),
        request_(batch.request),
        shared_(batch.shared),
        serializer_(serializer),
        ids_(ids, batch.request.entries.size()),
        clock_(clock),
        lines_(lines) {
    head_ = log.headId();
    isHeadValid_ = isHead(head_);
    now_.clear();
    if (request_.turn && *request_.turn < batch.turn) {
      refusal_ = turnConflict(sessionId_, *request_.turn, batch.turn, log.tailId());
    } else if (request_.expectedTail && *request_.expectedTail != log.tailId()) {
      refusal_ = tailConflict(sessionId_, *request_.expectedTail, log.tailId());
    }
    std::size_t bytes = 0;
    for (const Entry& entry : request_.entries) bytes += entry.payload.size() + entry.meta.size() + entry.extra.size();
    lines_.reserve(request_.entries.size(), bytes + request_.entries.size() * kEnvelopeBytes);
  }

  Result<AppendResult> run() {
    if (request_.entries.empty())
      return fail(ErrorCode::InvalidArgument, "a batch without entries", "give at least one");
    BOUGH_TRY(fallBackFromLostHead());
    AppendResult result{.sessionId = sessionId_, .lastAppendedEntryId = {}};
    for (const Entry& entry : request_.entries) {
      std::optional<Entry> known;
      // An id that names a place already refers to another entry.
      if (!entry.id.empty() && !offsetOfUnreadableId(entry.id)) {
        auto found = stored(entry.id);
        if (!found) return std::unexpected(withPlace(found.error(), entry));
        known = std::move(*found);
      }
      const auto accepted = known ? duplicate(entry, *known) : addNewEntry(entry);
      if (!accepted) return std::unexpected(withPlace(accepted.error(), entry));
      ++(known ? result.duplicateCount : result.appendedCount);
    }
    const Entry& last = request_.entries.back();
    result.lastAppendedEntryId = last.id.empty() ? lines_.back().id() : std::string_view(last.id);
    // A repeated batch is recognized even though its first delivery has moved the tail.
    if (result.appendedCount > 0 && refusal_) return std::unexpected(std::move(*refusal_));
    return result;
  }

 private:
  // Adds the entry's place in the batch, which identifies an entry that has no id.
  [[nodiscard]] Error withPlace(Error error, const Entry& entry) const {
    error.batchPlace = static_cast<std::uint64_t>(&entry - request_.entries.data()) + 1;
    if (error.message.starts_with(kNoId)) {
      error.message.replace(0, kNoId.size(), fmt::format("entry {} of the batch", error.batchPlace));
    }
    return error;
  }

  // Returns the entry with that id from the batch, the log or the shared history.
  Result<std::optional<Entry>> stored(const std::string& id) {
    if (const auto pending = lines_.find(id)) return decoded(lines_[*pending].text());
    auto here = log_.entryOf(id);
    if (!here || *here) return here;
    return shared_ != nullptr ? shared_->entryOf(id) : Result<std::optional<Entry>>(std::nullopt);
  }

  Result<std::optional<Entry>> decoded(std::string_view text) {
    BOUGH_TRY(auto entry, serializer_.decode(text));
    return entry;
  }

  Result<bool> exists(const std::string& id) {
    if (lines_.find(id)) return true;
    auto here = log_.contains(id);
    if (!here || *here || shared_ == nullptr) return here;
    return shared_->contains(id);
  }

  // Damage may have hit the entry that a head entry of a fork names: falls back to the previous head.
  Result<void> fallBackFromLostHead() {
    if (shared_ == nullptr || log_.condition().problemCount == 0) return {};
    BOUGH_TRY(head_, log_.headOfFork([&](std::string_view id) { return shared_->contains(id); }));
    isHeadValid_ = isHead(head_);
    return {};
  }

  // Returns true when an earlier entry of the batch has the same id.
  [[nodiscard]] bool isRepeated(const Entry& entry) const {
    const auto before = std::span(request_.entries).first(static_cast<std::size_t>(&entry - request_.entries.data()));
    return std::ranges::find(before, entry.id, &Entry::id) != before.end();
  }

  // Returns the text of an entry after it was written and read once: without the blanks that are not kept.
  Result<std::string> storedForm(const Entry& entry) {
    std::string written;
    BOUGH_TRY(serializer_.encode(entry, written));
    BOUGH_TRY(auto read, serializer_.decode(written));
    written.clear();
    BOUGH_TRY(serializer_.encode(read, written));
    return written;
  }

  // Handles an entry whose id is already stored: a duplicate if everything that the caller set is equal, otherwise a
  // conflict.
  Result<void> duplicate(const Entry& entry, const Entry& known) {
    Entry claimed = entry;
    if (!claimed.parentId) claimed.parentId = known.parentId;
    if (claimed.timestamp.empty()) claimed.timestamp = known.timestamp;
    if (isSamePayload(claimed.payload, known.payload)) claimed.payload = known.payload;
    BOUGH_TRY(auto mine, storedForm(claimed));
    std::string theirs;
    BOUGH_TRY(serializer_.encode(known, theirs));
    if (mine != theirs) {
      return fail(ErrorCode::IdConflict,
                  fmt::format("{} has an entry {} with other content; nothing was appended",
                              isRepeated(entry) ? "the batch itself" : "session " + sessionId_, entry.id),
                  "entries are never changed: append under another id, or leave the id out");
    }
    advanceHead(known, entryKind(known.type), known.id);
    return {};
  }

  // All entries of a batch get the same timestamp.
  std::uint64_t nowMs() {
    if (nowMs_ == 0) nowMs_ = clock_.nowMs();
    return nowMs_;
  }
  const std::string& now() {
    if (now_.empty()) formatTimestamp(nowMs(), now_);
    return now_;
  }

  // Strings that are reused, so that a batch needs no allocation for them.
  struct ScratchStrings {
    std::string id;
    std::string head;
    std::string now;

    static ScratchStrings& ofThread() {
      thread_local ScratchStrings strings;
      return strings;
    }
  };

  Result<void> addNewEntry(const Entry& entry) {
    const EntryKind kind = entryKind(entry.type);
    if (auto shaped = checkType(entry, kind); !shaped) return shaped;
    if (auto named = checkId(entry); !named) return named;
    if (auto known = checkParent(entry); !known) return known;
    if (!entry.parentId && !isHeadValid_ && isConversation(kind)) {
      return invalidEntry(entry, "the session's head is not an entry's id",
                          "name its parent, or `bough switch` to an entry");
    }
    EntryDefaults defaults{.id = {}, .parentId = isHeadValid_ ? std::string_view(head_) : "", .timestamp = {}};
    if (entry.id.empty()) {
      ids_.next(scratch_.id, nowMs());
      defaults.id = scratch_.id;
    }
    if (entry.timestamp.empty()) defaults.timestamp = now();
    if (auto added = lines_.add(entry, serializer_, defaults); !added) return added;
    if (auto fits = checkSize(entry, lines_.back().text().size()); !fits) return fits;
    if (auto shaped = checkPayload(entry, kind); !shaped) return shaped;
    if (auto known = checkTarget(entry, kind); !known) return known;
    advanceHead(entry, kind, lines_.back().id());
    return {};
  }

  Result<void> checkParent(const Entry& entry) {
    if (!entry.parentId) return {};
    const std::string& parent = *entry.parentId;
    if (parent.empty() || parent == head_) return {};
    if (parent == entry.id) return invalidEntry(entry, "the entry names itself as its parent", kParentHint);
    BOUGH_TRY(auto known, exists(parent));
    if (known) return {};
    for (const Entry& other : request_.entries) {
      if (other.id == parent) return invalidEntry(entry, "its parent comes later in the batch", "put parents first");
    }
    return invalidEntry(entry, fmt::format("its parent {} is not an entry of session {}", parent, sessionId_),
                        kParentHint);
  }

  // Checks that the entry that a control entry names exists and is of a permitted kind.
  Result<void> checkTarget(const Entry& entry, EntryKind kind) {
    const auto target = targetOf(entry, kind);
    if (!target) return {};
    const std::string& id = target->entryId;
    BOUGH_TRY(auto known, id == lines_.back().id() ? Result<std::optional<Entry>>(std::nullopt) : stored(id));
    return checkControlTarget(sessionId_, *target, known ? std::optional(known->type) : std::nullopt);
  }

  void advanceHead(const Entry& entry, EntryKind kind, std::string_view id) {
    std::string moved;
    if (const auto head = headAfter(kind, id, entry.payload, moved)) {
      head_ = *head;
      isHeadValid_ = kind != EntryKind::Head || isHead(head_);
    }
  }

  // Head entries of other writers may name anything.
  static bool isHead(std::string_view id) { return id.empty() || isEntryId(id); }

  LogView& log_;
  const std::string& sessionId_;
  const AppendRequest& request_;
  const SharedEntries* shared_;
  const EntrySerializer& serializer_;
  IdGenerator::Batch ids_;
  Clock& clock_;
  BatchLines& lines_;
  ScratchStrings& scratch_ = ScratchStrings::ofThread();
  std::string& head_ = scratch_.head;
  bool isHeadValid_ = true;
  std::string& now_ = scratch_.now;
  std::uint64_t nowMs_ = 0;       // 0: not read yet
  std::optional<Error> refusal_;  // for new entries: a later turn has begun, or the tail is not the expected one
};

}  // namespace

Result<AppendResult> prepareBatch(LogView& log, const SessionBatch& batch, const EntrySerializer& serializer,
                                  IdGenerator& ids, Clock& clock, BatchLines& lines) {
  return BatchRules(log, batch, serializer, ids, clock, lines).run();
}

Result<BatchLines> prepareFirstBatch(const std::vector<Entry>& entries, const EntrySerializer& serializer) {
  if (entries.empty() || entries.front().type != entry_type::kSessionHeader) {
    return fail(ErrorCode::InvalidArgument, "a session begins with its header");
  }
  BatchLines lines;
  for (const Entry& entry : entries) {
    BOUGH_TRY(lines.add(entry, serializer));
    BOUGH_TRY(checkSize(entry, lines.back().text().size()));
  }
  return lines;
}

}  // namespace bough
