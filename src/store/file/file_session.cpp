#include "store/file/file_session.h"

#include <algorithm>

#include "base/model/unreadable.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/format/line.h"
#include "store/file/open_logs.h"
#include "store/file/parts/turn_number.h"
#include "store/file/rules_work.h"
#include "store/file/session_watcher.h"
#include "store/rules/header.h"
#include "store/sharing/place_names.h"

namespace bough {
namespace {

std::size_t weightOf(const std::vector<Entry>& entries) {
  std::size_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.payload.size() + entry.meta.size() + entry.extra.size() + 256;
  return bytes;
}

// Returns the first entry of a log. Refuses a log that another tool wrote.
Result<Entry> firstEntry(SessionLog& log, const SessionLog::Header& line, const EntrySerializer& serializer) {
  BOUGH_TRY(Entry first, serializer.decode(line.text));
  if (first.type != entry_type::kSessionHeader && !findSeal(line.text)) {
    BOUGH_TRY(refuseForeignFile(first, log.sessionId(), log.path()));
  }
  return first;
}

}  // namespace

Result<SessionState> stateOfLog(SessionLog& log, const EntrySerializer& serializer) {
  BOUGH_TRY(const auto line, log.header());
  BOUGH_TRY(const Entry first, firstEntry(log, line, serializer));
  BOUGH_TRY(SessionState state, log.state());
  HeaderInfo info = readHeader(first);
  state.origin = std::move(info.origin);
  state.format = info.format;
  return state;
}

Result<SeenOrigin> originSeenIn(const Result<std::shared_ptr<SessionLog>>& log, const EntrySerializer& serializer) {
  const auto isDamage = [](const Error& error) { return error.code == ErrorCode::Damaged && !error.retryable; };
  if (!log && isDamage(log.error())) return SeenOrigin{.isCertain = false};
  if (!log) return std::unexpected(log.error());
  const auto first = (*log)->header();
  if (!first && !isDamage(first.error())) return std::unexpected(first.error());
  const auto entry = first ? serializer.decode(first->text) : std::unexpected(first.error());
  if (entry && entry->type == entry_type::kSessionHeader) return SeenOrigin{.origin = readHeader(*entry).origin};
  // Either there never was a header, or it is among the unreadable bytes.
  BOUGH_TRY(const auto unread, (*log)->unreadableBeginning());
  if (unread.find_first_not_of(" \t\r\n") == std::string::npos) return SeenOrigin{.isCertain = entry || !first};
  return SeenOrigin{.origin = originNamedIn(unread), .isCertain = false};
}

FileSession::FileSession(SharingSessions& sessions, FileStore& store, OpenLogs& openLogs, std::string sessionId,
                         const std::optional<SessionLog::Identity>& previousIdentity)
    : SharingSession(sessions, std::move(sessionId)),
      store_(store),
      openLogs_(openLogs),
      changeGroup_(ChangeMap::groupOf(this->sessionId())) {
  opened_->previousIdentity = previousIdentity;
}

Result<std::shared_ptr<SessionLog>> FileSession::log() {
  Opened& here = *opened_;
  std::optional<SessionLog::Identity> previousIdentity;
  lastUsed_ = openLogs_.tick();
  {
    const std::lock_guard lock(here.mutex);
    if (here.log) return here.log;
    previousIdentity = here.previousIdentity;
  }
  openLogs_.makeRoomFor(*this);
  const auto open = [&] {
    return SessionLog::open(store_.folders, sessionId(), store_.serializer, store_.environment,
                            {.lockTimeoutMs = store_.options.lockTimeoutMs,
                             .writeIndex = store_.writeIndex,
                             .mayAppend = [&store = store_, id = sessionId()](const FirstLine& line) -> Result<void> {
                               BOUGH_TRY(const Entry first, store.serializer.decode(line.text));
                               return checkFormat(first, id, line.path, line.offset, store.serializer.schemaVersion());
                             },
                             .askElsewhere = store_.askElsewhere(sessionId()),
                             .previousIdentity = previousIdentity});
  };
  BOUGH_TRY(auto opened, openLogs_.openFiles(open));
  const std::lock_guard lock(here.mutex);
  if (!here.log) here.log = std::move(opened);
  return here.log;
}

std::shared_ptr<SessionLog> FileSession::takeIdleLog() {
  Opened& here = *opened_;
  const std::lock_guard lock(here.mutex);
  if (here.log.use_count() > 1) return nullptr;
  here.originGeneration = 0;
  return std::move(here.log);
}

void FileSession::dropLog() {
  Opened& here = *opened_;
  const std::lock_guard lock(here.mutex);
  here.log = nullptr;
  here.previousIdentity.reset();
  here.originGeneration = 0;
}

void FileSession::keepIdentity(const std::optional<SessionLog::Identity>& previousIdentity) {
  Opened& here = *opened_;
  const std::lock_guard lock(here.mutex);
  if (!here.log) here.previousIdentity = previousIdentity;
}

Result<SessionState> FileSession::state() {
  BOUGH_TRY(const auto open, log());
  BOUGH_TRY(auto found, stateOfLog(*open, store_.serializer));
  found.lostSession = lostSession(found.origin);
  lastUsed_ = openLogs_.tick();  // later than the sessions that were opened for this one
  if (found.origin && found.problemCount > 0) {
    // Damage may have hit the entry that a head entry names. If the history cannot be read, a read reports why.
    if (const auto shared = history()) {
      BOUGH_TRY(found.headId, open->headOfFork([&](std::string_view id) { return (*shared)->contains(id); }));
    }
  }
  if (found.origin && offsetOfUnreadableId(found.headId)) {
    if (auto meant = resolvedId(*this, found.headId)) found.headId = std::move(*meant);
  }
  found.lostPayloads = sessions().lostPayloads().count(sessionId());
  return found;
}

Result<Entry> FileSession::header() {
  BOUGH_TRY(const auto open, log());
  BOUGH_TRY(const auto first, open->header());
  return firstEntry(*open, first, store_.serializer);
}

// Does not look at the file unless something suggests that it was replaced: the append detects that under its lock.
Result<FileSession::Target> FileSession::target() {
  Opened& here = *opened_;
  {
    const std::lock_guard lock(here.mutex);
    if (here.log && here.originGeneration != 0 && here.originGeneration == here.log->generation()) {
      lastUsed_ = openLogs_.tick();
      return Target{.log = here.log, .generation = here.originGeneration, .origin = here.origin};
    }
  }
  BOUGH_TRY(auto open, log());
  BOUGH_TRY(const auto first, open->header());
  BOUGH_TRY(const Entry entry, firstEntry(*open, first, store_.serializer));
  Target found{.log = std::move(open), .generation = first.generation, .origin = readHeader(entry).origin};
  const std::lock_guard lock(here.mutex);
  if (here.log == found.log) {
    here.originGeneration = found.generation;
    here.origin = found.origin;
  }
  return found;
}

Result<std::optional<ForkOrigin>> FileSession::origin() {
  BOUGH_TRY(auto found, target());
  return std::move(found.origin);
}

Result<AppendResult> FileSession::append(AppendRequest& request) {
  BOUGH_TRY(store_.checkWritable(sessionId()));
  return retryWhenChanged([&]() -> Result<AppendResult> {
    BOUGH_TRY(Target to, target());
    std::shared_ptr<const ForkHistory> shared;
    if (to.origin) {
      auto history = historyOf(to.origin);
      if (!history) {
        // The origin may have been read from a file that was replaced since, for example because the session was
        // detached.
        BOUGH_TRY(generation());
        BOUGH_TRY(Target now, target());
        if (now.origin == to.origin) return std::unexpected(history.error());
        to = std::move(now);
        history = historyOf(to.origin);
        if (!history) return std::unexpected(history.error());
      }
      shared = std::move(*history);
    }
    BOUGH_TRY(store_.syncFolders());
    ChangeMark mark(store_.changes, changeGroup_);
    RulesWork work({.sessionId = sessionId(), .request = request, .shared = shared.get()}, to.generation, mark, store_);
    to.log->append(work, weightOf(request.entries));
    return work.takeResult();
  });
}

Result<std::uint64_t> FileSession::beginTurn() {
  return numberTurn({});
}

Result<std::uint64_t> FileSession::leaseTurn(const TurnLease& lease) {
  return numberTurn(lease);
}

Result<std::uint64_t> FileSession::numberTurn(std::optional<TurnLease> lease) {
  BOUGH_TRY(store_.checkWritable(sessionId()));
  BOUGH_TRY(const auto open, log());
  TurnWork work(*store_.root, sessionId(), store_.environment.clock, lease);
  open->append(work, 0);
  return work.takeResult();
}

Result<void> FileSession::exportLines(const std::function<bool(std::string_view)>& line) {
  BOUGH_TRY(const auto open, log());
  return open->readAll([&](Sequence, const std::string& text) { return line(text); });
}

Result<std::unique_ptr<ChangeWatcher>> FileSession::watch() {
  return watchSessions(*store_.folders.sessions, {sessionId()});
}

// For each append, a fork asks all sessions whose history it shares for their generation, and most of them may be
// closed.
std::optional<std::uint64_t> FileSession::generationOfClosed() {
  Opened& here = *opened_;
  SessionLog::Identity previousIdentity;
  {
    const std::lock_guard lock(here.mutex);
    if (here.log || !here.previousIdentity || !here.previousIdentity->file) return std::nullopt;
    previousIdentity = *here.previousIdentity;
  }
  const auto now = store_.folders.sessions->info(logName(sessionId()));
  const bool isUnchanged =
      now && now->identity == previousIdentity.file->identity && now->sizeBytes == previousIdentity.file->sizeBytes &&
      now->modifiedNs == previousIdentity.file->modifiedNs && now->changedNs == previousIdentity.file->changedNs;
  return isUnchanged ? std::optional(previousIdentity.generation) : std::nullopt;
}

Result<std::uint64_t> FileSession::generation() {
  if (const auto known = generationOfClosed()) return *known;
  // Asking for the generation does not count as use of the log. Otherwise the fork itself would be closed before the
  // sessions whose history it shares.
  const std::uint64_t lastUsed = lastUsed_;
  BOUGH_TRY(const auto open, log());
  lastUsed_ = lastUsed;
  return open->freshGeneration();
}

Result<std::optional<std::uint64_t>> FileSession::ownSequenceOf(std::string_view entryId) {
  BOUGH_TRY(const auto open, log());
  BOUGH_TRY(const auto found, open->find(entryId));
  if (!found) return std::nullopt;
  return std::uint64_t{*found};
}

Result<std::vector<std::uint64_t>> FileSession::ownSelect(const Selection& selection) {
  BOUGH_TRY(const auto open, log());
  if (selection.type == kUnreadableType) {
    BOUGH_TRY(const SessionState known, open->state());
    if (known.problemCount == 0) return std::vector<std::uint64_t>();
  }
  const auto from = static_cast<Sequence>(std::min<std::uint64_t>(selection.fromSequence, kElsewhere));
  const bool unknownType = !selection.type.empty() && entryKind(selection.type) == EntryKind::Other;
  std::optional<EntryKind> kind;
  if (!selection.type.empty()) kind = entryKind(selection.type);
  BOUGH_TRY(const auto found,
            open->select(from, unknownType ? SIZE_MAX : selection.limit, kind, selection.newestFirst));
  std::vector<std::uint64_t> sequences(found.begin(), found.end());
  if (!unknownType) return sequences;
  // The index does not distinguish types that bough does not know; the lines do.
  BOUGH_TRY(const auto entries, ownRead(sequences));
  std::vector<std::uint64_t> matching;
  for (std::size_t i = 0; i < entries.size() && matching.size() < selection.limit; ++i) {
    if (entries[i].type == selection.type) matching.push_back(sequences[i]);
  }
  return matching;
}

Result<std::vector<std::uint64_t>> FileSession::ownControls(std::span<const EntryKind> kinds) {
  BOUGH_TRY(const auto open, log());
  BOUGH_TRY(const auto found, open->controls(kinds));
  return std::vector<std::uint64_t>(found.begin(), found.end());
}

Result<SessionOutline> FileSession::ownOutline() {
  BOUGH_TRY(const auto open, log());
  return open->outline();
}

Result<std::vector<std::string>> FileSession::ownIds(std::string_view prefix, std::size_t limit) {
  BOUGH_TRY(const auto open, log());
  return open->findIds(prefix, limit);
}

Result<BranchPart> FileSession::ownBranch(std::uint64_t leaf, std::size_t limit) {
  BOUGH_TRY(const auto open, log());
  return open->branch(static_cast<Sequence>(leaf), limit);
}

Result<std::vector<Entry>> FileSession::ownRead(std::span<const std::uint64_t> sequences) {
  BOUGH_TRY(const auto open, log());
  std::vector<Sequence> ownSequences;
  ownSequences.reserve(sequences.size());
  for (const std::uint64_t sequence : sequences) ownSequences.push_back(static_cast<Sequence>(sequence));
  return open->readEntries(ownSequences);
}

}  // namespace bough
