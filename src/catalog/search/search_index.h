// The index of the text of entries (FTS5).
//
// The table `entry` lists the indexed entries. The virtual table `search` has their words and the positions of the
// words, but not the text, which is in the log. FTS5 can remove words only when it gets the complete text again, so
// `entry` has a digest that shows whether a text read again is the same. When the text is lost, the row of `entry` is
// deleted but the words remain: they are abandoned. Searches do not find abandoned words, and their row number is not
// used again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/database/database.h"
#include "catalog/database/entry_facts.h"

namespace bough::catalog {

/// Returns the FTS5 interface of a connection; null when this SQLite was built without FTS5.
fts5_api* fts5Of(sqlite3* database);
/// Registers the tokenizer and the functions of the search index with a connection.
Result<void> prepareSearch(Database& database);
/// Returns the statement that creates the virtual table.
std::string searchTable();

/// What the index stores of a text. May be created on any thread.
struct IndexText {
  explicit IndexText(std::string_view text);
  std::string words;  ///< From cutWords; empty when the text is.
  std::int64_t digest = 0;
};

/// Returns the text of an entry as it is in the log now; std::nullopt when it cannot be read.
using TextOf = std::function<std::optional<std::string>(const std::string& entryId)>;

/// Adds a text. `row` is entryRow() of session_row.h.
void addText(Database& database, std::int64_t row, std::string_view entryId, EntryRole role, std::uint64_t timeMs,
             const IndexText& text);
/// Removes one entry of a session. Returns false when its words had to be abandoned.
bool removeText(Database& database, std::int64_t session, std::string_view entryId, const TextOf& textOf);
/// The same for all entries of a session at or after a sequence.
bool removeTexts(Database& database, std::int64_t session, std::uint64_t fromSequence, const TextOf& textOf);

/// Returns true when the index contains words of deleted entries.
bool hasAbandonedWords(Database& database);
/// Returns true when so many words are abandoned that the index should be rebuilt.
bool isMostlyAbandoned(Database& database);
/// Empties the index. All sessions must be taken in again afterwards.
void resetSearch(Database& database);

}  // namespace bough::catalog
