#include "store/file/parts/catalog_row.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/system/file_io.h"
#include "base/system/process_state.h"
#include "base/try.h"

namespace bough {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// Returns a path in the form that a URI requires.
std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// Why a query failed.
struct QueryFailure {
  int code = SQLITE_OK;
  Error error = {};
  bool lacksSpace = false;
};

QueryFailure queryFailure(sqlite3* database, int code, const std::string& path) {
  const int kind = code & 0xFF;
  if (kind == SQLITE_NOMEM) throw std::bad_alloc();
  const int number = database == nullptr ? 0 : sqlite3_system_errno(database);
  if ((kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR) && number != 0) {
    return {
        .code = kind, .error = systemError(number, "read", path), .lacksSpace = number == ENOSPC || number == EDQUOT};
  }
  const bool isBusy = kind == SQLITE_BUSY || kind == SQLITE_LOCKED;
  const bool isDamaged = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
  const std::string_view hint = isBusy      ? "another process is working on the catalog: wait for it"
                                : isDamaged ? "`bough reindex` makes a new catalog, and takes the logs as they are"
                                            : "check the disk and how it is mounted";
  return {.code = kind,
          .error = fail(isBusy      ? ErrorCode::Busy
                        : isDamaged ? ErrorCode::Damaged
                                    : ErrorCode::Io,
                        fmt::format("cannot read {}: {}", path, sqlite3_errstr(code)), std::string(hint))
                       .error()};
}

template <typename T>
using Answer = std::expected<T, QueryFailure>;
using Rows = std::vector<CatalogRow>;

enum class Access : std::uint8_t {
  Locked,       // the usual locks of SQLite
  WithoutLog,   // the file contains everything: no lock, and no file beside it
  WithoutLocks  // the file and its write-ahead log, but no other file beside them
};

std::string uriOf(const std::string& path, Access access) {
  std::string_view how = "mode=ro";
  if (access == Access::WithoutLog) how = "immutable=1";
  if (access == Access::WithoutLocks) how = "mode=ro&vfs=unix-none";
  return fmt::format("file:{}?{}", escaped(path), how);
}

std::string textAt(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

std::uint64_t numberAt(sqlite3_stmt* statement, int column) {
  return static_cast<std::uint64_t>(std::max<sqlite3_int64>(sqlite3_column_int64(statement, column), 0));
}

// Returns the row of one session, or all rows when the id is empty. A catalog of another version has no such view, and
// so no rows.
Answer<Rows> readRows(const std::string& path, Access access, std::string_view sessionId) {
  constexpr int kBusyTimeoutMs = 1000;
  std::string query = "SELECT sessionId, headerId, lastId, entries, bytes, lostId, lostEntries FROM counted ";
  query += sessionId.empty() ? "ORDER BY sessionId" : "WHERE sessionId = ?";
  sqlite3* opened = nullptr;
  int code = sqlite3_open_v2(uriOf(path, access).c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  const std::unique_ptr<sqlite3, Close> database(opened);
  if (code == SQLITE_OK) code = sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  if (code == SQLITE_OK && access == Access::WithoutLocks) {
    // SQLite then keeps the index of the write-ahead log in memory and does not change the log.
    (void)sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    code = sqlite3_exec(opened, "PRAGMA locking_mode = EXCLUSIVE", nullptr, nullptr, nullptr);
  }
  if (code != SQLITE_OK) return std::unexpected(queryFailure(opened, code, path));
  sqlite3_stmt* prepared = nullptr;
  code = sqlite3_prepare_v2(opened, query.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
  if (code == SQLITE_ERROR) return Rows();
  if (code != SQLITE_OK) return std::unexpected(queryFailure(opened, code, path));
  if (!sessionId.empty()) {
    sqlite3_bind_text(prepared, 1, sessionId.data(), static_cast<int>(sessionId.size()), SQLITE_STATIC);
  }
  Rows rows;
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
    rows.push_back({.sessionId = textAt(prepared, 0),
                    .headerId = textAt(prepared, 1),
                    .lastId = textAt(prepared, 2),
                    .entries = numberAt(prepared, 3),
                    .bytes = numberAt(prepared, 4),
                    .lostId = textAt(prepared, 5),
                    .lostEntries = numberAt(prepared, 6)});
  }
  if (code != SQLITE_DONE) return std::unexpected(queryFailure(opened, code, path));
  return rows;
}

// Returns a text that changes when pages are moved from the write-ahead log into the file.
std::string stampOf(const std::string& path) {
  constexpr std::size_t kLogHeaderBytes = 32;
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  std::string header(kLogHeaderBytes, '\0');
  std::ifstream(path + "-wal", std::ios::binary).read(header.data(), kLogHeaderBytes);
  return fmt::format("{} {}", time.time_since_epoch().count(), header);
}

Answer<Rows> readWithoutLocks(const std::string& path, std::string_view sessionId) {
  constexpr int kTries = 5;
  for (int tries = 0; tries < kTries; ++tries) {
    const std::string before = stampOf(path);
    auto rows = readRows(path, Access::WithoutLocks, sessionId);
    if (stampOf(path) == before) return rows;
  }
  return std::unexpected(queryFailure(nullptr, SQLITE_BUSY, path));
}

bool hasLog(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path + "-wal", error) || error;
}

// A file without a write-ahead log contains everything. In a child of fork(2), SQLite's locks belong to the parent. In
// a read-only folder, or on a full disk, SQLite cannot create the file that its locks need. In both cases the file is
// read without locks.
Answer<Rows> readOnce(const std::string& path, std::string_view sessionId) {
  if (!hasLog(path)) return readRows(path, Access::WithoutLog, sessionId);
  if (forkCount() > 0) return readWithoutLocks(path, sessionId);
  auto rows = readRows(path, Access::Locked, sessionId);
  const bool needsFile = !rows && (rows.error().code == SQLITE_CANTOPEN || rows.error().code == SQLITE_READONLY ||
                                   rows.error().lacksSpace);
  return needsFile ? readWithoutLocks(path, sessionId) : rows;
}

Result<Rows> readCatalog(const std::string& path, std::string_view sessionId) {
  const ForkBlocker forkBlocker;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none) {
    return std::unexpected(systemError(error.value(), "look at", path));
  }
  if (status.type() != std::filesystem::file_type::regular) return Rows();
  auto rows = readOnce(path, sessionId);
  // A process may have started to write after we saw no write-ahead log.
  if (!rows && rows.error().code == SQLITE_CORRUPT && hasLog(path)) rows = readOnce(path, sessionId);
  if (!rows) return std::unexpected(std::move(rows).error().error);
  return *std::move(rows);
}

}  // namespace

