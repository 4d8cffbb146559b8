#include "catalog/search/search_index.h"

#include "base/bytes/crc32c.h"
#include "catalog/database/session_row.h"
#include "catalog/search/excerpt.h"
#include "catalog/search/tokenizer.h"

namespace bough::catalog {
namespace {

struct IndexedRow {
  std::int64_t row = 0;
  std::string entryId;
  std::int64_t digest = 0;
};

std::optional<IndexedRow> rowIn(const Query& query) {
  return IndexedRow{.row = query.integer(0), .entryId = query.text(1), .digest = query.integer(2)};
}

bool removeIndexedRow(Database& database, const IndexedRow& indexed, const TextOf& textOf) {
  const auto text = textOf ? textOf(indexed.entryId) : std::nullopt;
  const IndexText known(text.value_or(""));
  const bool same = text && known.digest == indexed.digest;
  if (same) {
    Query(database, "INSERT INTO search(search, rowid, body) VALUES('delete', ?, ?)", indexed.row, known.words).run();
  } else {
    Query(database,
          "INSERT INTO meta(name, value) VALUES('abandoned', 1) ON CONFLICT(name) DO UPDATE SET value = value + 1")
        .run();
  }
  Query(database, "DELETE FROM entry WHERE id = ?", indexed.row).run();
  return same;
}

}  // namespace

IndexText::IndexText(std::string_view text) {
  if (text.empty()) return;
  words = cutWords(text);
  Crc32c sum;
  sum.add(text);
  digest = static_cast<std::int64_t>(std::uint64_t{sum.value()} << 32 | (text.size() & UINT32_MAX));
}

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
  const ForkBlocker forkBlocker;
  fts5_api* api = fts5Of(database.handle());
  fts5_tokenizer known{};
  void* context = nullptr;
  // FTS5 keeps every registration, so register only once per connection.
  if (api != nullptr && api->xFindTokenizer(api, "bough", &context, &known) == SQLITE_OK) return {};
  if (api == nullptr || !registerTokenizer(*api) || !registerExcerpt(*api)) {
    return fail(ErrorCode::Unsupported, "this SQLite has no full-text search (FTS5)", "install Debian's libsqlite3-0");
  }
  return {};
}

std::string searchTable() {
  // hashsize: how much is collected in memory before it is written as a segment. With the default of 1 MB, a first
  // indexing would mostly merge segments, and so would the default of merging four segments at a time. A search over a
  // few more segments is equally fast.
  return "CREATE VIRTUAL TABLE search USING fts5(body, content='', tokenize='bough');"
         "INSERT INTO search(search, rank) VALUES('hashsize', 33554432);"
         "INSERT INTO search(search, rank) VALUES('automerge', 16);"
         "INSERT INTO search(search, rank) VALUES('crisismerge', 32);";
}

void addText(Database& database, std::int64_t row, std::string_view entryId, EntryRole role, std::uint64_t timeMs,
             const IndexText& text) {
  Query(database, "INSERT INTO entry(id, entryId, role, timeMs, digest) VALUES(?, ?, ?, ?, ?)", row, entryId,
        static_cast<int>(role), timeMs, text.digest)
      .run();
  Query(database, "INSERT INTO search(rowid, body) VALUES(?, ?)", row, text.words).run();
}

bool removeText(Database& database, std::int64_t session, std::string_view entryId, const TextOf& textOf) {
  std::optional<IndexedRow> indexed;
  {
    Query query(database, "SELECT id, entryId, digest FROM entry WHERE id >= ? AND id < ? AND entryId = ?",
                entryRow(session, 0), entryRow(session + 1, 0), entryId);
    if (query.next()) indexed = rowIn(query);
  }
  return !indexed || removeIndexedRow(database, *indexed, textOf);
}

bool removeTexts(Database& database, std::int64_t session, std::uint64_t fromSequence, const TextOf& textOf) {
  bool all = true;
  for (std::int64_t next = entryRow(session, fromSequence);;) {
    std::optional<IndexedRow> indexed;
    {
      Query query(database, "SELECT id, entryId, digest FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", next,
                  entryRow(session + 1, 0));
      if (query.next()) indexed = rowIn(query);
    }
    if (!indexed) return all;
    if (!removeIndexedRow(database, *indexed, textOf)) all = false;
    next = indexed->row + 1;
  }
}

bool hasAbandonedWords(Database& database) {
  Query query(database, "SELECT 1 FROM meta WHERE name = 'abandoned'");
  return query.next();
}

bool isMostlyAbandoned(Database& database) {
  constexpr std::int64_t kMinAbandonedWords = 1000;
  Query abandoned(database, "SELECT value FROM meta WHERE name = 'abandoned'");
  if (!abandoned.next() || abandoned.integer(0) < kMinAbandonedWords) return false;
  Query kept(database, "SELECT count(*) FROM entry");
  return kept.next() && abandoned.integer(0) > kept.integer(0) / 2;
}

void resetSearch(Database& database) {
  database.execute(
      "INSERT INTO search(search) VALUES('delete-all'); DELETE FROM entry; DELETE FROM meta WHERE name = 'abandoned'; "
      "UPDATE session SET indexed = 0;"
      // SQLite's WAL may still contain words that were in the index; see Catalog::State::wipe.
      "INSERT OR REPLACE INTO meta(name, value) VALUES('wipe', CAST('written' AS BLOB));");
}

}  // namespace bough::catalog
