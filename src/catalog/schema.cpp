#include "catalog/schema.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/system/environment.h"
#include "base/system/file_io.h"
#include "base/system/file_system.h"
#include "base/system/process_state.h"
#include "base/try.h"
#include "catalog/database/list_order.h"
#include "catalog/search/search_index.h"

namespace bough::catalog {
namespace {

// session: one row per session. The counts cover `taken` entries, and the search index covers `indexed`. `lastId` is
// the last entry taken; it proves that the log is still the same. `countedBytes` is the end of the log's last complete
// batch. `lostId` was the last of `lostEntries` entries of the same log, which no longer contains it. The store
// reads these columns through the view `counted` (store/file/parts/catalog_row.h). The row number of an entry is
// session.id
// << 32 | its sequence, and no session.id is used twice; see search_index.h.
//
// answer: the cost of each answer, in each session that contains it. `id` is a hash of its identity, `first` the
// sequence of its first entry. Sums count each id once.
//
// used: the sums of answers by quarter of an hour and model, so that a query does not have to sum all answers
// (maintained by answers.h). When a second session gets a copy of an answer, the answer is subtracted from the sums and
// added to `copied`, because which copy counts depends on the sessions in the query. It stays there when the copies are
// removed. An answer without usage is also in `copied`, so that such answers can be counted.
constexpr const char* kTables = R"sql(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE session(
  id INTEGER PRIMARY KEY AUTOINCREMENT, sessionId TEXT NOT NULL UNIQUE, changeGroup INTEGER NOT NULL, stamp TEXT NOT NULL,
  headerId TEXT NOT NULL, lastId TEXT NOT NULL, taken INTEGER NOT NULL, indexed INTEGER NOT NULL,
  key TEXT NOT NULL, agent TEXT NOT NULL, writtenBy TEXT NOT NULL, cwd TEXT NOT NULL, originSession TEXT NOT NULL, originEntry TEXT NOT NULL,
  title TEXT NOT NULL, titleSource INTEGER NOT NULL, titleEntry TEXT NOT NULL,
  createdMs INTEGER NOT NULL, firstMs INTEGER NOT NULL, activeMs INTEGER NOT NULL,
  users INTEGER NOT NULL, assistants INTEGER NOT NULL, tools INTEGER NOT NULL, systems INTEGER NOT NULL,
  calls INTEGER NOT NULL, failures INTEGER NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cacheRead INTEGER NOT NULL, cacheWrite INTEGER NOT NULL,
  reasoning INTEGER NOT NULL, cacheWriteHour INTEGER NOT NULL, lastMessageId TEXT NOT NULL, lastModel TEXT NOT NULL,
  entries INTEGER NOT NULL, bytes INTEGER NOT NULL, branches INTEGER NOT NULL, headId TEXT NOT NULL,
  condition INTEGER NOT NULL, problem TEXT NOT NULL, pinned INTEGER NOT NULL, timeToLiveMs INTEGER,
  countedBytes INTEGER NOT NULL, lostId TEXT NOT NULL, lostEntries INTEGER NOT NULL);
CREATE VIEW counted AS SELECT sessionId, headerId, lastId, taken AS entries, countedBytes AS bytes, lostId, lostEntries
  FROM session;
CREATE INDEX sessionByKey ON session(key, createdMs DESC, sessionId DESC) WHERE key <> '';
CREATE INDEX sessionByName ON session(activeMs DESC, sessionId DESC, title) WHERE titleSource > 1;
CREATE INDEX sessionByGroup ON session(changeGroup);
CREATE INDEX sessionByCondition ON session(condition, activeMs DESC, sessionId DESC);
CREATE INDEX sessionByProblem ON session(activeMs DESC, sessionId DESC) WHERE problem <> '';
CREATE INDEX sessionByAgent ON session(agent, activeMs DESC, sessionId DESC) WHERE agent <> '';
CREATE INDEX sessionByFolder ON session(cwd, activeMs DESC, sessionId DESC);
CREATE INDEX sessionByKeyAndTime ON session(key, activeMs DESC, sessionId DESC) WHERE key <> '';
CREATE INDEX sessionToIndex ON session(id) WHERE indexed < taken;
CREATE TABLE branch(session INTEGER, number INTEGER, tipId TEXT NOT NULL, openCalls TEXT NOT NULL,
  PRIMARY KEY(session, number)) WITHOUT ROWID;
CREATE TABLE redacted(session INTEGER, entryId TEXT, PRIMARY KEY(session, entryId)) WITHOUT ROWID;
CREATE TABLE model(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE answer(session INTEGER, id INTEGER, first INTEGER NOT NULL, branch INTEGER NOT NULL,
  quarter INTEGER NOT NULL, model INTEGER NOT NULL, certain INTEGER NOT NULL, input INTEGER NOT NULL,
  output INTEGER NOT NULL, cacheRead INTEGER NOT NULL, cacheWrite INTEGER NOT NULL, reasoning INTEGER NOT NULL,
  cacheWriteHour INTEGER NOT NULL, PRIMARY KEY(session, id)) WITHOUT ROWID;
CREATE INDEX answerById ON answer(id);
CREATE TABLE copied(id INTEGER PRIMARY KEY);
CREATE TABLE used(quarter INTEGER, model INTEGER, answers INTEGER NOT NULL, uncertain INTEGER NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cacheRead INTEGER NOT NULL, cacheWrite INTEGER NOT NULL,
  reasoning INTEGER NOT NULL, cacheWriteHour INTEGER NOT NULL, PRIMARY KEY(quarter, model)) WITHOUT ROWID;
CREATE TABLE entry(id INTEGER PRIMARY KEY, entryId TEXT NOT NULL, role INTEGER NOT NULL, timeMs INTEGER NOT NULL,
  digest INTEGER NOT NULL);
)sql";

constexpr const char* kAllTables[] = {"search",   "entry",  "answer",  "used", "copied",  "usage",   "model",
                                      "redacted", "branch", "session", "meta", "outside", "waiting", "keptCounts"};

std::string versionPragma() {
  return fmt::format("PRAGMA user_version = {};", kSchemaVersion);
}

int versionOf(Database& database) {
  Query version(database, "PRAGMA user_version");
  return version.next() ? static_cast<int>(version.integer(0)) : 0;
}

// Saves what a catalog of another version, or one emptied by an erasure, had counted of a store's logs. Not for files
// of other agents, which have no logs.
bool saveCounts(Database& database) {
  {
    Query columns(database,
                  "SELECT count(*) FROM pragma_table_info('counted') WHERE name IN "
                  "('sessionId', 'headerId', 'lastId', 'entries', 'bytes', 'lostId', 'lostEntries')");
    constexpr std::int64_t kColumns = 7;
    if (!columns.next() || columns.integer(0) != kColumns) return false;
  }
  Query outside(database, "SELECT 1 FROM sqlite_schema WHERE name = 'outside'");
  if (outside.next()) return false;
  database.execute(
      "CREATE TEMP TABLE kept AS SELECT sessionId, headerId, lastId, entries, bytes, lostId, lostEntries FROM counted");
  return true;
}

// Creates rows that contain only these counts; everything else is read again.
void restoreCounts(Database& database) {
  database.execute(fmt::format(
      "INSERT OR IGNORE INTO session(sessionId, stamp, headerId, lastId, taken, indexed, countedBytes, lostId, "
      "lostEntries, changeGroup, key, agent, writtenBy, cwd, originSession, originEntry, title, titleSource, "
      "titleEntry, createdMs, firstMs, activeMs, users, assistants, tools, systems, calls, failures, input, output, "
      "cacheRead, cacheWrite, reasoning, cacheWriteHour, lastMessageId, lastModel, entries, bytes, branches, headId, "
      "condition, problem, pinned) SELECT sessionId, '{}', headerId, lastId, entries, entries, bytes, lostId, "
      "lostEntries, 0, '', '', '', '', '', '', '', 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0, "
      "0, '', 0, '', 0 FROM kept; DROP TABLE kept",
      kCarriedStamp));
}

// Creates the tables unless another process was first. The counts of the old catalog are carried over, because they may
// be the only proof that the last batch of a log was complete.
Result<void> makeTables(Database& database, bool memory) {
  if (!memory) database.execute("PRAGMA journal_mode = WAL");
  Transaction transaction(database);
  if (versionOf(database) != kSchemaVersion) {
    const bool keeps = !memory && saveCounts(database);
    resetSchema(database);
    if (keeps) restoreCounts(database);
  }
  return transaction.commit();
}

Result<OpenedCatalog> inMemory(const CatalogOptions& options, std::string note) {
  BOUGH_TRY(auto database, Database::open("in memory", OpenAs::Memory, options.busyTimeoutMs));
  BOUGH_TRY(prepareSearch(*database));
  BOUGH_TRY(makeTables(*database, true));
  OpenedCatalog opened{
      .database = std::move(database), .memory = true, .readOnly = false, .immutableState = {}, .notes = {}};
  if (!note.empty()) opened.notes.push_back(std::move(note));
  return opened;
}

std::optional<FileState> stateIn(Directory& root) {
  const auto info = root.info(kFileName);
  if (!info || !info->isRegular) return std::nullopt;
  return FileState{.inode = info->identity.inode, .sizeBytes = info->sizeBytes, .modifiedNs = info->modifiedNs};
}

// No process may be writing to a file that is opened as immutable, so the WAL must be empty.
Result<OpenedCatalog> openForReading(const std::string& folder, Directory& root, const CatalogOptions& options) {
  const std::string path = folder + "/" + kFileName;
  const auto log = root.info("catalog.db-wal");
  const bool isWalEmpty = !log || log->sizeBytes == 0;
  const auto state = stateIn(root);
  for (const OpenAs as : {OpenAs::ReadOnly, OpenAs::Immutable}) {
    if (as == OpenAs::Immutable && !isWalEmpty) break;
    auto database = Database::open(path, as, options.busyTimeoutMs);
    if (!database || !prepareSearch(**database)) continue;
    const int version = versionOf(**database);
    if (!(*database)->takeFailure() || version != kSchemaVersion) continue;
    return OpenedCatalog{.database = std::move(*database),
                         .memory = false,
                         .readOnly = true,
                         .immutableState = as == OpenAs::Immutable ? state : std::nullopt,
                         .notes = {}};
  }
  return inMemory(options, fmt::format("{} cannot be written to and holds no catalog that can be used: it is "
                                       "rebuilt in memory each time",
                                       folder));
}

// While there is no WAL, the file itself contains everything and no process has it open for writing. A later write
// changes the file's modification time, provided that the file system's clock has advanced since the last write.
std::optional<OpenedCatalog> openImmutable(const std::string& folder, Directory& root, const CatalogOptions& options) {
  constexpr std::uint64_t kTickMs = 20;
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  const auto log = root.info("catalog.db-wal");
  if (log || log.error() != ENOENT) return std::nullopt;
  const auto state = stateIn(root);
  const std::uint64_t nowMs = systemEnvironment().clock.nowMs();
  if (!state || state->modifiedNs / kNsPerMs + kTickMs >= nowMs) return std::nullopt;
  auto database = Database::open(folder + "/" + kFileName, OpenAs::Immutable, options.busyTimeoutMs);
  if (!database) return std::nullopt;
  const int version = versionOf(**database);
  if (!(*database)->takeFailure() || version != kSchemaVersion) return std::nullopt;
  return OpenedCatalog{
      .database = std::move(*database), .memory = false, .readOnly = false, .immutableState = state, .notes = {}};
}

Result<OpenedCatalog> openForWriting(const std::string& path, const CatalogOptions& options, bool replaceNewer) {
  BOUGH_TRY(auto database, Database::open(path, OpenAs::ReadWrite, options.busyTimeoutMs));
  if (sqlite3_db_readonly(database->handle(), "main") == 1) {
    return fail(ErrorCode::ReadOnly, fmt::format("{} cannot be written to", path));
  }
  BOUGH_TRY(prepareSearch(*database));
  // Deleted text is overwritten, because it may have been redacted.
  database->execute("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON;");
  const int version = versionOf(*database);
  BOUGH_TRY(database->takeFailure());
  if (version > kSchemaVersion && !replaceNewer) {
    return inMemory(options, fmt::format("{} was made by a newer bough: it is left alone, and a catalog is built "
                                         "in memory; upgrade bough, or `bough reindex` to replace it",
                                         path));
  }
  if (version != kSchemaVersion) {
    BOUGH_TRY(makeTables(*database, false));
  }
  return OpenedCatalog{
      .database = std::move(database), .memory = false, .readOnly = false, .immutableState = {}, .notes = {}};
}

// Retries, because SQLite does not wait for some locks itself: those for opening and closing the WAL.
Result<OpenedCatalog> openWithRetries(const std::string& path, const CatalogOptions& options, bool replaceNewer) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause(5);
  const auto end = steady_clock::now() + std::chrono::milliseconds(options.busyTimeoutMs);
  for (;;) {
    auto opened = openForWriting(path, options, replaceNewer);
    if (opened || opened.error().code != ErrorCode::Busy || steady_clock::now() >= end) return opened;
    std::this_thread::sleep_for(kPause);
  }
}

