#include "store/file_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ranges>
#include <unordered_set>

#include "base/file_io.h"
#include "base/json_scan.h"
#include "log/new_file.h"
#include "store/append_rules.h"
#include "store/header.h"
#include "store/rules_work.h"

namespace bough {
namespace {

constexpr std::size_t kMaxOpenLogs = 128;
constexpr std::size_t kMaxTraces = 4096;

class FileWatcher final : public ChangeWatcher {
 public:
  FileWatcher(std::unique_ptr<Watcher> watcher, std::string path)
      : watcher_(std::move(watcher)), path_(std::move(path)) {}
  Result<bool> wait(int timeoutMs) override { return orError(watcher_->wait(timeoutMs), "watch", path_); }
  void wake() override { watcher_->wake(); }

 private:
  std::unique_ptr<Watcher> watcher_;
  std::string path_;
};

std::size_t weightOf(const std::vector<Entry>& entries) {
  std::size_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.payload.size() + entry.meta.size() + entry.extra.size() + 256;
  return bytes;
}

Result<std::shared_ptr<Directory>> makeFolder(Directory& parent, std::string_view name, bool create) {
  auto folder = parent.openDirectory(name, create);
  const std::string path = fmt::format("{}/{}", parent.path(), name);
  if (!folder) return std::unexpected(systemError(folder.error(), "open", path));
  return std::shared_ptr<Directory>(std::move(*folder));
}

}  // namespace

Result<void> checkSessionId(const std::string& sessionId) {
  if (isSessionId(sessionId)) return {};
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is no session id", sessionId.substr(0, 120)),
              "session ids are 1 to 100 of [A-Za-z0-9._-] without a leading dot");
}

FileBackend::FileBackend(std::shared_ptr<Directory> root, LogFolders folders, const StoreOptions& options,
                         const EntrySerializer& serializer, Environment& environment)
    : root_(std::move(root)),
      folders_(std::move(folders)),
      options_(options),
      serializer_(serializer),
      environment_(environment),
      ids_(environment.clock, environment.random),
      attachments_(root_, environment, options.lockTimeoutMs),
      changes_(root_, environment) {}

Result<std::shared_ptr<FileBackend>> FileBackend::open(const std::string& folder, const StoreOptions& options,
                                                       const EntrySerializer& serializer, Environment& environment) {
  auto root = environment.files.openRoot(folder, options.create);
  if (!root && root.error() == ENOENT) {
    return fail(ErrorCode::NotFound, fmt::format("there is no store at {}", folder),
                "`bough new` makes one; --store or BOUGH_STORE names another");
  }
  if (!root && root.error() == ENOTDIR) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is no folder", folder), "name a folder");
  }
  if (!root) return std::unexpected(systemError(root.error(), "open the store", folder));
  std::shared_ptr<Directory> store = std::move(*root);

  // A store that cannot be written to is opened for reading, with the folders that it has.
  const bool create = options.create && store->checkWritable().has_value();
  LogFolders folders;
  auto sessions = makeFolder(*store, "sessions", create);
  if (!sessions && sessions.error().code == ErrorCode::NotFound) {
    return fail(ErrorCode::NotFound, fmt::format("{} is no store: it has no folder `sessions`", folder),
                "`bough new` makes one; --store or BOUGH_STORE names another");
  }
  if (!sessions) return std::unexpected(sessions.error());
  folders.sessions = std::move(*sessions);
  auto archive = makeFolder(*store, "archive", create);
  if (archive) folders.archive = std::move(*archive);
  auto attachments = makeFolder(*store, "attachments", create);
  for (const auto* made : {&archive, &attachments}) {
    if (!*made && made->error().code != ErrorCode::NotFound) return std::unexpected(made->error());
  }
  return std::shared_ptr<FileBackend>(
      new FileBackend(std::move(store), std::move(folders), options, serializer, environment));
}

Result<void> FileBackend::probe() {
  return orError(folders_.sessions->checkWritable(), "write to", folders_.sessions->path());
}

// Before anything is acknowledged that lies in the store's folders, their names are durable. Not only who makes them
// sees to that: it may have died in between.
Result<void> FileBackend::settleFolders() {
  if (foldersSynced_) return {};
  if (auto synced = root_->sync(); !synced) return orError(std::move(synced), "sync", root_->path());
  foldersSynced_ = true;
  return {};
}