Result<std::optional<CatalogRow>> readCatalogRow(const std::string& folder, std::string_view sessionId,
                                                 const char* file) {
  BOUGH_TRY(Rows rows, readCatalog(folder + "/" + file, sessionId));
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

Result<std::vector<CatalogRow>> readCatalogRows(const std::string& folder) {
  return readCatalog(folder + "/" + kCatalogFile, {});
}

namespace {

// Keeps what the catalog had counted in the place where readers look for it; the next catalog takes it over. Best
// effort.
void saveCounts(sqlite3* database, const Rows& rows, const std::vector<std::string>& rewritten) {
  const auto run = [&](const char* sql) { return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK; };
  if (rows.empty() || !run("BEGIN IMMEDIATE")) return;
  bool done = run(
      "CREATE TABLE keptCounts(sessionId TEXT PRIMARY KEY, headerId TEXT, lastId TEXT, entries INTEGER, bytes INTEGER, "
      "lostId TEXT, lostEntries INTEGER) WITHOUT ROWID;"
      "CREATE VIEW counted AS SELECT sessionId, headerId, lastId, entries, bytes, lostId, lostEntries FROM keptCounts");
  sqlite3_stmt* prepared = nullptr;
  if (done) {
    done = sqlite3_prepare_v2(database, "INSERT INTO keptCounts VALUES(?, ?, ?, ?, ?, ?, ?)", -1, &prepared, nullptr) ==
           SQLITE_OK;
  }
  const std::unique_ptr<sqlite3_stmt, Close> insert(prepared);
  for (const CatalogRow& row : rows) {
    if (!done) break;
    int column = 0;
    const auto text = [&](const std::string& value) {
      sqlite3_bind_text(prepared, ++column, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
    };
    const auto number = [&](std::uint64_t value) {
      sqlite3_bind_int64(prepared, ++column, static_cast<sqlite3_int64>(value));
    };
    // In a rewritten log the offsets are different.
    const bool isRewritten = std::ranges::find(rewritten, row.sessionId) != rewritten.end();
    text(row.sessionId);
    text(row.headerId);
    text(row.lastId);
    number(row.entries);
    number(isRewritten ? 0 : row.bytes);
    text(row.lostId);
    number(row.lostEntries);
    done = sqlite3_step(prepared) == SQLITE_DONE && sqlite3_reset(prepared) == SQLITE_OK;
  }
  if (!done || !run("COMMIT")) (void)run("ROLLBACK");
}

}  // namespace

bool emptyCatalog(const std::string& folder, const std::vector<std::string>& rewritten) {
  constexpr int kBusyTimeoutMs = 5000;
  const ForkBlocker forkBlocker;
  if (forkCount() > 0) return false;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::path(folder) / kCatalogFile;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return false;
  const auto counted = readCatalogRows(folder);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, Close> database(opened);
  if (code != SQLITE_OK) return false;
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  const auto run = [&](const char* sql) { return sqlite3_exec(opened, sql, nullptr, nullptr, nullptr) == SQLITE_OK; };
  // SQLite keeps a write-ahead log only after it has read the file, so read it first. In a damaged file there is
  // nothing to read.
  (void)run("SELECT 1 FROM sqlite_schema");
  (void)sqlite3_db_config(opened, SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr);
  const bool emptied = run("VACUUM");
  (void)sqlite3_db_config(opened, SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr);
  if (emptied && counted) saveCounts(opened, *counted, rewritten);
  return emptied &&
         sqlite3_wal_checkpoint_v2(opened, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace bough
