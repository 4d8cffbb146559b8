#include "store/file/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/header.h"
#include "store/sharing/fork_history.h"

namespace bough {
namespace {

// Collects the problems that the scan reports and those that only all entries together show: ids, parents, the header.
class VerifySink final : public ScanSink {
 public:
  using IsShared = std::function<bool(std::string_view id)>;
  // `isShared` returns true for ids in the history that a fork shares.
  VerifySink(VerifyReport& report, IsShared isShared) : report_(report), isShared_(std::move(isShared)) {}

  void onLine(const ScannedLine& line) override {
    const bool header = line.keys.type == entry_type::kSessionHeader;
    if (report_.entries == 0 && !header)
      add(ProblemKind::Header, line.offset, 0, "the log does not begin with a header");
    if (report_.entries > 0 && header) add(ProblemKind::Header, line.offset, line.length, "a second header");
    if (!ids_.insert(std::string(line.keys.id)).second) {
      add(ProblemKind::DuplicateId, line.offset, line.length,
          fmt::format("entry {} is there already; this one is not read", line.keys.id));
      return;
    }
    if (isShared_(line.keys.id)) {
      add(ProblemKind::DuplicateId, line.offset, line.length,
          fmt::format("entry {} is in the history that the session shares already", line.keys.id));
    }
    ++report_.entries;
    if (line.keys.type == entry_type::kHead) noteHead(line);
    if (!line.keys.parentId || ids_.contains(std::string(*line.keys.parentId))) {
      if (line.keys.parentId == line.keys.id) {
        add(ProblemKind::UnknownParent, line.offset, line.length,
            fmt::format("entry {} is its own parent", line.keys.id));
      }
      return;
    }
    addUnknownReference(line, *line.keys.parentId, "the parent");
  }

  void onTorn(std::string_view reason) override { tornReason_ = reason; }
  [[nodiscard]] const std::string& tornReason() const { return tornReason_; }

  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view message) override {
    add(kind, offset, bytes, std::string(message));
  }

  void add(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string message) {
    ++(isNote(kind) ? report_.noteCount : report_.problemCount);
    if (report_.problems.size() >= VerifyReport::kMaxListed) return;
    report_.problems.push_back({.kind = kind, .offset = offset, .bytes = bytes, .message = std::move(message)});
  }

  // An entry that names an id which no earlier entry of the log has.
  struct UnknownReference {
    std::uint64_t offset;
    std::uint64_t bytes;
    std::string named;
    std::string message;
  };
  [[nodiscard]] const std::vector<UnknownReference>& unknownReferences() const { return unknownReferences_; }

 private:
  void noteHead(const ScannedLine& line) {
    const std::string head = headNamedBy(json::findMember(line.text, "payload").value_or(""));
    if (!head.empty() && !ids_.contains(head)) addUnknownReference(line, head, "the new head");
  }
  void addUnknownReference(const ScannedLine& line, std::string_view named, std::string_view what) {
    unknownReferences_.push_back(
        {.offset = line.offset,
         .bytes = line.length,
         .named = std::string(named),
         .message = fmt::format("{} {} of entry {} is not an earlier entry", what, named, line.keys.id)});
  }