Result<void> FileBackend::putAttachment(const std::string& sha256, std::string_view bytes) {
  if (auto settled = settleFolders(); !settled) return settled;
  return attachments_.put(sha256, bytes);
}

Result<std::shared_ptr<SessionLog>> FileBackend::log(const std::string& sessionId) {
  OpenLogs& cache = *openLogs_;
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  std::optional<SessionLog::Trace> before;
  {
    const std::lock_guard lock(cache.mutex);
    if (const auto cached = cache.logs.find(sessionId); cached != cache.logs.end()) {
      cache.recent.splice(cache.recent.begin(), cache.recent, cached->second.place);
      return cached->second.log;
    }
    if (const auto trace = cache.traces.find(sessionId); trace != cache.traces.end()) before = trace->second;
  }
  // Without the lock: a first index may take a while, and other sessions should not wait for it.
  auto opened =
      SessionLog::open(folders_, sessionId, serializer_, environment_,
                       {.lockTimeoutMs = options_.lockTimeoutMs,
                        .writeIndex = writeIndex_,
                        .mayAppend = [this, sessionId](const FirstLine& line) -> Result<void> {
                          auto first = serializer_.decode(line.text);
                          if (!first) return std::unexpected(first.error());
                          return checkFormat(*first, sessionId, line.path, line.offset, serializer_.schemaVersion());
                        },
                        .before = before});
  if (!opened) return opened;
  makeRoom();
  const std::lock_guard lock(cache.mutex);
  if (const auto cached = cache.logs.find(sessionId); cached != cache.logs.end()) return cached->second.log;
  cache.recent.push_front(sessionId);
  cache.logs.emplace(
      sessionId,
      CachedLog{.log = *opened, .place = cache.recent.begin(), .changeGroup = ChangeMap::groupOf(sessionId)});
  return opened;
}

// Closes the log that was not used for the longest time, if nobody is using it. Its trace is taken without our lock:
// whoever holds a log's may be waiting for that.
void FileBackend::makeRoom() {
  OpenLogs& cache = *openLogs_;
  std::shared_ptr<SessionLog> log;
  {
    const std::lock_guard lock(cache.mutex);
    if (cache.logs.size() < kMaxOpenLogs) return;
    const auto isIdle = [&](const std::string& id) { return cache.logs.find(id)->second.log.use_count() == 1; };
    auto oldestFirst = std::views::reverse(cache.recent);
    const auto oldest = std::ranges::find_if(oldestFirst, isIdle);
    if (oldest == oldestFirst.end()) return;
    const auto cached = cache.logs.find(*oldest);
    log = std::move(cached->second.log);
    cache.recent.erase(cached->second.place);
    cache.logs.erase(cached);
  }
  const auto trace = log->trace();
  if (!trace) return;
  const std::lock_guard lock(cache.mutex);
  if (cache.traces.size() >= kMaxTraces) cache.traces.clear();
  cache.traces.insert_or_assign(log->sessionId(), *trace);
}

void FileBackend::forget(const std::string& sessionId) {
  OpenLogs& cache = *openLogs_;
  const std::lock_guard lock(cache.mutex);
  const auto cached = cache.logs.find(sessionId);
  if (cached == cache.logs.end()) return;
  cache.recent.erase(cached->second.place);
  cache.logs.erase(cached);
}

Result<std::vector<std::string>> FileBackend::listSessions() {
  constexpr std::string_view kEndings[] = {".jsonl", ".jsonl.zst", ".jsonl.gz"};
  std::unordered_set<std::string> ids;
  for (const auto& folder : {folders_.sessions, folders_.archive}) {
    if (!folder) continue;
    auto names = folder->list();
    if (!names) return std::unexpected(systemError(names.error(), "list", folder->path()));
    for (const std::string& name : *names) {
      for (const std::string_view ending : kEndings) {
        if (!name.ends_with(ending)) continue;
        std::string id = name.substr(0, name.size() - ending.size());
        if (isSessionId(id)) ids.insert(std::move(id));
        break;
      }
    }
  }
  std::vector<std::string> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  return sorted;
}

