#include "bough/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/head.h"
#include "base/ids.h"
#include "base/json_grammar.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/timestamp.h"
#include "store/append_rules.h"
#include "store/attachment_reference.h"
#include "store/file_backend.h"
#include "store/header.h"
#include "store/memory_backend.h"
#include "store/session_store_impl.h"

namespace bough {

SessionStore::Impl::Impl(std::shared_ptr<StorageBackend> store, const StoreOptions& storeOptions, Environment& env)
    : backend(std::move(store)),
      options(storeOptions),
      environment(env),
      ids(env.clock, env.random),
      buffer([this](AppendRequest request) { return write(std::move(request)); }, storeOptions.bufferedEntries,
             storeOptions.bufferedMs) {}

SessionStore::SessionStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SessionStore::~SessionStore() {
  (void)close();
  // What could not be written is given up now; nobody may be at it when the rest goes.
  if (impl_ != nullptr) impl_->buffer.stop();
}

Result<std::unique_ptr<SessionStore>> SessionStore::Impl::open(std::shared_ptr<StorageBackend> backend,
                                                               const StoreOptions& options, Environment& environment) {
  // A store that can only be read is opened for that; its first append says why it cannot be written.
  if (auto reached = backend->probe(); !reached && reached.error().code != ErrorCode::ReadOnly) {
    return std::unexpected(reached.error());
  }
  return std::unique_ptr<SessionStore>(
      new SessionStore(std::make_unique<Impl>(std::move(backend), options, environment)));
}

Result<std::unique_ptr<SessionStore>> SessionStore::open(SessionStoreInit init) {
  if (!init.backend) return fail(ErrorCode::InvalidArgument, "a store needs a backend");
  return Impl::open(std::move(init.backend), init.options, systemEnvironment());
}

Result<std::unique_ptr<SessionStore>> SessionStore::open(const std::string& location, const StoreOptions& options) {
  if (location == "memory:") return open({.backend = makeMemoryBackend(), .options = options});
  if (location.starts_with("postgresql:") || location.starts_with("postgres:")) {
    return fail(ErrorCode::Unsupported, "this build of bough has no PostgreSQL backend", "use a folder");
  }
  auto backend = makeFileBackend(location, options);
  if (!backend) return std::unexpected(backend.error());
  return open({.backend = std::move(*backend), .options = options});
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
  if (auto open = checkOpen(); !open) return open;
  return buffer.hasAny() ? buffer.flush(sessionId) : Result<void>();
}

Result<SessionHandle> SessionStore::Impl::create(NewSession session, const std::optional<ForkOrigin>& origin) {
  if (auto open = checkOpen(); !open) return std::unexpected(open.error());
  if (session.sessionId.empty()) session.sessionId = ids.next();
  if (!session.key.empty() && !isSessionKey(session.key)) {
    return fail(ErrorCode::InvalidArgument, "the key is longer than 512 bytes, not UTF-8, or holds control characters",
                "keys look like agent:channel:peer");
  }
  const std::string now = formatTimestamp(environment.clock.nowMs());
  std::vector<Entry> entries(1);
  entries[0].id = ids.next();
  entries[0].type = entry_type::kSessionHeader;
  entries[0].timestamp = now;
  entries[0].payload = makeHeaderPayload(session, origin, backend->serializer().schemaVersion());
  if (!session.title.empty()) {
    Entry& info = entries.emplace_back();
    info.id = ids.next();
    info.parentId = origin ? origin->entryId : "";
    info.type = entry_type::kSessionInfo;
    info.timestamp = now;
    info.payload = "{\"title\":" + json::quoted(session.title) + "}";
  }
  if (auto made = backend->createSession(session.sessionId, entries); !made) return std::unexpected(made.error());
  return SessionHandle{.sessionId = session.sessionId, .schemaVersion = backend->serializer().schemaVersion()};
}

Result<SessionHandle> SessionStore::createSession(const NewSession& session) {
  return impl_->create(session, {});
}

Result<SessionHandle> SessionStore::branchFromEntry(const std::string& sessionId, const std::string& entryId,
                                                    const NewSession& session) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  // Held until the fork names it, so that it cannot be deleted in between; and durable by then.
  auto pin = impl_->backend->pin(sessionId, entryId);
  if (!pin) return std::unexpected(pin.error());
  auto entry = retryWhenChanged([&] { return impl_->storedEntry(sessionId, entryId); });
  if (!entry) return std::unexpected(entry.error());
  if (isControlType(entry->type) || entry->type == entry_type::kSessionHeader) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("entry {} is a {}: a fork cannot continue from it", entryId, entry->type),
                "name a message or another entry of the conversation");
  }
  return impl_->create(session, ForkOrigin{.sessionId = sessionId, .entryId = entryId});
}

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// What a line does not keep of a JSON text: the blanks around it. Gone at once, it is the same before and behind a
// line.
void trimBlanks(std::string& text) {
  if (text.empty() || (!json::isBlank(text.front()) && !json::isBlank(text.back()))) return;
  text.erase(text.find_last_not_of(kBlanks) + 1);
  text.erase(0, text.find_first_not_of(kBlanks));
}

