// SQLite, with errors as values. The first failure is kept in the database until takeFailure() returns it, and later
// calls do nothing until then. Several steps can therefore be written without checks, and checked once at the end.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/system/process_state.h"
#include "bough/error.h"

namespace bough::catalog {

enum class OpenAs : std::uint8_t { ReadWrite, ReadOnly, Immutable, Memory };

/// Bytes to store as a BLOB.
struct Blob {
  std::string_view bytes;
};

/// The interval at which a waiting process checks whether the lock is free.
inline constexpr int kLockPollMs = 2;

class Database {
 public:
  /// Returns true when this process inherited an open catalog through fork(2). SQLite's file locks belong to the
  /// parent, but SQLite in the child still counts them as held, so this process must not use any catalog file.
  [[nodiscard]] static bool isInherited();
  static Result<std::unique_ptr<Database>> open(const std::string& path, OpenAs as, int busyTimeoutMs);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Runs statements that return no rows.
  void execute(const std::string& statements);
  /// Returns the kept failure, if any, and clears it.
  Result<void> takeFailure();
  [[nodiscard]] bool failed() const { return failure_.has_value(); }

  /// Moves everything from the WAL into the database file and truncates the WAL. Returns false when another process
  /// prevents that at the moment.
  bool truncateWal();

  /// Sets how long to wait while another process prevents this one from writing.
  void setBusyTimeout(int timeoutMs) { busyTimeoutMs_ = timeoutMs; }

  [[nodiscard]] sqlite3* handle() { return handle_; }
  [[nodiscard]] std::uint64_t changes() { return static_cast<std::uint64_t>(sqlite3_changes64(handle_)); }

 private:
  friend class Query;
  Database(sqlite3* handle, std::string path, int busyTimeoutMs, bool locks);
  sqlite3_stmt* acquireStatement(const char* sql, bool isCached);
  void releaseStatement(const char* sql, sqlite3_stmt* statement) noexcept;
  void recordFailure(int code);

  sqlite3* handle_;
  std::string path_;
  int busyTimeoutMs_;
  bool locks_;  // takes locks on its file
  unsigned forks_ = forkCount();
  std::optional<Error> failure_;
  std::unordered_map<const char*, sqlite3_stmt*> idle_;  // null while the statement is in use
};

/// One run of a statement.
class Query {
 public:
  /// `sql` must be a string literal, because the prepared statement is cached by its address.
  template <typename... Values>
  Query(Database& database, const char* sql, const Values&... values)
      : database_(database), sql_(sql), statement_(database.acquireStatement(sql, true)) {
    (bind(values), ...);
  }
  /// For a statement that was built at run time; it is not cached.
  Query(Database& database, const std::string& sql)
      : database_(database), sql_(nullptr), statement_(database.acquireStatement(sql.c_str(), false)) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  void bind(std::int64_t value);
  void bind(std::uint64_t value) { bind(static_cast<std::int64_t>(value)); }
  void bind(int value) { bind(std::int64_t{value}); }
  void bind(std::uint32_t value) { bind(std::int64_t{value}); }
  void bind(bool value) { bind(std::int64_t{value}); }
  /// `text` must live until the query has run.
  void bind(std::string_view text);
  void bind(const std::string& text) { bind(std::string_view(text)); }
  void bind(const char* text) { bind(std::string_view(text)); }
  void bind(Blob blob);
  void bind(std::nullopt_t);
  template <typename T>
  void bind(const std::optional<T>& value) {
    value ? bind(*value) : bind(std::nullopt);
  }

  /// Returns true when there is a row.
  bool next();
  /// Runs the statement to its end.
  void run() {
    while (next()) {
    }
  }

  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] bool isNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  /// Valid until the next call of next().
  [[nodiscard]] std::string_view view(int column) const;
  [[nodiscard]] std::string text(int column) const { return std::string(view(column)); }

 private:
  Database& database_;
  const char* sql_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

/// Runs a callback from SQLite. Turns std::bad_alloc into SQLITE_NOMEM, because an exception must not pass through C
/// code.
template <typename Call>
int runCallback(Call call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

/// A transaction that writes. Rolled back unless it is committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// Lets all queries of one answer read the same state of the file, even when others write to it meanwhile.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database) { database_.execute("BEGIN"); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

 private:
  Database& database_;
};

}  // namespace bough::catalog
