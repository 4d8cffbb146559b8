#include "store/append_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/head.h"
#include "base/json_scan.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "log/line.h"
#include "store/attachment_reference.h"

namespace bough {
namespace {

constexpr std::string_view kNoId = "entry (no id yet)";
constexpr std::size_t kEnvelopeBytes = 256;  // about what a line holds besides its payload
constexpr std::size_t kSealBytes = 64;       // more than a seal has

constexpr const char* kParentHint = "name an earlier entry, or leave parentId out to continue from the head";
constexpr const char* kConversationHint = "name a message or another entry of the conversation";
constexpr const char* kPayloadHint = "docs/format.md says what the payload of each type holds";

std::unexpected<Error> invalid(const Entry& entry, std::string_view what, const char* hint) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("entry {}: {}", entry.id.empty() ? "(no id yet)" : entry.id, what), hint);
}

// Whether one of two payloads is the other, kept as an attachment: what is kept so may change between two deliveries.
bool isSamePayload(std::string_view mine, std::string_view theirs) {
  const auto myReference = readAttachmentReference(mine);
  const auto theirReference = readAttachmentReference(theirs);
  if (myReference.has_value() == theirReference.has_value()) return false;
  return myReference ? *myReference == Sha256::of(theirs) : *theirReference == Sha256::of(mine);
}

Result<void> checkSize(const Entry& entry, const NewLines::Line& line) {
  if (line.text().size() + kSealBytes <= kMaxLineBytes) return {};
  return invalid(entry, "the entry is larger than 128 MiB", "store large data as an attachment");
}

// A name must be safe to print and must not look like another way to name an entry.
bool isLabelName(const std::string& name) {
  constexpr std::size_t kMostBytes = 128;
  const bool shaped = !name.empty() && name.size() <= kMostBytes && name.front() != '@' && !name.contains('~') &&
                      name.front() != ' ' && name.back() != ' ';
  return shaped && text::printable(name) == name && !name.contains("\uFFFD");
}

class BatchRules {
 public:
  BatchRules(LogView& log, const AppendRequest& request, const EntrySerializer& serializer, IdGenerator& ids,
             Clock& clock, NewLines& lines)
      : log_(log),
        request_(request),
        serializer_(serializer),
        ids_(ids, request.entries.size()),
        clock_(clock),
        lines_(lines) {
    head_ = log.headId();
    headIsGood_ = isHead(head_);
    now_.clear();
    if (request_.expectedTail && *request_.expectedTail != log.tailId()) otherTail_ = log.tailId();
    std::size_t bytes = 0;
    for (const Entry& entry : request_.entries) bytes += entry.payload.size() + entry.meta.size() + entry.extra.size();
    lines_.reserve(request_.entries.size(), bytes + request_.entries.size() * kEnvelopeBytes);
  }

  Result<AppendResult> run() {
    if (request_.entries.empty())
      return fail(ErrorCode::InvalidArgument, "a batch without entries", "give at least one");
    AppendResult result{.sessionId = request_.sessionId, .lastAppendedEntryId = {}};
    for (const Entry& entry : request_.entries) {
      std::optional<Entry> known;
      if (!entry.id.empty()) {
        auto found = stored(entry.id);
        if (!found) return std::unexpected(withPlace(found.error(), entry));
        known = std::move(*found);
      }
      const auto accepted = known ? duplicate(entry, *known) : fresh(entry);
      if (!accepted) return std::unexpected(withPlace(accepted.error(), entry));
      ++(known ? result.duplicateCount : result.appendedCount);
    }
    const Entry& last = request_.entries.back();
    result.lastAppendedEntryId = last.id.empty() ? lines_.back().id() : std::string_view(last.id);
    // A repeated batch is recognized even though its first delivery moved the tail.
    if (result.appendedCount > 0 && otherTail_) {
      return std::unexpected(tailConflict(request_.sessionId, *request_.expectedTail, *otherTail_));
    }
    return result;
  }