bool isJsonObject(std::string_view text) {
  return text.starts_with('{') && json::check(text);
}

}  // namespace

Result<std::unique_ptr<Hold>> SessionStore::Impl::storeAttachments(std::vector<Entry>& entries) {
  std::unique_ptr<Hold> hold;
  for (Entry& entry : entries) {
    const bool large = entry.payload.size() > options.attachmentBytes && !isControlType(entry.type);
    if (!large && !looksLikeAttachmentReference(entry.payload)) continue;
    // What is no object stays where it is: the rules of an append refuse it, and say which entry it is.
    if (!isJsonObject(entry.payload)) continue;
    if (!hold) {
      auto held = backend->holdAttachments();
      if (!held) return held;
      hold = std::move(*held);
    }
    const std::string sha256 = Sha256::of(entry.payload);
    if (auto put = backend->putAttachment(sha256, entry.payload); !put) return std::unexpected(put.error());
    entry.payload = makeAttachmentReference(sha256, entry.payload.size());
  }
  return hold;
}

Result<std::shared_ptr<const ForkHistory>> SessionStore::Impl::historyOf(const std::string& sessionId,
                                                                         const std::optional<ForkOrigin>& origin) {
  if (!origin) return std::make_shared<const ForkHistory>();
  Histories& cache = *histories;
  {
    std::unique_lock lock(cache.mutex);
    const auto known = cache.known.find(sessionId);
    if (known != cache.known.end() && known->second.origin == *origin) {
      auto history = known->second.history;
      lock.unlock();
      if (history->isCurrent(*backend)) return history;
    }
  }
  auto made = ForkHistory::ofFork(*backend, sessionId, origin);
  if (!made) return std::unexpected(made.error());
  auto history = std::make_shared<const ForkHistory>(std::move(*made));
  const std::lock_guard lock(cache.mutex);
  if (cache.known.size() >= kMaxKnownHistories) cache.known.clear();
  cache.known.insert_or_assign(sessionId, KnownHistory{.origin = *origin, .history = history});
  return history;
}

Result<std::shared_ptr<const ForkHistory>> SessionStore::Impl::historyOf(const std::string& sessionId) {
  // After a look at the session, its origin is not one that was read from a file that is gone.
  if (auto looked = backend->numbering(sessionId); !looked) return std::unexpected(looked.error());
  auto origin = backend->origin(sessionId);
  if (!origin) return std::unexpected(origin.error());
  return historyOf(sessionId, *origin);
}

