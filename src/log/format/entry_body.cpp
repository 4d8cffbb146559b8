#include "log/format/entry_body.h"

#include "base/json/json_grammar.h"
#include "base/json/json_scan.h"
#include "log/format/line.h"

namespace bough {
namespace {

bool takeExactly(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes `prefix` and the text up to the next quote. Returns false when the text contains escapes or characters that are
// not allowed in a string.
bool takePlain(std::string_view& text, std::string_view prefix, std::string& value) {
  if (!takeExactly(text, prefix)) return false;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* const stop = json::skipPlain(begin, end);
  if (stop == end || *stop != '"') return false;
  value.assign(begin, stop);
  text.remove_prefix(static_cast<std::size_t>(stop + 1 - begin));
  return true;
}

bool takeChecked(std::string_view& text, std::string_view prefix, std::string& value) {
  if (!takeExactly(text, prefix) || !text.starts_with('{')) return false;
  const auto end = json::skipValue(text, 0);
  if (!end) return false;
  value.reserve(*end + kParserPaddingBytes);
  value.assign(text, 0, *end);
  text.remove_prefix(*end);
  return true;
}

}  // namespace

bool readEntryBody(std::string_view body, Entry& entry) {
  constexpr std::string_view kRunId = R"(,"runId":")";
  if (!takePlain(body, R"(,"type":")", entry.type) || !takePlain(body, R"(,"timestamp":")", entry.timestamp))
    return false;
  if (body.starts_with(kRunId) && !takePlain(body, kRunId, entry.runId)) return false;
  if (!takeChecked(body, R"(,"payload":)", entry.payload)) return false;
  return body == "}" || (takeChecked(body, R"(,"meta":)", entry.meta) && body == "}");
}

}  // namespace bough