 private:
  // An entry without an id is told by its place in the batch.
  [[nodiscard]] Error withPlace(Error error, const Entry& entry) const {
    error.batchPlace = static_cast<std::uint64_t>(&entry - request_.entries.data()) + 1;
    if (error.message.starts_with(kNoId)) {
      error.message.replace(0, kNoId.size(), fmt::format("entry {} of the batch", error.batchPlace));
    }
    return error;
  }

  // The entry of that id, wherever the session has it.
  Result<std::optional<Entry>> stored(const std::string& id) {
    if (const auto pending = lines_.find(id)) return decoded(lines_[*pending].text());
    auto here = log_.entryOf(id);
    if (!here || *here) return here;
    return request_.shared ? request_.shared(id) : Result<std::optional<Entry>>(std::nullopt);
  }

  Result<std::optional<Entry>> decoded(std::string_view text) {
    auto entry = serializer_.decode(text);
    if (!entry) return std::unexpected(entry.error());
    return std::move(*entry);
  }

  Result<bool> exists(const std::string& id) {
    if (lines_.find(id)) return true;
    auto here = log_.contains(id);
    if (!here || *here || !request_.shared) return here;
    auto shared = request_.shared(id);
    if (!shared) return std::unexpected(shared.error());
    return shared->has_value();
  }

  // Whether its id stands before it in the batch.
  [[nodiscard]] bool isRepeated(const Entry& entry) const {
    const auto before = std::span(request_.entries).first(static_cast<std::size_t>(&entry - request_.entries.data()));
    return std::ranges::find(before, entry.id, &Entry::id) != before.end();
  }

  // The text of an entry that was written and read again: without the blanks that reading leaves out.
  Result<std::string> storedForm(const Entry& entry) {
    std::string written;
    if (auto encoded = serializer_.encode(entry, written); !encoded) return std::unexpected(encoded.error());
    auto read = serializer_.decode(written);
    if (!read) return std::unexpected(read.error());
    written.clear();
    if (auto encoded = serializer_.encode(*read, written); !encoded) return std::unexpected(encoded.error());
    return written;
  }

  // An entry of this id is stored: the same in everything the caller has said, or a conflict.
  Result<void> duplicate(const Entry& entry, const Entry& known) {
    Entry claimed = entry;
    if (!claimed.parentId) claimed.parentId = known.parentId;
    if (claimed.timestamp.empty()) claimed.timestamp = known.timestamp;
    if (isSamePayload(claimed.payload, known.payload)) claimed.payload = known.payload;
    auto mine = storedForm(claimed);
    if (!mine) return std::unexpected(mine.error());
    std::string theirs;
    if (auto encoded = serializer_.encode(known, theirs); !encoded) return std::unexpected(encoded.error());
    if (*mine != theirs) {
      return fail(ErrorCode::IdConflict,
                  fmt::format("{} has an entry {} with other content; nothing was appended",
                              isRepeated(entry) ? "the batch itself" : "session " + request_.sessionId, entry.id),
                  "entries are never changed: append under another id, or leave the id out");
    }
    advanceHead(known, entryKind(known.type), known.id);
    return {};
  }

  // The entries of a batch are made at one time.
  std::uint64_t nowMs() {
    if (nowMs_ == 0) nowMs_ = clock_.nowMs();
    return nowMs_;
  }
  const std::string& now() {
    if (now_.empty()) formatTimestamp(nowMs(), now_);
    return now_;
  }

  // Strings that need no new memory for each batch.
  struct Kept {
    std::string id;
    std::string head;
    std::string now;

    static Kept& ofThread() {
      thread_local Kept strings;
      return strings;
    }
  };