// Creates a missing file in such a way that no other user can read it and no symbolic link leads out of the store. An
// existing file is opened only by SQLite: its locks belong to the process and are lost when the process closes any
// descriptor of the file.
SysResult<void> createFile(Directory& root) {
  static std::mutex creationMutex;
  const ForkBlocker forkBlocker;
  const std::lock_guard lock(creationMutex);
  const auto info = root.info(kFileName);
  if (info && info->isRegular) return {};
  const auto file = root.open(kFileName, info ? OpenMode::ReadWrite : OpenMode::CreateNew);
  if (!file && file.error() != EEXIST) return std::unexpected(file.error());
  return {};
}

}  // namespace

void resetSchema(Database& database) {
  for (const char* view : {"entryText", "counted"}) database.execute(fmt::format("DROP VIEW IF EXISTS {}", view));
  for (const char* table : kAllTables) database.execute(fmt::format("DROP TABLE IF EXISTS {}", table));
  database.execute(kTables);
  database.execute(listIndexes());
  database.execute(searchTable());
  // Tells other processes, which took everything into the catalog, that it was emptied.
  Query(database, "INSERT INTO meta(name, value) VALUES('generation', randomblob(16))").run();
  database.execute(versionPragma());
}

Result<std::string> setAsideDamaged(const std::string& folder) {
  auto root = systemEnvironment().files.openRoot(folder, false);
  if (!root) return std::unexpected(systemError(root.error(), "open", folder));
  const std::string kept = kDamagedFileName;
  // Moves the WAL as well, because it may have the newest rows.
  for (const std::string ending : {"-wal", ""}) {
    auto moved = (*root)->rename(kFileName + ending, kept + ending);
    if (!moved && moved.error() == ENOENT && !ending.empty()) moved = (*root)->remove(kept + ending);
    if (!moved && moved.error() != ENOENT) {
      return std::unexpected(systemError(moved.error(), "move aside", folder + "/" + kFileName + ending));
    }
  }
  (void)(*root)->remove("catalog.db-shm");
  return fmt::format("{}/{} was damaged; it was moved to {} and is rebuilt from the sessions", folder, kFileName, kept);
}

