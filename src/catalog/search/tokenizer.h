// How text becomes words: the tokenizer `bough` of the search index.
//
// A word is a run of letters and digits; letter case, accents and the width of letters do not count. Scripts that are
// written without blanks (Chinese, Japanese, Korean, Thai …) have no such runs: there every character is a word, and
// what is looked for becomes a phrase of them, so that words of one, two and more characters are found alike.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <string_view>

namespace bough::catalog {

/// False when FTS5 does not take it.
bool registerTokenizer(fts5_api& api);

/// Calls `use` for each word of a text, in their order.
void eachWord(std::string_view text, const std::function<void(std::string_view)>& use);

/// Whether there is anything in `text` that can be looked for.
bool hasWord(std::string_view text);

}  // namespace bough::catalog
