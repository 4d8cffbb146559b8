#include "store/append_rules.h"

#include <fmt/format.h>

#include "base/json_scan.h"
#include "base/sha256.h"
#include "base/timestamp.h"
#include "log/line.h"
#include "store/attachment_reference.h"

namespace bough {
namespace {

constexpr std::size_t kEnvelopeBytes = 256;  // about what a line holds besides its payload

std::unexpected<Error> invalid(const Entry& entry, std::string_view what, std::string hint = {}) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("entry {}: {}", entry.id.empty() ? "(no id yet)" : entry.id, what), std::move(hint));
}

// Whether one of two payloads is the other, kept as an attachment: what is kept so may change between two deliveries.
bool isSamePayload(std::string_view mine, std::string_view theirs) {
  const auto myReference = readAttachmentReference(mine);
  const auto theirReference = readAttachmentReference(theirs);
  if (myReference.has_value() == theirReference.has_value()) return false;
  return myReference ? *myReference == Sha256::of(theirs) : *theirReference == Sha256::of(mine);
}

class BatchRules {
 public:
  BatchRules(LogView& log, AppendRequest& request, const EntrySerializer& serializer, IdGenerator& ids, Clock& clock,
             std::vector<NewLine>& lines)
      : log_(log),
        request_(request),
        serializer_(serializer),
        ids_(ids, request.entries.size()),
        clock_(clock),
        lines_(lines),
        head_(log.headId()) {
    lines_.reserve(request.entries.size());
  }

  Result<AppendResult> run() {
    if (request_.entries.empty()) return fail(ErrorCode::InvalidArgument, "a batch without entries");
    AppendResult result{.sessionId = request_.sessionId, .lastAppendedEntryId = {}};
    std::string_view last;
    for (Entry& entry : request_.entries) {
      std::optional<Entry> known;
      if (!entry.id.empty()) {
        auto found = stored(entry.id);
        if (!found) return std::unexpected(found.error());
        known = std::move(*found);
      }
      const auto accepted = known ? duplicate(entry, *known) : fresh(entry);
      if (!accepted) return std::unexpected(accepted.error());
      ++(known ? result.duplicateCount : result.appendedCount);
      last = known ? std::string_view(entry.id) : lines_.back().id();
    }
    result.lastAppendedEntryId = last;
    // A repeated batch is recognized even though its first delivery moved the tail.
    if (result.appendedCount > 0 && request_.expectedTail && *request_.expectedTail != log_.tailId()) {
      return conflict();
    }
    return result;
  }

 private:
  [[nodiscard]] std::unexpected<Error> conflict() const {
    return std::unexpected(tailConflict(request_.sessionId, *request_.expectedTail, log_.tailId()));
  }

  // The entry of that id, wherever the session has it.
  Result<std::optional<Entry>> stored(const std::string& id) {
    if (const auto mine = batch_.find(lines_, id)) return decoded(lines_[*mine].text());
    auto text = log_.textOf(id);
    if (!text) return std::unexpected(text.error());
    if (*text) return decoded(**text);
    return request_.shared ? request_.shared(id) : Result<std::optional<Entry>>(std::nullopt);
  }

  Result<std::optional<Entry>> decoded(std::string_view text) {
    auto entry = serializer_.decode(text);
    if (!entry) return std::unexpected(entry.error());
    return std::move(*entry);
  }

  Result<bool> exists(const std::string& id) {
    if (batch_.find(lines_, id)) return true;
    auto here = log_.contains(id);
    if (!here || *here || !request_.shared) return here;
    auto shared = request_.shared(id);
    if (!shared) return std::unexpected(shared.error());
    return shared->has_value();
  }