  Result<void> fresh(const Entry& entry) {
    const EntryKind kind = entryKind(entry.type);
    if (kind == EntryKind::SessionHeader) {
      return invalid(entry, "a session has one header, its first entry",
                     "leave it out: `bough new` makes a session with its header");
    }
    constexpr std::size_t kMaxTypeBytes = 64;
    if (kind == EntryKind::Other && (entry.type.size() > kMaxTypeBytes || !isEntryId(entry.type))) {
      return invalid(entry, "the type is not 1 to 64 of [A-Za-z0-9._:-]",
                     "name it as `message`, `custom` or a type of your own");
    }
    if (auto known = checkParent(entry); !known) return known;
    if (!entry.parentId && !headIsGood_ && isConversation(kind)) {
      return invalid(entry, "the session's head is no entry's id", "name its parent, or `bough switch` to an entry");
    }
    EntryDefaults defaults{.id = {}, .parentId = headIsGood_ ? std::string_view(head_) : "", .timestamp = {}};
    if (entry.id.empty()) {
      ids_.next(kept_.id, nowMs());
      defaults.id = kept_.id;
    }
    if (entry.timestamp.empty()) defaults.timestamp = now();
    if (auto added = lines_.add(entry, serializer_, defaults); !added) return added;
    if (auto fits = checkSize(entry, lines_.back()); !fits) return fits;
    if (auto checked = checkPayload(entry, kind); !checked) return checked;
    advanceHead(entry, kind, lines_.back().id());
    return {};
  }

  Result<void> checkParent(const Entry& entry) {
    if (!entry.parentId) return {};
    const std::string& parent = *entry.parentId;
    if (parent.empty() || parent == head_) return {};
    if (parent == entry.id) return invalid(entry, "the entry names itself as its parent", kParentHint);
    auto known = exists(parent);
    if (!known) return std::unexpected(known.error());
    if (*known) return {};
    for (const Entry& other : request_.entries) {
      if (other.id == parent) return invalid(entry, "its parent stands later in the batch", "put parents first");
    }
    return invalid(entry, fmt::format("its parent {} is not an entry of session {}", parent, request_.sessionId),
                   kParentHint);
  }

  // Entries that speak about others must name ones that exist, and of which that can be said.
  Result<void> checkPayload(const Entry& entry, EntryKind kind) {
    switch (kind) {
      case EntryKind::Head:
        return checkTarget(entry, namesNothing(entry), isConversation, "it cannot be the head", kConversationHint);
      case EntryKind::Label: return checkLabel(entry);
      case EntryKind::Redaction: return checkRedaction(entry);
      case EntryKind::SessionInfo: return checkInfo(entry);
      case EntryKind::CompactionSummary: return checkText(entry, "firstKeptEntryId");
      case EntryKind::BranchSummary: {
        auto session = checkText(entry, "sourceSessionId");
        return session ? checkText(entry, "sourceEntryId") : session;
      }
      default: return {};
    }
  }

