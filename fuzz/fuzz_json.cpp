// Reads arbitrary bytes as JSON. Our scanner and simdjson must agree on what is valid, and slices must hold the right
// values.

#include <simdjson.h>

#include <string>

#include "base/check.h"
#include "base/json/json_scan.h"

namespace bough {
namespace {

using simdjson::dom::element;

void compare(std::string_view slice, element value);

void compareObject(std::string_view slice, simdjson::dom::object object) {
  json::ObjectReader members(slice);
  for (const auto field : object) {
    const auto member = members.next();
    BOUGH_CHECK(member && member->keyIs(field.key));
    compare(member->value, field.value);
  }
  BOUGH_CHECK(!members.next() && !members.error());
}

void compareArray(std::string_view slice, simdjson::dom::array array) {
  json::ArrayReader elements(slice);
  for (const element value : array) {
    const auto part = elements.next();
    BOUGH_CHECK(part.has_value());
    compare(*part, value);
  }
  BOUGH_CHECK(!elements.next() && !elements.error());
}

void compare(std::string_view slice, element value) {
  BOUGH_CHECK(json::check(slice).has_value());
  switch (json::kindOf(slice)) {
    case json::Kind::Object: return compareObject(slice, value.get_object().value());
    case json::Kind::Array: return compareArray(slice, value.get_array().value());
    case json::Kind::String: BOUGH_CHECK(json::decodeString(slice) == value.get_string().value()); return;
    case json::Kind::Number: BOUGH_CHECK(value.is_number()); return;
    case json::Kind::True: BOUGH_CHECK(value.get_bool().value()); return;
    case json::Kind::False: BOUGH_CHECK(!value.get_bool().value()); return;
    case json::Kind::Null: BOUGH_CHECK(value.is_null()); return;
  }
}

// Returns true for what only our scanner accepts: numbers of any size, and lone surrogates.
bool beyondDoubles(simdjson::error_code error, std::string_view text) {
  return error == simdjson::NUMBER_ERROR || (error == simdjson::STRING_ERROR && text.contains("\\u"));
}

void check(std::string_view text) {
  const auto ours = json::check(text);
  static simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  element root;
  const auto theirs = parser.parse(padded).get(root);
  const bool deep = !ours && ours.error().reason == json::kTooDeep;
  if (ours) {
    BOUGH_CHECK(!theirs || beyondDoubles(theirs, text));
  } else {
    BOUGH_CHECK(theirs || deep);
    BOUGH_CHECK(ours.error().offset <= text.size());
  }
  if (!ours || theirs) return;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const auto end = json::skipValue(text, 0);
  BOUGH_CHECK(end && *end > begin);
  compare(text.substr(begin, *end - begin), root);
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
