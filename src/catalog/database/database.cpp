#include "catalog/database/database.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <utility>

#include "base/system/file_io.h"
#include "base/text/accents.h"
#include "base/try.h"

namespace bough::catalog {
namespace {

ErrorCode codeOf(int code, int systemError) {
  switch (code & 0xFF) {
    case SQLITE_IOERR: return systemError == ENOSPC || systemError == EDQUOT ? ErrorCode::NoSpace : ErrorCode::Io;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::Busy;
    case SQLITE_FULL: return ErrorCode::NoSpace;
    case SQLITE_READONLY: return ErrorCode::ReadOnly;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::Damaged;
    default: return ErrorCode::Io;
  }
}

std::string hintOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::Busy: return "another process is working on the catalog; try again in a moment";
    case ErrorCode::NoSpace: return "free some space; the sessions themselves are not affected";
    case ErrorCode::Damaged: return "`bough reindex` rebuilds it from the sessions";
    case ErrorCode::ReadOnly:
      return "allow the store's folder and the catalog to be written; the sessions are as they were";
    default: return "the catalog holds nothing of its own: `bough reindex` rebuilds it";
  }
}

std::string uriOf(const std::string& path, OpenAs as) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    plain ? uri += c : uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + (as == OpenAs::ReadWrite ? "?mode=rw" : as == OpenAs::ReadOnly ? "?mode=ro" : "?immutable=1");
}

std::string_view textOf(sqlite3_value* value) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return bytes == nullptr ? std::string_view()
                          : std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

// The SQL function holds_part(text, part); `part` comes from titlePart.
void containsPart(sqlite3_context* context, int, sqlite3_value** values) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  std::string_view text = textOf(values[0]);
  const std::string_view part = textOf(values[1]);
  try {
    std::string plain;
    if (text::mayHaveAccents(text)) text = plain = text::withoutAccents(text);
    const bool found = part.empty() || !std::ranges::search(text, part, {}, lower).empty();
    sqlite3_result_int(context, found ? 1 : 0);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// Checks more often than SQLite's own sqlite3_busy_timeout, which would rarely find the lock free between two
// transactions of a long catch-up. Sleeps outside ForkBlocker, so that a fork does not wait for the process that
// holds the lock.
int waitForLock(void* timeoutMs, int count) {
  const int leftMs = *static_cast<const int*>(timeoutMs) - count * kLockPollMs;
  if (leftMs <= 0) return 0;
  ForkBlocker::sleepUnblocked(1000 * std::min(leftMs, kLockPollMs));
  return 1;
}

std::atomic<unsigned> openFiles = 0;
std::atomic<bool> inherited = false;
[[maybe_unused]] const int watching = pthread_atfork(nullptr, nullptr, [] { inherited = inherited || openFiles > 0; });

}  // namespace

bool Database::isInherited() {
  return inherited;
}