  // An entry of this id is stored: the same in everything the caller has said, or a conflict.
  Result<void> duplicate(const Entry& entry, const Entry& known) {
    Entry claimed = entry;
    if (!claimed.parentId) claimed.parentId = known.parentId;
    if (claimed.timestamp.empty()) claimed.timestamp = known.timestamp;
    if (isSamePayload(claimed.payload, known.payload)) claimed.payload = known.payload;
    std::string mine;
    std::string theirs;
    if (auto encoded = serializer_.encode(claimed, mine); !encoded) return std::unexpected(encoded.error());
    if (auto encoded = serializer_.encode(known, theirs); !encoded) return std::unexpected(encoded.error());
    if (mine != theirs) {
      return fail(ErrorCode::IdConflict,
                  fmt::format("session {} has an entry {} with other content; nothing was appended", request_.sessionId,
                              entry.id),
                  "entries are never changed: append under another id, or leave the id out");
    }
    advanceHead(known, entry.id);
    return {};
  }

  // The entries of a batch are made at one time.
  const std::string& now() {
    if (now_.empty()) now_ = formatTimestamp(clock_.nowMs());
    return now_;
  }

  struct Kept {
    std::string id;
    std::string timestamp;
    std::optional<std::string> parentId;

    static Kept& ofThread() {
      thread_local Kept strings;
      return strings;
    }
  };

  // What the caller left out of an entry is filled in for as long as this lives, so that the entry need not be copied;
  // with strings that are kept, so that they need no memory.
  class Completed {
   public:
    Completed(Entry& entry, BatchRules& rules)
        : entry_(entry),
          rules_(rules),
          noId_(entry.id.empty()),
          noTime_(entry.timestamp.empty()),
          noParent_(!entry.parentId) {
      if (noId_) {
        entry.id.swap(rules_.kept_.id);
        rules.ids_.next(entry.id);
      }
      if (noTime_) {
        entry.timestamp.swap(rules_.kept_.timestamp);
        entry.timestamp = rules.now();
      }
      if (noParent_) {
        entry.parentId.swap(rules_.kept_.parentId);
        if (!entry.parentId) entry.parentId.emplace();
        *entry.parentId = rules.head_;
      }
    }
    ~Completed() {
      if (noId_) {
        entry_.id.swap(rules_.kept_.id);
        entry_.id.clear();
      }
      if (noTime_) {
        entry_.timestamp.swap(rules_.kept_.timestamp);
        entry_.timestamp.clear();
      }
      if (noParent_) {
        entry_.parentId.swap(rules_.kept_.parentId);
        entry_.parentId.reset();
      }
    }
    Completed(const Completed&) = delete;
    Completed& operator=(const Completed&) = delete;

   private:
    Entry& entry_;
    BatchRules& rules_;
    bool noId_;
    bool noTime_;
    bool noParent_;
  };

  Result<void> fresh(Entry& entry) {
    if (entry.type == entry_type::kSessionHeader) return invalid(entry, "a session has one header, its first entry");
    constexpr std::size_t kMaxTypeBytes = 64;
    if (entry.type.size() > kMaxTypeBytes || !isEntryId(entry.type)) {
      return invalid(entry, "the type is not 1 to 64 of [A-Za-z0-9._:-]");
    }
    const Completed completed(entry, *this);
    if (auto known = checkParent(entry); !known) return known;
    std::string text;
    text.reserve(entry.payload.size() + entry.meta.size() + entry.extra.size() + kEnvelopeBytes);
    if (auto encoded = serializer_.encode(entry, text); !encoded) return encoded;
    if (text.size() + 64 > kMaxLineBytes) {
      return invalid(entry, "the entry is larger than 128 MiB", "store large data as an attachment");
    }
    if (auto checked = checkPayload(entry); !checked) return checked;
    lines_.emplace_back(std::move(text), entry);
    advanceHead(entry, lines_.back().id());
    return {};
  }

