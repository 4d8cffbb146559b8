// The calls of Session and StoreMaintenance as calls of SessionStore with a session's id. The calls that the
// specification names come first. Each opens the session and forwards to it.

#include "base/try.h"
#include "store/session_store_impl.h"

namespace bough {

Result<SessionHandle> SessionStore::createSession(const NewSession& session) {
  BOUGH_TRY(auto id, impl_->create(session, {}));
  return SessionHandle{.sessionId = std::move(id), .schemaVersion = impl_->backend->serializer().schemaVersion()};
}

Result<AppendResult> SessionStore::appendSessionEntries(const std::string& sessionId, std::vector<Entry> entries,
                                                        const AppendOptions& options) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.append(std::move(entries), options);
}

Result<std::vector<Entry>> SessionStore::loadSessionEntries(const std::string& sessionId, const LoadOptions& options) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.load(options);
}

Result<Entry> SessionStore::loadEntry(const std::string& sessionId, const std::string& entryId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.entry(entryId);
}

Result<SessionHandle> SessionStore::branchFromEntry(const std::string& sessionId, const std::string& entryId,
                                                    const NewSession& session) {
  BOUGH_TRY(impl_->readyToRead(sessionId));
  BOUGH_TRY(auto id, impl_->create(session, ForkOrigin{.sessionId = sessionId, .entryId = entryId}));
  return SessionHandle{.sessionId = std::move(id), .schemaVersion = impl_->backend->serializer().schemaVersion()};
}

Result<std::vector<Entry>> SessionStore::buildConversationHistory(const std::string& sessionId,
                                                                  const std::string& entryId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.conversation(entryId);
}

Result<MigrationResult> SessionStore::migrateSession(const std::string& sessionId) {
  return maintenance().migrate(sessionId);
}

Result<BranchDiff> SessionStore::diffBranches(const BranchEnd& left, const BranchEnd& right) {
  BOUGH_TRY(const auto one, session(left.sessionId));
  BOUGH_TRY(const auto other, session(right.sessionId));
  return one.diff(left.entryId, other, right.entryId);
}

Result<std::vector<Entry>> SessionStore::loadEntriesAt(const std::string& sessionId,
                                                       const std::vector<Sequence>& sequences) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.entriesAt(sequences);
}

Result<SessionCursor> SessionStore::openCursor(const std::string& sessionId, const std::string& position) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.cursor(position);
}

Result<SessionFollower> SessionStore::follow(const std::string& sessionId, const std::string& position) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.follow(position);
}

Result<AppendResult> SessionStore::moveHead(const std::string& sessionId, const std::string& entryId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.moveHead(entryId);
}

Result<SessionTree> SessionStore::loadTree(const std::string& sessionId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.tree();
}

Result<Sequence> SessionStore::sequenceOf(const std::string& sessionId, const std::string& entryId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.sequenceOf(entryId);
}

Result<std::vector<std::string>> SessionStore::findEntryIds(const std::string& sessionId, const std::string& prefix,
                                                            std::size_t limit) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.findEntryIds(prefix, limit);
}

Result<AppendResult> SessionStore::labelEntry(const std::string& sessionId, const std::string& entryId,
                                              const std::string& name) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.label(entryId, name);
}

Result<std::vector<SessionLabel>> SessionStore::labels(const std::string& sessionId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.labels();
}

Result<AppendResult> SessionStore::removeLabel(const std::string& sessionId, const std::string& name) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.removeLabel(name);
}

Result<AppendResult> SessionStore::restoreLabel(const std::string& sessionId, const std::string& name) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.moveHeadToLabel(name);
}

Result<AppendResult> SessionStore::setTitle(const std::string& sessionId, const std::string& title) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.setTitle(title);
}

Result<AppendResult> SessionStore::appendBranchSummary(const std::string& sessionId, const BranchSummary& summary) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.appendBranchSummary(summary);
}

Result<AppendResult> SessionStore::redactEntry(const std::string& sessionId, const std::string& entryId,
                                               const std::string& by, const std::string& reason) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.redact(entryId, by, reason);
}

Result<SessionState> SessionStore::sessionState(const std::string& sessionId) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.state();
}

Result<void> SessionStore::exportSession(const std::string& sessionId,
                                         const std::function<bool(std::string_view)>& line) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.exportLines(line);
}

Result<void> SessionStore::readOwnEntries(const std::string& sessionId, std::uint64_t fromSequence, std::uint64_t limit,
                                          const std::function<void(std::uint64_t, Entry&)>& use) {
  BOUGH_TRY(const auto found, session(sessionId));
  return found.readOwn(fromSequence, limit, use);
}

Result<std::vector<std::string>> SessionStore::forksOf(const std::string& sessionId) {
  return maintenance().forksOf(sessionId);
}

Result<void> SessionStore::deleteSession(const std::string& sessionId, const DeleteOptions& options) {
  return maintenance().remove({.sessionId = sessionId, .detachForks = options.detachForks});
}

Result<TrashedSession> SessionStore::trashSession(const std::string& sessionId, const DeleteOptions& options) {
  return maintenance().trash({{.sessionId = sessionId, .detachForks = options.detachForks}}).front();
}

Result<std::vector<TrashedSession>> SessionStore::listTrash() {
  return maintenance().listTrash();
}

Result<void> SessionStore::exportTrashed(const std::string& trashId,
                                         const std::function<bool(std::string_view)>& line) {
  return maintenance().exportTrashed(trashId, line);
}

Result<void> SessionStore::restoreSession(const std::string& trashId) {
  return maintenance().restore(trashId);
}

Result<std::uint64_t> SessionStore::emptyTrash(const std::vector<std::string>& trashIds) {
  return maintenance().emptyTrash(trashIds);
}

Result<ArchiveResult> SessionStore::archiveSession(const std::string& sessionId) {
  return maintenance().archive(sessionId);
}

Result<VerifyReport> SessionStore::verifySession(const std::string& sessionId) {
  return maintenance().verify(sessionId);
}

Result<RepairReport> SessionStore::repairSession(const std::string& sessionId) {
  return maintenance().repair(sessionId);
}

Result<std::string> SessionStore::putAttachment(std::string_view bytes) {
  return maintenance().putAttachment(bytes);
}

Result<std::string> SessionStore::readAttachment(const std::string& sha256) {
  return maintenance().readAttachment(sha256);
}

Result<std::vector<std::string>> SessionStore::findUnusedAttachments() {
  return maintenance().findUnusedAttachments();
}

Result<std::size_t> SessionStore::removeUnusedAttachments(const std::vector<std::string>& sha256s) {
  return maintenance().removeUnusedAttachments(sha256s);
}

const EntrySerializer& SessionStore::serializer() const {
  return impl_->backend->serializer();
}

std::string SessionStore::folder() const {
  return changes() != nullptr ? changes()->folder() : std::string();
}

Result<ChangeSet> SessionStore::changesSince(std::string_view token) {
  BOUGH_TRY(impl_->writeBuffered());
  return changes() != nullptr ? changes()->since(token) : ChangeSet{.all = true, .names = true};
}

std::uint32_t SessionStore::changeGroup(std::string_view sessionId) const {
  return changes() != nullptr ? changes()->groupOf(sessionId) : 0;
}

// Without a change feed, the stamp is made from the session's state.
Result<std::string> SessionStore::sessionStamp(const std::string& sessionId) {
  BOUGH_TRY(impl_->readyToRead(sessionId));
  if (changes() != nullptr) return changes()->stamp(sessionId);
  BOUGH_TRY(const auto state, sessionState(sessionId));
  return std::to_string(state.entryCount) + ":" + state.tailId;
}

}  // namespace bough