Result<void> FileBackend::createSession(const std::string& sessionId, const std::vector<Entry>& entries) {
  if (auto valid = checkSessionId(sessionId); !valid) return valid;
  const auto exists = [&] {
    return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", sessionId),
                "choose another id, or append to that one");
  };
  const auto found = openLog(folders_, sessionId);
  if (found) return exists();
  if (found.error().code != ErrorCode::NotFound) return std::unexpected(found.error());
  auto lines = prepareFirstBatch(entries, serializer_);
  if (!lines) return std::unexpected(lines.error());
  if (auto settled = settleFolders(); !settled) return settled;
  std::string bytes;
  SealDigits seal;
  const auto count = static_cast<std::uint32_t>(lines->size());
  for (std::uint32_t i = 0; i < count; ++i) seal = appendSealedLine(bytes, (*lines)[i].text(), seal, i + 1, count);

  const ChangeMark mark(changes_, sessionId, ChangeKind::Names);
  // Two that make the same session at once each write their own file; the name goes to the first.
  const std::string temporary = fmt::format("{}.{:016x}", logName(sessionId), environment_.random.next());
  NewFile file(*folders_.sessions, temporary);
  auto made = file.create();
  if (made) made = file.add(bytes);
  if (made) made = file.sync();
  if (!made) return made;
  auto placed = file.placeNewAs(logName(sessionId));
  if (!placed && placed.error().code == ErrorCode::AlreadyExists) return exists();
  return placed;
}

Result<Entry> FileBackend::header(const std::string& sessionId) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto first = (*session)->header();
  if (!first) return std::unexpected(first.error());
  return serializer_.decode(first->text);
}

// Without a look at the file when nothing hints that it is another one: an append finds out under its lock.
Result<std::optional<ForkOrigin>> FileBackend::origin(const std::string& sessionId) {
  OpenLogs& cache = *openLogs_;
  {
    const std::lock_guard lock(cache.mutex);
    const auto cached = cache.logs.find(sessionId);
    if (cached != cache.logs.end() && cached->second.originGeneration == cached->second.log->generation()) {
      return cached->second.origin;
    }
  }
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto first = (*session)->header();
  if (!first) return std::unexpected(first.error());
  auto entry = serializer_.decode(first->text);
  if (!entry) return std::unexpected(entry.error());
  std::optional<ForkOrigin> origin = readHeader(*entry).origin;
  const std::lock_guard lock(cache.mutex);
  if (const auto cached = cache.logs.find(sessionId); cached != cache.logs.end() && cached->second.log == *session) {
    cached->second.originGeneration = first->generation;
    cached->second.origin = origin;
  }
  return origin;
}

// Where a request goes. The generation is that of the log whose origin the request has been prepared for.
Result<FileBackend::Target> FileBackend::target(const AppendRequest& request) {
  OpenLogs& cache = *openLogs_;
  for (int tries = 0; tries < 2; ++tries) {
    {
      const std::lock_guard lock(cache.mutex);
      const auto cached = cache.logs.find(request.sessionId);
      if (cached != cache.logs.end() && cached->second.originGeneration != 0) {
        cache.recent.splice(cache.recent.begin(), cache.recent, cached->second.place);
        const bool known = cached->second.origin == request.origin;
        return Target{.log = cached->second.log,
                      .generation = known ? cached->second.originGeneration : 0,
                      .changeGroup = cached->second.changeGroup};
      }
    }
    // It was closed since, while the history of a fork was looked through.
    if (auto read = origin(request.sessionId); !read) return std::unexpected(read.error());
  }
  return changedWhileRead("session " + request.sessionId);
}

Result<SessionState> FileBackend::stateOf(const Result<std::shared_ptr<SessionLog>>& log) {
  if (!log) return std::unexpected(log.error());
  auto header = (*log)->header();
  if (!header) return std::unexpected(header.error());
  auto first = serializer_.decode(header->text);
  if (!first) return std::unexpected(first.error());
  auto summary = (*log)->summary();
  if (!summary) return std::unexpected(summary.error());
  HeaderInfo info = readHeader(*first);
  return SessionState{.sessionId = (*log)->sessionId(),
                      .entryCount = summary->count,
                      .tailId = std::move(summary->tailId),
                      .headId = std::move(summary->headId),
                      .origin = std::move(info.origin),
                      .format = info.format,
                      .archived = summary->form != LogForm::Plain,
                      .bytes = summary->bytes,
                      .trailingBytes = summary->trailingBytes,
                      .problemCount = summary->problemCount};
}

