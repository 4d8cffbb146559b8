#include "store/file/parts/catalog_row.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/system/process_state.h"

namespace bough {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// As a part of a URI.
std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// A file without a write-ahead log holds everything, so it is read without a lock and without a file beside it. So is
// one in a child of fork(2), where the locks of SQLite are the parent's: what is read there may be older.
std::unique_ptr<sqlite3, Close> openFile(const std::string& folder) {
  constexpr int kBusyTimeoutMs = 1000;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::path(folder) / "catalog.db";
  if (!std::filesystem::is_regular_file(path, error)) return nullptr;
  const bool quiet = forkCount() > 0 || !std::filesystem::exists(path.string() + "-wal", error);
  const std::string uri = fmt::format("file:{}?{}", escaped(path.string()), quiet ? "immutable=1" : "mode=ro");
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  std::unique_ptr<sqlite3, Close> database(opened);
  if (code != SQLITE_OK) return nullptr;
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  return database;
}

// A question to the catalog's file; none when it cannot be asked.
class CatalogReader {
 public:
  CatalogReader(const std::string& folder, const char* sql) : database_(openFile(folder)) {
    sqlite3_stmt* prepared = nullptr;
    if (database_ != nullptr) (void)sqlite3_prepare_v2(database_.get(), sql, -1, &prepared, nullptr);
    statement_.reset(prepared);
  }
  [[nodiscard]] sqlite3_stmt* statement() const { return statement_.get(); }

 private:
  NoForkMeanwhile noFork_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<sqlite3_stmt, Close> statement_;
};

std::string textAt(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

std::uint64_t numberAt(sqlite3_stmt* statement, int column) {
  return static_cast<std::uint64_t>(std::max<sqlite3_int64>(sqlite3_column_int64(statement, column), 0));
}

}  // namespace

std::optional<CatalogRow> readCatalogRow(const std::string& folder, std::string_view sessionId) {
  const CatalogReader reader(
      folder, "SELECT headerId, lastId, entries, bytes, lostId, lostEntries FROM counted WHERE sessionId = ?");
  sqlite3_stmt* row = reader.statement();
  if (row == nullptr) return std::nullopt;
  sqlite3_bind_text(row, 1, sessionId.data(), static_cast<int>(sessionId.size()), SQLITE_STATIC);
  if (sqlite3_step(row) != SQLITE_ROW) return std::nullopt;
  return CatalogRow{.headerId = textAt(row, 0),
                    .lastId = textAt(row, 1),
                    .entries = numberAt(row, 2),
                    .bytes = numberAt(row, 3),
                    .lostId = textAt(row, 4),
                    .lostEntries = numberAt(row, 5)};
}

std::vector<std::pair<std::string, std::uint64_t>> readCatalogIds(const std::string& folder) {
  std::vector<std::pair<std::string, std::uint64_t>> ids;
  const CatalogReader reader(folder, "SELECT sessionId, max(entries, lostEntries) FROM counted ORDER BY sessionId");
  sqlite3_stmt* row = reader.statement();
  while (row != nullptr && sqlite3_step(row) == SQLITE_ROW) ids.emplace_back(textAt(row, 0), numberAt(row, 1));
  return ids;
}

bool emptyCatalog(const std::string& folder) {
  constexpr int kBusyTimeoutMs = 5000;
  const NoForkMeanwhile noFork;
  if (forkCount() > 0) return false;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::path(folder) / "catalog.db";
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return false;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, Close> database(opened);
  if (code != SQLITE_OK) return false;
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  const auto run = [&](const char* sql) { return sqlite3_exec(opened, sql, nullptr, nullptr, nullptr) == SQLITE_OK; };
  // What SQLite has seen of the file it keeps: a write-ahead log. A damaged file has nothing to see.
  (void)run("SELECT 1 FROM sqlite_schema");
  (void)sqlite3_db_config(opened, SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr);
  const bool emptied = run("VACUUM");
  (void)sqlite3_db_config(opened, SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr);
  return emptied &&
         sqlite3_wal_checkpoint_v2(opened, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace bough