Result<void> SessionStore::Impl::findShared(AppendRequest& request) {
  auto origin = backend->origin(request.sessionId);
  if (!origin) return std::unexpected(origin.error());
  request.origin = std::move(*origin);
  request.shared = nullptr;
  if (!request.origin) return {};
  auto history = historyOf(request.sessionId, request.origin);
  if (!history) {
    // The origin may have been read from a file that was replaced since: the session is detached by now.
    if (auto looked = backend->numbering(request.sessionId); !looked) return std::unexpected(looked.error());
    auto now = backend->origin(request.sessionId);
    if (!now) return std::unexpected(now.error());
    if (*now == request.origin) return std::unexpected(history.error());
    request.origin = std::move(*now);
    if (!request.origin) return {};
    history = historyOf(request.sessionId, request.origin);
    if (!history) return std::unexpected(history.error());
  }
  request.shared = [this, shared = std::move(*history)](std::string_view id) -> Result<std::optional<Entry>> {
    return retryWhenChanged([&]() -> Result<std::optional<Entry>> {
      auto place = shared->find(*backend, id);
      if (!place) return std::unexpected(place.error());
      if (!*place) return std::nullopt;
      auto entries = shared->read(*backend, **place, 1);
      if (!entries) return std::unexpected(entries.error());
      return std::move(entries->front());
    });
  };
  return {};
}

namespace {

// What a batch is checked against while it is buffered: what is stored, and what waits before it.
class BufferedView final : public LogView {
 public:
  BufferedView(StorageBackend& backend, const SessionState& state, const std::vector<Entry>& waiting)
      : backend_(backend),
        sessionId_(state.sessionId),
        waiting_(waiting),
        tailId_(state.tailId),
        headId_(state.headId) {
    for (const Entry& entry : waiting_) {
      tailId_ = entry.id;
      std::string moved;
      if (const auto head = headAfter(entryKind(entry.type), entry.id, entry.payload, moved)) headId_ = *head;
    }
  }

  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    const auto mine = std::ranges::find(waiting_, id, &Entry::id);
    if (mine != waiting_.end()) return *mine;
    auto sequence = backend_.sequenceOf(sessionId_, id);
    if (!sequence) return std::unexpected(sequence.error());
    if (!*sequence) return std::nullopt;
    const std::uint64_t wanted[] = {**sequence};
    auto entries = backend_.read(sessionId_, wanted);
    if (!entries) return std::unexpected(entries.error());
    return std::move(entries->front());
  }
  Result<bool> contains(std::string_view id) override {
    if (std::ranges::find(waiting_, id, &Entry::id) != waiting_.end()) return true;
    auto sequence = backend_.sequenceOf(sessionId_, id);
    if (!sequence) return std::unexpected(sequence.error());
    return sequence->has_value();
  }
  [[nodiscard]] std::string_view tailId() const override { return tailId_; }
  [[nodiscard]] std::string_view headId() override { return headId_; }

 private:
  StorageBackend& backend_;
  std::string sessionId_;
  const std::vector<Entry>& waiting_;
  std::string tailId_;
  std::string headId_;
};

}  // namespace

Result<AppendResult> SessionStore::Impl::write(AppendRequest request) {
  return retryWhenChanged([&]() -> Result<AppendResult> {
    if (auto known = findShared(request); !known) return std::unexpected(known.error());
    return backend->append(request);
  });
}

Result<AppendResult> SessionStore::Impl::append(AppendRequest request, Durability durability) {
  // Comparing the tail needs the log itself, and an attachment is safe only once an entry names it: such a batch is
  // written at once, behind all that waits.
  const bool atOnce = durability == Durability::Sync || request.expectedTail;
  if (atOnce) {
    if (auto flushed = readyToRead(request.sessionId); !flushed) return std::unexpected(flushed.error());
  }
  auto hold = storeAttachments(request.entries);
  if (!hold) return std::unexpected(hold.error());
  if (*hold && !atOnce) {
    if (auto flushed = readyToRead(request.sessionId); !flushed) return std::unexpected(flushed.error());
  }
  if (*hold || atOnce) return write(std::move(request));
  if (auto known = findShared(request); !known) return std::unexpected(known.error());
  return buffer.accept(request.sessionId, [&](std::vector<Entry>& waiting) -> Result<AppendResult> {
    // Again, under the lock that a closing flush waits for: what it does not see would be lost.
    if (auto open = checkOpen(); !open) return std::unexpected(open.error());
    auto state = backend->state(request.sessionId);
    if (!state) return std::unexpected(state.error());
    const EntrySerializer& serializer = backend->serializer();
    if (state->format != serializer.schemaVersion()) return backend->append(request);  // says what is wrong with it
    BufferedView view(*backend, *state, waiting);
    NewLines lines;
    auto prepared = prepareBatch(view, request, serializer, ids, environment.clock, lines);
    if (!prepared) return prepared;
    std::vector<Entry> batch;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto entry = serializer.decode(lines[i].text());
      if (!entry) return std::unexpected(entry.error());
      batch.push_back(std::move(*entry));
    }
    std::ranges::move(batch, std::back_inserter(waiting));
    return prepared;
  });
}