  // A label of any name may be taken away.
  Result<void> checkLabel(const Entry& entry) {
    if (auto named = checkText(entry, "name"); !named) return named;
    const bool taken = namesNothing(entry);
    if (const auto name = json::findString(entry.payload, "name"); !taken && !isLabelName(*name)) {
      return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" cannot be a label", text::excerpt(*name, 40)),
                  "labels are 1 to 128 bytes of printable text without ~, and begin with neither @ nor a blank");
    }
    return checkTarget(entry, taken, isConversation, "it cannot be labelled", kConversationHint);
  }

  Result<void> checkRedaction(const Entry& entry) {
    auto checked = checkTarget(entry, false, canBeRedacted, "a session is read by it, so it cannot be hidden",
                               "name a message or another entry that says something");
    for (const std::string_view name : {"by", "reason"}) {
      if (checked) checked = checkText(entry, name, /*filled=*/true);
    }
    return checked;
  }

  // Each member of the kind it must have, or null, which takes away what was said before.
  static Result<void> checkInfo(const Entry& entry) {
    using json::Kind;
    const auto isGood = [&](std::string_view name, auto right) {
      const auto value = json::findMember(entry.payload, name);
      return !value || json::kindOf(*value) == Kind::Null || right(json::kindOf(*value));
    };
    const auto isText = [](Kind kind) { return kind == Kind::String; };
    const auto isTruth = [](Kind kind) { return kind == Kind::True || kind == Kind::False; };
    const auto isCount = [&](Kind) { return json::findUnsigned(entry.payload, "timeToLiveMs").has_value(); };
    if (isGood("title", isText) && isGood("titleSource", isText) && isGood("pinned", isTruth) &&
        isGood("timeToLiveMs", isCount)) {
      return {};
    }
    return invalid(entry, "title and titleSource are texts, pinned is true or false, timeToLiveMs a whole number",
                   kPayloadHint);
  }

  static Result<void> checkText(const Entry& entry, std::string_view name, bool filled = false) {
    if (const auto text = json::findString(entry.payload, name); text && !(filled && text->empty())) return {};
    return invalid(entry, fmt::format("a {} needs {} in its payload", entry.type, name), kPayloadHint);
  }

  static bool namesNothing(const Entry& entry) { return json::findMember(entry.payload, "entryId") == "null"; }

  // The entry that the payload names must be there and of a kind that is `right`; else `why` says what is wrong with
  // it.
  Result<void> checkTarget(const Entry& entry, bool none, bool (*right)(EntryKind), const char* why, const char* hint) {
    if (none) return {};
    const auto target = json::findString(entry.payload, "entryId");
    if (!target) return invalid(entry, fmt::format("a {} needs entryId in its payload", entry.type), kPayloadHint);
    auto known = *target == lines_.back().id() ? Result<std::optional<Entry>>(std::nullopt) : stored(*target);
    if (!known) return std::unexpected(known.error());
    if (!*known) {
      return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", request_.sessionId, *target),
                  "`bough cat` prints all entries of a session");
    }
    if (right(entryKind((*known)->type))) return {};
    return fail(ErrorCode::InvalidArgument, fmt::format("entry {} is a {}: {}", *target, (*known)->type, why), hint);
  }

  void advanceHead(const Entry& entry, EntryKind kind, std::string_view id) {
    std::string moved;
    if (const auto head = headAfter(kind, id, entry.payload, moved)) {
      head_ = *head;
      headIsGood_ = kind != EntryKind::Head || isHead(head_);
    }
  }

  // Other writers' head entries may name anything.
  static bool isHead(std::string_view id) { return id.empty() || isEntryId(id); }

  LogView& log_;
  const AppendRequest& request_;
  const EntrySerializer& serializer_;
  IdGenerator::Batch ids_;
  Clock& clock_;
  NewLines& lines_;
  Kept& kept_ = Kept::ofThread();
  std::string& head_ = kept_.head;
  bool headIsGood_ = true;
  std::string& now_ = kept_.now;
  std::uint64_t nowMs_ = 0;               // 0: not asked for yet
  std::optional<std::string> otherTail_;  // when it is not the expected one
};

}  // namespace

bool canBeRedacted(EntryKind kind) {
  return kind != EntryKind::SessionHeader && kind != EntryKind::Head && kind != EntryKind::Redaction;
}

Error tailConflict(std::string_view sessionId, std::string_view expected, std::string_view actual) {
  return {.code = ErrorCode::Conflict,
          .message = fmt::format("session {} has moved on: its tail is {}, not {}", sessionId, actual, expected),
          .hint = "load what was appended meanwhile, then append behind the new tail or branch",
          .retryable = false,
          .actualTail = std::string(actual)};
}

Result<AppendResult> prepareBatch(LogView& log, const AppendRequest& request, const EntrySerializer& serializer,
                                  IdGenerator& ids, Clock& clock, NewLines& lines) {
  return BatchRules(log, request, serializer, ids, clock, lines).run();
}

Result<NewLines> prepareFirstBatch(const std::vector<Entry>& entries, const EntrySerializer& serializer) {
  if (entries.empty() || entries.front().type != entry_type::kSessionHeader) {
    return fail(ErrorCode::InvalidArgument, "a session begins with its header");
  }
  NewLines lines;
  for (const Entry& entry : entries) {
    if (auto added = lines.add(entry, serializer); !added) return std::unexpected(added.error());
    if (auto fits = checkSize(entry, lines.back()); !fits) return std::unexpected(fits.error());
  }
  return lines;
}

}  // namespace bough
