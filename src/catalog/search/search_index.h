// The index over the text of entries (FTS5).
//
// The table `entry` says which entries are in it, the virtual table `search` has their words and where in the text they
// are, and no text: that is in the log. FTS5 takes words out of the index only when it is given all of them again, so
// `entry` has a digest by which a text that was read again is known to be the same. Where the text is gone, the row of
// `entry` goes and the words stay: they are abandoned. A search does not find them, and no row gets their number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

/// What the index keeps of a text. Any thread may make it.
struct IndexText {
  explicit IndexText(std::string_view text);
  std::string words;  ///< Of cutWords; empty when the text is.
  std::int64_t digest = 0;
};

/// The text of an entry as it is in the log now; none when it cannot be read.
using TextOf = std::function<std::optional<std::string>(const std::string& entryId)>;

/// `row` is session_row.h's entryRow.
void addText(Database& database, std::int64_t row, std::string_view entryId, EntryRole role, std::uint64_t timeMs,
             const IndexText& text);
/// Takes one entry of a session out. False when its words had to be abandoned.
bool forgetText(Database& database, std::int64_t session, std::string_view entryId, const TextOf& textOf);
/// The same for all of a session's entries from a sequence on.
bool forgetTexts(Database& database, std::int64_t session, std::uint64_t fromSequence, const TextOf& textOf);

/// Whether there are words in the index of entries that are gone.
bool hasAbandoned(Database& database);
/// Whether there are so many that a new index is better.
bool isMostlyAbandoned(Database& database);
/// Empties the index; what the sessions hold is to be taken in again.
void resetSearch(Database& database);

}  // namespace bough::catalog