void removeDamagedCopy(const std::string& folder) {
  auto root = systemEnvironment().files.openRoot(folder, false);
  if (!root) return;
  for (const char* const ending : {"", "-wal", "-shm"}) (void)(*root)->remove(std::string(kDamagedFileName) + ending);
}

bool isEmptied(Database& database) {
  const bool emptied = versionOf(database) == 0;
  return database.takeFailure() && emptied;
}

std::optional<FileState> fileStateOf(const std::string& folder) {
  auto root = systemEnvironment().files.openRoot(folder, false);
  if (!root) return std::nullopt;
  return stateIn(**root);
}

Result<OpenedCatalog> openCatalog(const std::string& folder, const CatalogOptions& options, bool allowImmutable,
                                  bool replaceNewer) {
  if (folder.empty() || options.inMemory) return inMemory(options, {});
  if (Database::isInherited()) {
    return inMemory(options,
                    fmt::format("{}/{} was open when this process was forked; using a temporary copy in memory", folder,
                                kFileName));
  }
  auto root = systemEnvironment().files.openRoot(folder, false);
  if (!root) return std::unexpected(systemError(root.error(), "open", folder));
  if (allowImmutable) {
    if (auto opened = openImmutable(folder, **root, options)) return std::move(*opened);
  }
  // SQLite creates the WAL beside the file, so a writable file in a read-only folder does not help.
  if (!(*root)->checkWritable()) return openForReading(folder, **root, options);
  const std::string path = folder + "/" + kFileName;
  if (const auto made = createFile(**root); !made) {
    const int number = made.error();
    if (number == EACCES || number == EROFS || number == EPERM) return openForReading(folder, **root, options);
    return inMemory(options,
                    systemError(number, "open", path).message + "; lists and searches use a catalog in memory");
  }
  auto opened = openWithRetries(path, options, replaceNewer);
  if (!opened && opened.error().code == ErrorCode::Io &&
      createFile(**root)) {  // another process may have moved the file
    opened = openWithRetries(path, options, replaceNewer);
  }
  if (!opened && opened.error().code == ErrorCode::ReadOnly) return openForReading(folder, **root, options);
  if (!opened && opened.error().code == ErrorCode::NoSpace) {
    return inMemory(options, fmt::format("there is no space for {}: it is rebuilt in memory each time; free some "
                                         "space",
                                         path));
  }
  if (opened || opened.error().code != ErrorCode::Damaged) return opened;
  BOUGH_TRY(auto note, setAsideDamaged(folder));
  if (const auto again = createFile(**root); !again) {
    return std::unexpected(systemError(again.error(), "make", path));
  }
  opened = openWithRetries(path, options, replaceNewer);
  if (opened) opened->notes.push_back(std::move(note));
  return opened;
}

}  // namespace bough::catalog
