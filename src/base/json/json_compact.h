// Reads objects as most programs write them, without blanks, in one pass that keeps its place in a register. Text that
// is written in another way, or is not JSON, ends it: who needs more reads that with another reader.
//
// `end` may be after the object: where more text follows, keys and short values are read sixteen bytes at a time to
// their ends. Strings and brackets are followed; what is nested is not checked beyond that.
#pragma once

#include <string_view>

#include "base/json/json_brackets.h"
#include "base/json/json_grammar.h"
#include "base/json/json_string.h"

namespace bough::json {

/// After the value that begins at `at`, before `end`; null when it is not whole.
inline const char* compactValueEnd(const char* at, const char* end) {
  if (*at == '"') {
    const char* const stop = skipPlain(at + 1, end);
    if (stop < end && *stop == '"') return stop + 1;
    const SkippedString skipped = skipString(at + 1, end);
    return skipped.reason.empty() ? skipped.at : nullptr;
  }
  if (*at == '{' || *at == '[') {
    const auto size = skipBrackets({at, end});
    return size ? at + *size : nullptr;
  }
  const char* const begin = at;
  while (at < end && static_cast<unsigned char>(*at) > ' ' && *at != ',' && *at != '}' && *at != ']') ++at;
  return at == begin ? nullptr : at;
}

/// Gives each member of the object that begins at `at` to `use(key, value)`, which returns the end of the value.
/// Returns the end of the object, or null.
template <typename Use>
const char* eachCompactMember(const char* at, const char* end, Use use) {
  if (at == end || *at != '{') return nullptr;
  do {
    ++at;
    if (at == end || *at != '"') return nullptr;
    const char* const keyEnd = skipPlain(at + 1, end);
    if (end - keyEnd < 3 || keyEnd[0] != '"' || keyEnd[1] != ':') return nullptr;
    at = use(std::string_view(at + 1, keyEnd), keyEnd + 2);
    if (at == nullptr || at == end) return nullptr;
  } while (*at == ',');
  return *at == '}' ? at + 1 : nullptr;
}

}  // namespace bough::json
