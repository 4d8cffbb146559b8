// Reads JSON objects written without blanks, as most programs write them, in one pass that keeps its position in a
// register. Stops at text that is formatted differently or is not JSON; the caller can then fall back to another
// reader.
//
// `end` may be after the end of the object: when more text follows, keys and short values are read sixteen bytes at a
// time up to their ends. Nested values are followed by strings and brackets only, without other checks.
#pragma once

#include <string_view>

#include "base/json/json_brackets.h"
#include "base/json/json_grammar.h"
#include "base/json/json_string.h"

namespace bough::json {

/// Returns the end of the value that begins at `at`; null when the value is not complete before `end`.
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

/// Calls `use(key, value)` for each member of the object that begins at `at`; `value` points to the value, and `use`
/// returns its end or null. Returns the end of the object, or null when `use` or the reading failed.
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
