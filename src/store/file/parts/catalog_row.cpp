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

std::string textAt(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? "" : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

std::uint64_t numberAt(sqlite3_stmt* statement, int column) {
  return static_cast<std::uint64_t>(std::max<sqlite3_int64>(sqlite3_column_int64(statement, column), 0));
}

}  // namespace

std::optional<CatalogRow> readCatalogRow(const std::string& folder, std::string_view sessionId) {
  const auto database = openFile(folder);
  if (!database) return std::nullopt;
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(
      database.get(), "SELECT headerId, lastId, entries, bytes, lostId, lostEntries FROM counted WHERE sessionId = ?",
      -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
  if (code != SQLITE_OK) return std::nullopt;
  sqlite3_bind_text(prepared, 1, sessionId.data(), static_cast<int>(sessionId.size()), SQLITE_STATIC);
  if (sqlite3_step(prepared) != SQLITE_ROW) return std::nullopt;
  return CatalogRow{.headerId = textAt(prepared, 0),
                    .lastId = textAt(prepared, 1),
                    .entries = numberAt(prepared, 2),
                    .bytes = numberAt(prepared, 3),
                    .lostId = textAt(prepared, 4),
                    .lostEntries = numberAt(prepared, 5)};
}

}  // namespace bough