Result<AppendResult> SessionStore::appendSessionEntries(const std::string& sessionId, std::vector<Entry> entries,
                                                        const AppendOptions& options) {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  for (Entry& entry : entries) {
    for (std::string* text : {&entry.payload, &entry.meta, &entry.extra}) trimBlanks(*text);
  }
  return impl_->append({.sessionId = sessionId,
                        .entries = std::move(entries),
                        .expectedTail = options.expectedTail,
                        .origin = {},
                        .shared = {}},
                       options.durability.value_or(impl_->options.durability));
}

// What may be the head, labelled or redacted is for the rules of an append to say (append_rules.h).
Result<AppendResult> SessionStore::moveHead(const std::string& sessionId, const std::string& entryId) {
  Entry head;
  head.type = entry_type::kHead;
  head.payload = headPayload(entryId);
  return appendSessionEntries(sessionId, {std::move(head)});
}

Result<AppendResult> SessionStore::redactEntry(const std::string& sessionId, const std::string& entryId,
                                               const std::string& by, const std::string& reason) {
  Entry redaction;
  redaction.type = entry_type::kRedaction;
  json::Writer writer(redaction.payload);
  writer.beginObject().member("entryId", entryId).member("by", by).member("reason", reason).endObject();
  return appendSessionEntries(sessionId, {std::move(redaction)});
}

Result<std::vector<std::string>> SessionStore::listSessions() {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  return impl_->backend->listSessions();
}

std::string SessionStore::folder() const {
  return impl_->backend->folder();
}

Result<ChangeSet> SessionStore::changesSince(std::string_view token) {
  if (auto flushed = flush(); !flushed) return std::unexpected(flushed.error());
  return impl_->backend->changesSince(token);
}

std::uint32_t SessionStore::changeGroup(std::string_view sessionId) const {
  return impl_->backend->changeGroup(sessionId);
}

Result<std::string> SessionStore::sessionStamp(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return impl_->backend->stamp(sessionId);
}

Result<SessionState> SessionStore::sessionState(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return impl_->backend->state(sessionId);
}

Result<ArchiveResult> SessionStore::archiveSession(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  auto sizes = impl_->backend->archive(sessionId);
  if (!sizes) return std::unexpected(sizes.error());
  return ArchiveResult{.sessionId = sessionId, .bytesBefore = sizes->plainBytes, .bytesAfter = sizes->packedBytes};
}

Result<MigrationResult> SessionStore::migrateSession(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return impl_->backend->migrate(sessionId);
}

Result<VerifyReport> SessionStore::verifySession(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return impl_->backend->verify(sessionId);
}

Result<RepairReport> SessionStore::repairSession(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return impl_->backend->repair(sessionId);
}

Result<void> SessionStore::exportSession(const std::string& sessionId,
                                         const std::function<bool(std::string_view)>& line) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return ready;
  return impl_->backend->exportLines(sessionId, line);
}

Result<void> SessionStore::flush() {
  if (auto open = impl_->checkOpen(); !open) return open;
  return impl_->buffer.flushAll();
}

Result<void> SessionStore::close() {
  if (impl_ == nullptr) return {};
  const std::lock_guard one(*impl_->closing);  // a second one waits for what becomes of the first
  if (impl_->closed.exchange(true)) return {};
  auto flushed = impl_->buffer.flushAll();
  if (!flushed && flushed.error().retryable) {
    impl_->closed = false;  // what waits is not given up
    return flushed;
  }
  impl_->buffer.stop();
  return flushed;
}

}  // namespace bough
