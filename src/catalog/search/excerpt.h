// The excerpt of a text that was found: the function `excerpt(search, words)` of the search index.
//
// It shows what FTS5's snippet() shows, in time that grows with the text and its hits; snippet() looks at every hit for
// every hit, which takes minutes when a text of some hundred kilobytes repeats one word.
#pragma once

#include <sqlite3.h>

namespace bough::catalog {

/// What FTS5 calls; its argument is how many words an excerpt has.
void excerptFunction(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result, int count,
                     sqlite3_value** values);

/// False when FTS5 does not take it.
bool registerExcerpt(fts5_api& api);

}  // namespace bough::catalog
