#include "catalog/search/search_index.h"

#include <zstd.h>

#include <memory>

#include "catalog/database/database.h"
#include "catalog/database/session_row.h"
#include "catalog/search/excerpt.h"
#include "catalog/search/tokenizer.h"

namespace bough::catalog {
namespace {

// The first byte of a stored text says how the rest is kept.
constexpr char kPlain = 0;
constexpr char kPacked = 1;
constexpr std::size_t kPackFrom = 512;
constexpr int kLevel = 1;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

std::string pack(std::string_view text) {
  static thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (text.size() >= kPackFrom && context) {
    std::string packed(1 + ZSTD_compressBound(text.size()), kPacked);
    const std::size_t size =
        ZSTD_compressCCtx(context.get(), packed.data() + 1, packed.size() - 1, text.data(), text.size(), kLevel);
    if (!ZSTD_isError(size) && size < text.size()) {
      packed.resize(1 + size);
      return packed;
    }
  }
  return std::string(1, kPlain).append(text);
}

std::string unpack(std::string_view stored) {
  static thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (stored.empty()) return {};
  const char form = stored.front();
  stored.remove_prefix(1);
  if (form == kPlain) return std::string(stored);
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size > kMaxTextBytes || !context) return {};
  std::string text(static_cast<std::size_t>(size), '\0');
  const std::size_t got = ZSTD_decompressDCtx(context.get(), text.data(), text.size(), stored.data(), stored.size());
  if (ZSTD_isError(got)) return {};
  text.resize(got);
  return text;
}

void textFunction(sqlite3_context* context, int, sqlite3_value** values) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(values[0]));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  std::string text;
  const int status = calledBack([&] {
    text = unpack({bytes == nullptr ? "" : bytes, size});
    return SQLITE_OK;
  });
  if (status != SQLITE_OK) return sqlite3_result_error_code(context, status);
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void takeOut(Database& database, std::int64_t row, const std::string& text) {
  Query(database, "INSERT INTO search(search, rowid, body) VALUES('delete', ?, ?)", row, text).run();
  Query(database, "DELETE FROM entry WHERE id = ?", row).run();
}

}  // namespace

fts5_api* fts5Of(sqlite3* database) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return api;
}

Result<void> prepareSearch(Database& database) {
  fts5_api* api = fts5Of(database.handle());
  fts5_tokenizer known{};
  void* context = nullptr;
  // FTS5 keeps all it is given, so once for a connection.
  if (api != nullptr && api->xFindTokenizer(api, "bough", &context, &known) == SQLITE_OK) return {};
  const int made = sqlite3_create_function_v2(database.handle(), "bough_text", 1,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                                              textFunction, nullptr, nullptr, nullptr);
  if (made != SQLITE_OK) return fail(ErrorCode::Io, "SQLite does not take functions");
  if (api == nullptr || !registerTokenizer(*api) || !registerExcerpt(*api)) {
    return fail(ErrorCode::Unsupported, "this SQLite has no full-text search (FTS5)", "install Debian's libsqlite3-0");
  }
  return {};
}

std::string searchTable() {
  // hashsize: how much is gathered in memory before it is written as a segment; the default of 1 MB makes a first
  // indexing mostly merging.
  return "CREATE VIEW entryText AS SELECT id, bough_text(body) AS body FROM entry;"
         "CREATE VIRTUAL TABLE search USING fts5(body, content='entryText', content_rowid='id', tokenize='bough');"
         "INSERT INTO search(search, rank) VALUES('hashsize', 33554432);";
}

void addText(Database& database, std::int64_t row, std::string_view entryId, EntryRole role, std::uint64_t timeMs,
             std::string_view text) {
  const std::string packed = pack(text);
  Query(database, "INSERT INTO entry(id, entryId, role, timeMs, body) VALUES(?, ?, ?, ?, ?)", row, entryId,
        static_cast<int>(role), timeMs, Blob{packed})
      .run();
  Query(database, "INSERT INTO search(rowid, body) VALUES(?, ?)", row, text).run();
}

void forgetText(Database& database, std::int64_t session, std::string_view entryId) {
  std::int64_t row = 0;
  std::string text;
  {
    Query query(database, "SELECT id, body FROM entry WHERE id >= ? AND id < ? AND entryId = ?", entryRow(session, 0),
                entryRow(session + 1, 0), entryId);
    if (!query.next()) return;
    row = query.integer(0);
    text = unpack(query.view(1));
  }
  takeOut(database, row, text);
}

void forgetTexts(Database& database, std::int64_t session, std::uint64_t fromSequence) {
  std::int64_t next = entryRow(session, fromSequence);
  for (;;) {
    std::string text;
    {
      Query query(database, "SELECT id, body FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", next,
                  entryRow(session + 1, 0));
      if (!query.next()) return;
      next = query.integer(0);
      text = unpack(query.view(1));
    }
    takeOut(database, next, text);
  }
}

}  // namespace bough::catalog
