#include "transcript/source/short_texts.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "base/bytes/flat_map.h"
#include "base/json/json_string.h"

namespace bough::transcript {
namespace {

// Returns the position after the closing quote of a string that is known to have one. `at` is after the opening quote.
const char* stringEnd(const char* at, const char* end) {
  const char* const begin = at;
  while (true) {
    const auto* quote = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (quote == nullptr) return end;
    const char* plain = quote;
    while (plain > begin && plain[-1] == '\\') --plain;
    if ((quote - plain) % 2 == 0) return quote + 1;
    at = quote + 1;
  }
}

}  // namespace

void shortenTexts(std::string_view object, std::size_t longest, std::string& out) {
  out.clear();
  const char* const end = object.data() + object.size();
  const char* kept = object.data();  // everything before this is in `out`
  std::size_t depth = 0;
  for (const char* at = kept; at < end;) {
    const char c = *at++;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const char* const begin = at;
    const char* const shortEnd = json::shortStringEnd(begin, end);
    at = shortEnd != nullptr ? shortEnd : stringEnd(begin, end);
    if (depth < 2 || static_cast<std::size_t>(at - begin) <= longest + 1) continue;
    const std::string_view text(begin, static_cast<std::size_t>(at - begin) - 1);
    out.append(kept, begin);
    fmt::format_to(std::back_inserter(out), "{} {:016x}", text.size(), hashOf(text));
    kept = at - 1;
  }
  out.append(kept, end);
}

}  // namespace bough::transcript
