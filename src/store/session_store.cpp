#include "bough/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/bytes/sha256.h"
#include "base/json/json_grammar.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/head.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "log/format/serializer_contract.h"
#include "store/rules/append_rules.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/entry_rules.h"
#include "store/rules/header.h"
#include "store/session_store_impl.h"

namespace bough {

SessionStore::Impl::Impl(std::shared_ptr<StorageBackend> store, const StoreOptions& storeOptions, Environment& env)
    : backend(std::move(store)),
      options(storeOptions),
      environment(env),
      ids(env.clock, env.random),
      buffer(storeOptions.bufferedEntries, storeOptions.bufferedMs) {}

SessionStore::SessionStore(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

SessionStore::~SessionStore() {
  (void)close();
  // Entries that could not be written are dropped now. Nothing may use them when the members are destroyed.
  impl_->closed = true;
  impl_->buffer.stop();
  impl_->followers.wakeAll();
}

Result<std::unique_ptr<SessionStore>> SessionStore::Impl::open(std::shared_ptr<StorageBackend> backend,
                                                               const StoreOptions& options, Environment& environment) {
  BOUGH_TRY(checkSerializer(backend->serializer()));
  // A store that is read-only can still be opened for reading. Its first append says why it cannot be written.
  if (auto reached = backend->probe(); !reached && reached.error().code != ErrorCode::ReadOnly) {
    return std::unexpected(reached.error());
  }
  return std::unique_ptr<SessionStore>(
      new SessionStore(std::make_shared<Impl>(std::move(backend), options, environment)));
}

Result<std::unique_ptr<SessionStore>> SessionStore::open(SessionStoreInit init) {
  if (!init.backend) return fail(ErrorCode::InvalidArgument, "a store needs a backend");
  return Impl::open(std::move(init.backend), init.options, systemEnvironment());
}

Result<std::unique_ptr<SessionStore>> SessionStore::open(const std::string& location, const StoreOptions& options) {
  BOUGH_TRY(auto side, StoreSide::open(location, options));
  return std::move(side.store);
}

Result<StoreSide> StoreSide::open(const std::string& location, const StoreOptions& options) {
  StoreSide side;
  if (location.empty()) {
    return fail(ErrorCode::InvalidArgument, "the location is empty", "name a folder, or a database's address");
  }
  if (location.contains('\0')) {
    return fail(ErrorCode::InvalidArgument, "the location holds a NUL byte", "name a folder, or a database's address");
  }
  if (location.starts_with('~')) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the location {} begins with ~, which only a shell expands", location),
                "write the path of the home folder instead; ./~ is a folder of that name");
  }
  if (location == "memory:") {
    side.backend = makeMemoryBackend();
  } else if (isPostgresLocation(location)) {
    BOUGH_TRY(side.backend, makePostgresBackend(location, options));
  } else {
    BOUGH_TRY(side.backend, makeFileBackend(location, options));
  }
  BOUGH_TRY(side.store, SessionStore::open({.backend = side.backend, .options = options}));
  return side;
}

Result<void> SessionStore::Impl::checkOpen() const {
  if (closed) return fail(ErrorCode::Closed, "the store was closed", "open it again");
  if (forks != forkCount() && !backend->isUsableAfterFork()) {
    return fail(ErrorCode::Unsupported, "this store belongs to the parent process, which opened it before fork",
                "open another store in the child process");
  }
  return {};
}

Result<void> SessionStore::Impl::readyToRead(const std::string& sessionId) {
  BOUGH_TRY(checkOpen());
  return buffer.hasAny() ? buffer.flush(sessionId) : Result<void>();
}