  Result<void> checkParent(const Entry& entry) {
    const std::string& parent = *entry.parentId;
    if (parent.empty() || parent == head_) return {};
    if (parent == entry.id) return invalid(entry, "the entry names itself as its parent");
    auto known = exists(parent);
    if (!known) return std::unexpected(known.error());
    if (*known) return {};
    for (const Entry& other : request_.entries) {
      if (other.id == parent) return invalid(entry, "its parent stands later in the batch", "put parents first");
    }
    return invalid(entry, fmt::format("its parent {} is not an entry of session {}", parent, request_.sessionId),
                   "name an earlier entry, or leave parentId out to continue from the head");
  }

  // Entries that speak about others must name ones that exist.
  Result<void> checkPayload(const Entry& entry) {
    if (entry.type == entry_type::kHead || entry.type == entry_type::kLabel) {
      return checkTarget(entry, "entryId", /*nullable=*/true);
    }
    if (entry.type == entry_type::kRedaction) return checkTarget(entry, "entryId", /*nullable=*/false);
    if (entry.type == entry_type::kCompactionSummary) return checkText(entry, "firstKeptEntryId");
    if (entry.type == entry_type::kBranchSummary) {
      auto session = checkText(entry, "sourceSessionId");
      return session ? checkText(entry, "sourceEntryId") : session;
    }
    return {};
  }

  static Result<void> checkText(const Entry& entry, std::string_view name) {
    if (json::findString(entry.payload, name)) return {};
    return invalid(entry, fmt::format("a {} needs {} in its payload", entry.type, name));
  }

  Result<void> checkTarget(const Entry& entry, std::string_view name, bool nullable) {
    const auto value = json::findMember(entry.payload, name);
    if (nullable && value == "null") return {};
    const auto target = value ? json::decodeString(*value) : std::nullopt;
    if (!target) return invalid(entry, fmt::format("a {} needs {} in its payload", entry.type, name));
    auto known = exists(*target);
    if (!known) return std::unexpected(known.error());
    if (*known) return {};
    return fail(ErrorCode::NotFound, fmt::format("session {} has no entry {}", request_.sessionId, *target),
                "`bough cat` prints all entries of a session");
  }

  // `id` is the entry's, and stays.
  void advanceHead(const Entry& entry, std::string_view id) {
    if (entry.type == entry_type::kHead) {
      movedHead_ = json::findString(entry.payload, "entryId").value_or("");
      head_ = movedHead_;
    } else if (!isControlType(entry.type)) {
      head_ = id;
    }
  }

  LogView& log_;
  AppendRequest& request_;
  const EntrySerializer& serializer_;
  IdGenerator::Batch ids_;
  Clock& clock_;
  std::vector<NewLine>& lines_;
  Kept& kept_ = Kept::ofThread();
  NewLineFinder batch_;
  std::string_view head_;
  std::string movedHead_;
  std::string now_;
};

}  // namespace

Error tailConflict(std::string_view sessionId, std::string_view expected, std::string_view actual) {
  return {.code = ErrorCode::Conflict,
          .message = fmt::format("session {} has moved on: its tail is {}, not {}", sessionId, actual, expected),
          .hint = "load what was appended meanwhile, then append behind the new tail or branch",
          .retryable = false,
          .actualTail = std::string(actual)};
}

Result<AppendResult> prepareBatch(LogView& log, AppendRequest& request, const EntrySerializer& serializer,
                                  IdGenerator& ids, Clock& clock, std::vector<NewLine>& lines) {
  auto result = BatchRules(log, request, serializer, ids, clock, lines).run();
  if (!result) lines.clear();
  return result;
}

Result<std::vector<NewLine>> prepareFirstBatch(const std::vector<Entry>& entries, const EntrySerializer& serializer) {
  if (entries.empty() || entries.front().type != entry_type::kSessionHeader) {
    return fail(ErrorCode::InvalidArgument, "a session begins with its header");
  }
  std::vector<NewLine> lines;
  for (const Entry& entry : entries) {
    std::string text;
    if (auto encoded = serializer.encode(entry, text); !encoded) return std::unexpected(encoded.error());
    lines.emplace_back(std::move(text), entry);
  }
  return lines;
}

}  // namespace bough