  VerifyReport& report_;
  IsShared isShared_;
  std::unordered_set<std::string> ids_;
  std::vector<UnknownReference> unknownReferences_;
  std::string tornReason_;
};

bool isIn(const Result<ForkHistory>& shared, std::string_view id) {
  if (!shared || shared->size() == 0) return false;
  const auto found = shared->find(id);
  return found && *found;
}

// Checks that the entry that a fork continues exists.
void checkOrigin(VerifySink& sink, const Result<ForkHistory>& shared, const std::optional<ForkOrigin>& origin) {
  if (!origin) return;
  if (!shared) {
    sink.add(ProblemKind::UnknownParent, 0, 0, fmt::format("{}; {}", shared.error().message, shared.error().hint));
  }
  if (shared && !shared->missing().empty()) {
    sink.add(ProblemKind::UnknownParent, 0, 0,
             fmt::format("it continues entry {} of session {}, which has no such entry", shared->missing(),
                         shared->missingFrom()));
  }
}

// Returns true when the id belongs to a damaged line, which is a problem by itself, or to the place of a line that is
// readable again.
bool isLost(SessionLog& log, const std::string& id) {
  const auto sequence = log.find(id);
  if (!sequence || !*sequence) return false;
  if (offsetOfUnreadableId(id)) return true;
  const auto entries = log.readEntries({**sequence});
  return entries && isUnreadable(entries->front());
}

// Parents and heads that are not in the log must be in the history that a fork shares.
void checkNamed(VerifySink& sink, const Result<ForkHistory>& shared, SessionLog& log) {
  for (const auto& entry : sink.unknownReferences()) {
    if (isIn(shared, entry.named) || isLost(log, entry.named)) continue;
    sink.add(ProblemKind::UnknownParent, entry.offset, entry.bytes, entry.message);
  }
}

// Returns the entry of a sealed line, or why it is not an entry.
Result<Entry> entryOf(const std::string& line, const EntrySerializer& serializer) {
  if (const auto whole = json::check(line); !whole) {
    return fail(ErrorCode::Damaged, fmt::format("a sealed line is not JSON: {}", whole.error().reason));
  }
  return serializer.decode(line);
}

// Checks that the attachment of an entry exists and is intact.
void checkAttachment(const Result<Entry>& entry, const std::string& line, std::uint64_t offset,
                     SharingSessions& sessions, VerifySink& sink) {
  if (!entry) return sink.add(ProblemKind::Damage, offset, line.size(), entry.error().message);
  const auto reference = readAttachmentReference(entry->payload);
  if (!reference) return;
  if (auto bytes = sessions.attachment(*reference); !bytes) {
    sink.add(ProblemKind::Attachment, offset, line.size(),
             fmt::format("entry {}: {}", entry->id, bytes.error().message));
  }
}

}  // namespace

Result<VerifyReport> verifyLog(SessionLog& log, SharingSession& session, const EntrySerializer& serializer) {
  VerifyReport report{.sessionId = log.sessionId(), .file = log.path()};
  BOUGH_TRY(const SessionState state, log.state());
  report.bytes = state.bytes;
  const auto header = session.header();
  const auto origin = header ? readHeader(*header).origin : std::nullopt;
  const auto shared = ForkHistory::ofFork(session.sessions(), log.sessionId(), origin);
  if (!shared && !isLostSession(shared.error())) return std::unexpected(shared.error());
  VerifySink sink(report, [&](std::string_view id) { return isIn(shared, id); });
  BOUGH_TRY(auto trailing, log.scanWhole(sink));
  if (trailing > 0) {
    sink.add(ProblemKind::Torn, state.bytes - std::min(state.bytes, trailing), trailing,
             fmt::format("bytes after the last complete batch: left by a crash, or being written now ({})",
                         sink.tornReason()));
  }
  if (report.entries == 0) {
    sink.add(ProblemKind::Header, 0, state.bytes, state.bytes == 0 ? "the file is empty" : "no entry can be read");
    return report;
  }
  if (!header) sink.add(ProblemKind::Header, 0, 0, fmt::format("{}; {}", header.error().message, header.error().hint));
  if (header && readHeader(*header).format > serializer.schemaVersion()) {
    sink.add(ProblemKind::Header, 0, 0, unknownFormat(readHeader(*header).format));
  }
  checkOrigin(sink, shared, origin);
  checkNamed(sink, shared, log);
  auto checked = log.readAll([&](Sequence sequence, const std::string& line) {
    const auto entry = entryOf(line, serializer);
    checkAttachment(entry, line, log.offsetOf(sequence), session.sessions(), sink);
    return true;
  });
  if (!checked) return std::unexpected(checked.error());
  std::ranges::stable_sort(report.problems, {}, &Problem::offset);
  return report;
}

Result<std::uint64_t> countNotEntries(SessionLog& log, const EntrySerializer& serializer) {
  std::uint64_t count = 0;
  BOUGH_TRY(log.readAll([&](Sequence, const std::string& line) {
    if (!entryOf(line, serializer)) ++count;
    return true;
  }));
  return count;
}

}  // namespace bough