Result<AppendResult> FileBackend::append(AppendRequest& request) {
  auto to = target(request);
  if (!to) return std::unexpected(to.error());
  if (auto settled = settleFolders(); !settled) return std::unexpected(settled.error());
  ChangeMark mark(changes_, to->changeGroup);
  RulesWork work(request, to->generation, mark, serializer_, ids_, environment_.clock);
  to->log->append(work, weightOf(request.entries));
  return work.take();
}

Result<std::optional<std::uint64_t>> FileBackend::sequenceOf(const std::string& sessionId, std::string_view entryId) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto ordinal = (*session)->find(entryId);
  if (!ordinal) return std::unexpected(ordinal.error());
  if (!*ordinal) return std::nullopt;
  return std::uint64_t{**ordinal};
}

Result<std::vector<std::uint64_t>> FileBackend::select(const std::string& sessionId, const Selection& selection) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  const auto from = static_cast<Ordinal>(std::min<std::uint64_t>(selection.fromSequence, kElsewhere));
  const bool unknownType = !selection.type.empty() && entryKind(selection.type) == EntryKind::Other;
  std::optional<EntryKind> kind;
  if (!selection.type.empty()) kind = entryKind(selection.type);
  auto found = (*session)->select(from, unknownType ? SIZE_MAX : selection.limit, kind, selection.newestFirst);
  if (!found) return std::unexpected(found.error());
  std::vector<std::uint64_t> sequences(found->begin(), found->end());
  if (!unknownType) return sequences;
  // The index does not tell types apart that bough does not know; their lines do.
  auto entries = read(sessionId, sequences);
  if (!entries) return std::unexpected(entries.error());
  std::vector<std::uint64_t> matching;
  for (std::size_t i = 0; i < entries->size() && matching.size() < selection.limit; ++i) {
    if ((*entries)[i].type == selection.type) matching.push_back(sequences[i]);
  }
  return matching;
}

Result<std::vector<std::uint64_t>> FileBackend::controls(const std::string& sessionId) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto found = (*session)->controls();
  if (!found) return std::unexpected(found.error());
  return std::vector<std::uint64_t>(found->begin(), found->end());
}

Result<BranchPart> FileBackend::branch(const std::string& sessionId, std::uint64_t leaf, std::size_t limit) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  auto path = (*session)->branch(static_cast<Ordinal>(leaf), limit);
  if (!path) return std::unexpected(path.error());
  return BranchPart{.sequences = {path->ordinals.begin(), path->ordinals.end()},
                    .continuesAt = std::move(path->continuesAt)};
}

Result<std::vector<Entry>> FileBackend::read(const std::string& sessionId, std::span<const std::uint64_t> sequences) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  std::vector<Ordinal> ordinals;
  ordinals.reserve(sequences.size());
  for (const std::uint64_t sequence : sequences) ordinals.push_back(static_cast<Ordinal>(sequence));
  return (*session)->readEntries(ordinals);
}

Result<void> FileBackend::exportLines(const std::string& sessionId, const std::function<bool(std::string_view)>& line) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  return (*session)->readAll([&](Ordinal, const std::string& text) { return line(text); });
}

Result<std::unique_ptr<ChangeWatcher>> FileBackend::watch(const std::string& sessionId) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  const std::string path = folders_.sessions->path() + "/" + logName(sessionId);
  auto watcher = folders_.sessions->watch(logName(sessionId));
  if (!watcher) return std::unexpected(systemError(watcher.error(), "watch", path));
  return std::make_unique<FileWatcher>(std::move(*watcher), path);
}

Result<std::shared_ptr<StorageBackend>> makeFileBackend(const std::string& folder, const StoreOptions& options,
                                                        const EntrySerializer& serializer) {
  auto backend = FileBackend::open(folder, options, serializer, systemEnvironment());
  if (!backend) return std::unexpected(backend.error());
  return std::shared_ptr<StorageBackend>(std::move(*backend));
}

}  // namespace bough