Database::Database(sqlite3* handle, std::string path, int busyTimeoutMs, bool locks)
    : handle_(handle), path_(std::move(path)), busyTimeoutMs_(busyTimeoutMs), locks_(locks) {
  openFiles += locks_ ? 1U : 0U;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, OpenAs as, int busyTimeoutMs) {
  const ForkBlocker forkBlocker;
  sqlite3* handle = nullptr;
  const int access = as == OpenAs::ReadWrite || as == OpenAs::Memory ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                                     : SQLITE_OPEN_READONLY;
  const std::string name = as == OpenAs::Memory ? ":memory:" : uriOf(path, as);
  const int code = sqlite3_open_v2(name.c_str(), &handle, access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  // SQLite returns a connection even when it could not open the file.
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> opened(handle, sqlite3_close_v2);
  std::unique_ptr<Database> database(
      new Database(handle, path, busyTimeoutMs, as == OpenAs::ReadWrite || as == OpenAs::ReadOnly));
  (void)opened.release();
  if (code != SQLITE_OK) {
    database->recordFailure(code);
    return std::unexpected(database->takeFailure().error());
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_handler(handle, &waitForLock, &database->busyTimeoutMs_);
  database->recordFailure(sqlite3_create_function_v2(handle, "holds_part", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                                     nullptr, &containsPart, nullptr, nullptr, nullptr));
  BOUGH_TRY(database->takeFailure());
  return database;
}

// SQLite does not allow a child of fork even to close a connection of its parent.
Database::~Database() {
  if (forks_ != forkCount()) return;
  const ForkBlocker forkBlocker;
  openFiles -= locks_ ? 1U : 0U;
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

void Database::recordFailure(int code) {
  if (failure_ || code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const int number = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  if ((code & 0xFF) == SQLITE_CANTOPEN && (number == EMFILE || number == ENFILE)) {
    failure_ = systemError(number, "open", path_);
    return;
  }
  const ErrorCode kind = codeOf(code, number);
  const char* words = kind == ErrorCode::Busy ? "another process is writing to it"
                      : handle_ == nullptr    ? sqlite3_errstr(code)
                                              : sqlite3_errmsg(handle_);
  failure_ = Error{.code = kind,
                   .message = fmt::format("the catalog {}: {}", path_, words),
                   .hint = hintOf(kind),
                   .retryable = kind == ErrorCode::Busy || kind == ErrorCode::NoSpace,
                   .actualTail = {}};
}

Result<void> Database::takeFailure() {
  if (!failure_) return {};
  Error error = std::move(*failure_);
  failure_.reset();
  return std::unexpected(std::move(error));
}

void Database::execute(const std::string& statements) {
  if (failure_) return;
  const ForkBlocker forkBlocker;
  recordFailure(sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr));
}

bool Database::truncateWal() {
  // Does not wait for processes that are reading at this moment.
  const ForkBlocker forkBlocker;
  const int timeoutMs = std::exchange(busyTimeoutMs_, 0);
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  busyTimeoutMs_ = timeoutMs;
  return code == SQLITE_OK;
}

sqlite3_stmt* Database::acquireStatement(const char* sql, bool isCached) {
  if (failure_) return nullptr;
  if (const auto found = idle_.find(sql); isCached && found != idle_.end() && found->second != nullptr) {
    return std::exchange(found->second, nullptr);
  }
  const ForkBlocker forkBlocker;
  sqlite3_stmt* statement = nullptr;
  recordFailure(sqlite3_prepare_v3(handle_, sql, -1, isCached ? SQLITE_PREPARE_PERSISTENT : 0U, &statement, nullptr));
  return statement;
}

// Called by destructors. When memory runs out, the statement is not cached.
void Database::releaseStatement(const char* sql, sqlite3_stmt* statement) noexcept {
  const ForkBlocker forkBlocker;
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  const int cached = runCallback([&] {
    if (sql == nullptr) return SQLITE_MISUSE;
    sqlite3_stmt*& place = idle_[sql];
    if (place != nullptr) return SQLITE_MISUSE;
    place = statement;
    return SQLITE_OK;
  });
  if (cached != SQLITE_OK) sqlite3_finalize(statement);
}

Query::~Query() {
  if (statement_ != nullptr) database_.releaseStatement(sql_, statement_);
}

void Query::bind(std::int64_t value) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, ++bound_, value);
}

void Query::bind(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  if (statement_ != nullptr) sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Query::bind(Blob blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  if (statement_ != nullptr) sqlite3_bind_blob64(statement_, ++bound_, data, blob.bytes.size(), SQLITE_STATIC);
}

void Query::bind(std::nullopt_t) {
  if (statement_ != nullptr) sqlite3_bind_null(statement_, ++bound_);
}

bool Query::next() {
  if (statement_ == nullptr || database_.failed()) return false;
  const ForkBlocker forkBlocker;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  database_.recordFailure(code);
  return false;
}

std::string_view Query::view(int column) const {
  const ForkBlocker forkBlocker;
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Snapshot::~Snapshot() {
  const ForkBlocker forkBlocker;
  // COMMIT keeps what the question created for itself (temporary tables).
  if (sqlite3_exec(database_.handle(), "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK) return;
  (void)sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Transaction::~Transaction() {
  if (!open_) return;
  const ForkBlocker forkBlocker;
  // The kept failure is the first one, so errors here are ignored.
  (void)sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Transaction::commit() {
  database_.execute("COMMIT");
  if (database_.failed()) return database_.takeFailure();
  open_ = false;
  return {};
}

}  // namespace bough::catalog
