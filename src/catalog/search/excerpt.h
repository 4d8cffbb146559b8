// The excerpt of a matching text: the function `excerpt(search, words)` of the search index.
//
// It returns what FTS5's snippet() returns, in time linear in the text and its hits. snippet() compares every hit with
// every other, which takes minutes when a text of some hundred kilobytes repeats one word.
#pragma once

#include <sqlite3.h>

namespace bough::catalog {

/// The callback for FTS5. Its argument is the number of words in an excerpt.
void excerptFunction(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result, int count,
                     sqlite3_value** values);

/// Returns false when FTS5 rejects the function.
bool registerExcerpt(fts5_api& api);

}  // namespace bough::catalog
