// The text of entries, and the index over it (FTS5).
//
// The table `entry` keeps the text, packed; the virtual table `search` keeps only the index and gets the text from
// there when it makes an excerpt. So a text can always be taken out again, which needs its words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/database/database.h"
#include "catalog/database/entry_facts.h"

namespace bough::catalog {

/// FTS5 of a connection; null when this SQLite has none.
fts5_api* fts5Of(sqlite3* database);
/// Makes the tokenizer and the functions of the search index known to a connection.
Result<void> prepareSearch(Database& database);
/// The statement that makes the virtual table.
std::string searchTable();

/// `row` is session_row.h's entryRow.
void addText(Database& database, std::int64_t row, std::string_view entryId, EntryRole role, std::uint64_t timeMs,
             std::string_view text);
/// Takes one entry of a session out.
void forgetText(Database& database, std::int64_t session, std::string_view entryId);
/// Takes a session's entries out, from a sequence on.
void forgetTexts(Database& database, std::int64_t session, std::uint64_t fromSequence);

}  // namespace bough::catalog