Result<std::string> SessionStore::Impl::create(NewSession session, const std::optional<ForkOrigin>& origin) {
  BOUGH_TRY(checkOpen());
  if (session.sessionId.empty()) session.sessionId = ids.next();
  if (!session.key.empty() && !isSessionKey(session.key)) {
    return fail(ErrorCode::InvalidArgument, "the key is longer than 512 bytes, not UTF-8, or holds control characters",
                "keys look like agent:channel:peer");
  }
  const std::string now = formatTimestamp(environment.clock.nowMs());
  SessionCreation creation{.sessionId = session.sessionId, .entries = std::vector<Entry>(1), .origin = origin};
  Entry& header = creation.entries[0];
  header.id = ids.next();
  header.type = entry_type::kSessionHeader;
  header.timestamp = now;
  header.payload = makeHeaderPayload(session, origin, backend->serializer().schemaVersion());
  if (!session.title.empty()) {
    Entry& info = creation.entries.emplace_back();
    info.id = ids.next();
    info.parentId = origin ? origin->entryId : "";
    info.type = entry_type::kSessionInfo;
    info.timestamp = now;
    info.payload = "{\"title\":" + json::quoted(session.title) + "}";
  }
  BOUGH_TRY(backend->create(creation));
  return creation.sessionId;
}

Result<Session> SessionStore::session(const std::string& sessionId) {
  BOUGH_TRY(impl_->checkOpen());
  BOUGH_TRY(auto stored, impl_->backend->open(sessionId));
  return Session(std::make_shared<Session::State>(impl_, std::move(stored)));
}

Result<Session> SessionStore::create(const NewSession& session) {
  BOUGH_TRY(const auto id, impl_->create(session, {}));
  return this->session(id);
}

StoreMaintenance SessionStore::maintenance() const {
  return StoreMaintenance(std::make_shared<StoreMaintenance::Store>(impl_));
}

ChangeFeed* SessionStore::changes() const {
  return impl_->backend->changes();
}

CatalogSource* SessionStore::catalog() const {
  return impl_->backend->catalog();
}

Result<std::vector<std::string>> SessionStore::listSessions() {
  BOUGH_TRY(impl_->checkOpen());
  return impl_->backend->listSessions();
}

Result<std::unique_ptr<Hold>> SessionStore::Impl::storeAttachments(std::vector<Entry>& entries) {
  std::unique_ptr<Hold> hold;
  AttachmentStore* attachments = backend->attachments();
  for (Entry& entry : entries) {
    const bool large = entry.payload.size() > options.attachmentBytes && !isControlType(entry.type);
    if (attachments == nullptr || (!large && !looksLikeAttachmentReference(entry.payload))) continue;
    // A payload that breaks a rule stays in the entry, because a reference would hide that. The rules of an append
    // refuse it and name the entry.
    if (!entry.payload.starts_with('{') || !json::check(entry.payload)) continue;
    if (!checkPayload(entry, entryKind(entry.type))) continue;
    if (!hold) {
      BOUGH_TRY(hold, attachments->hold());
    }
    const std::string sha256 = Sha256::of(entry.payload);
    BOUGH_TRY(attachments->put(sha256, entry.payload));
    entry.payload = makeAttachmentReference(sha256, entry.payload.size());
  }
  return hold;
}

namespace {

// The view that a buffered batch is checked against: the stored entries and the entries that are buffered before it.
class BufferedView final : public LogView {
 public:
  BufferedView(const SessionState& state, const std::vector<Entry>& waiting)
      : waiting_(waiting), tailId_(state.tailId), headId_(state.headId) {
    for (const Entry& entry : waiting_) {
      tailId_ = entry.id;
      std::string moved;
      if (const auto head = headAfter(entryKind(entry.type), entry.id, entry.payload, moved)) headId_ = *head;
    }
  }

  // Loads all entries that the batch may name with one query.
  Result<void> look(StoredSession& session, const AppendRequest& request) {
    LoadQuery query{.asStored = true};
    for (const Entry& entry : request.entries) {
      if (!entry.id.empty()) query.ids.push_back(entry.id);
      if (!entry.parentId.value_or("").empty()) query.ids.push_back(*entry.parentId);
      if (!isControlType(entry.type)) continue;
      if (auto target = json::findString(entry.payload, "entryId")) query.ids.push_back(std::move(*target));
    }
    if (query.ids.empty()) return {};
    BOUGH_TRY(auto found, session.load(query));
    for (Entry& entry : found.entries) stored_.try_emplace(entry.id, std::move(entry));
    return {};
  }

  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    const auto mine = std::ranges::find(waiting_, id, &Entry::id);
    if (mine != waiting_.end()) return *mine;
    const auto found = stored_.find(std::string(id));
    if (found == stored_.end()) return std::nullopt;
    return found->second;
  }
  Result<bool> contains(std::string_view id) override {
    return std::ranges::find(waiting_, id, &Entry::id) != waiting_.end() || stored_.contains(std::string(id));
  }
  [[nodiscard]] std::string_view tailId() const override { return tailId_; }
  [[nodiscard]] std::string_view headId() override { return headId_; }

 private:
  const std::vector<Entry>& waiting_;
  std::unordered_map<std::string, Entry> stored_;
  std::string tailId_;
  std::string headId_;
};

}  // namespace

// Runs under the lock that a closing flush waits for: an entry added after that flush would be lost.
Result<AppendResult> SessionStore::Impl::acceptBuffered(StoredSession& session, AppendRequest& request,
                                                        std::vector<Entry>& waiting) {
  BOUGH_TRY(checkOpen());
  BOUGH_TRY(const SessionState state, session.state());
  const EntrySerializer& serializer = backend->serializer();
  if (state.format != serializer.schemaVersion()) return session.append(request);  // reports the wrong format
  BufferedView view(state, waiting);
  BOUGH_TRY(view.look(session, request));
  BatchLines lines;
  BOUGH_TRY(auto prepared, prepareBatch(view, {.sessionId = session.sessionId(), .request = request}, serializer, ids,
                                        environment.clock, lines));
  std::vector<Entry> batch;
  batch.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    BOUGH_TRY(auto entry, serializer.decode(lines[i].text()));
    batch.push_back(std::move(entry));
  }
  // Nothing can fail from here on, so no part of a batch is left in the buffer.
  waiting.reserve(waiting.size() + batch.size());
  std::ranges::move(batch, std::back_inserter(waiting));
  return prepared;
}

Result<AppendResult> SessionStore::Impl::append(const std::shared_ptr<StoredSession>& session, AppendRequest request,
                                                Durability durability) {
  BOUGH_TRY(checkOpen());
  // Comparing the tail or the turn needs the log itself, and an attachment is safe only after an entry names it. Such a
  // batch is written at once, after all that is buffered.
  const bool atOnce = durability == Durability::Sync || request.expectedTail || request.turn;
  if (atOnce) {
    BOUGH_TRY(readyToRead(session->sessionId()));
  }
  BOUGH_TRY(const auto hold, storeAttachments(request.entries));
  if (hold && !atOnce) {
    BOUGH_TRY(readyToRead(session->sessionId()));
  }
  if (hold || atOnce) return session->append(request);
  return buffer.accept(session,
                       [&](std::vector<Entry>& waiting) { return acceptBuffered(*session, request, waiting); });
}

Result<void> SessionStore::Impl::flush() {
  BOUGH_TRY(checkOpen());
  return buffer.flushAll();
}

Result<void> SessionStore::Impl::writeBuffered() {
  BOUGH_TRY(checkOpen());
  return buffer.writeAll();
}

Result<void> SessionStore::Impl::close() {
  const std::lock_guard one(*closing);  // a second call waits for the result of the first
  if (closed.exchange(true)) return {};
  auto flushed = buffer.flushAll();
  if (!flushed && flushed.error().retryable) {
    closed = false;  // what is buffered is not dropped
    return flushed;
  }
  buffer.stop();
  followers.wakeAll();  // they then see that the store is closed
  return flushed;
}

Result<void> SessionStore::flush() {
  return impl_->flush();
}

Result<void> SessionStore::close() {
  return impl_->close();
}

}  // namespace bough
