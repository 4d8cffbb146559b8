// Random documents, valid and damaged, read by our reader and by simdjson's DOM parser: both must agree on what is JSON
// and on its content.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <regex>

#include "base/json/json_scan.h"

namespace bough::json {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0: return "null";
      case 1: return below(2) == 0 ? "true" : "false";
      case 2: return number();
      case 3:
      case 4:
      case 5: return string();
      case 6: return container('[', ']', depth);
      default: return container('{', '}', depth);
    }
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  std::string blanks() {
    static constexpr const char* kBlanks[] = {"", "", "", "", " ", "\n", "\t ", "\r\n"};
    return kBlanks[below(std::size(kBlanks))];
  }
  std::string number() {
    static constexpr const char* kNumbers[] = {"0", "-0", "7", "-12", "123456789", "0.5", "-1.25e3", "1E-7", "3e+2"};
    return kNumbers[below(std::size(kNumbers))];
  }
  std::string string() {
    static constexpr const char* kPieces[] = {
        "a", "xyz", " ",          "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83c\\udf33",
        "é", "🌳",  "0123456789", "{",   "]",    ",",    ":"};
    std::string text = "\"";
    for (std::uint64_t n = below(8); n > 0; --n) text += kPieces[below(std::size(kPieces))];
    return text + "\"";
  }
  std::string container(char open, char close, int depth) {
    std::string text = open + blanks();
    const std::uint64_t count = below(5);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) text += "," + blanks();
      if (open == '{') text += string() + blanks() + ":" + blanks();
      text += value(depth - 1) + blanks();
    }
    return text + close;
  }

  std::mt19937_64 random_;
};

// Checks that our slices have the same content as simdjson's elements.
void expectSame(std::string_view raw, simdjson::dom::element element) {
  switch (kindOf(raw)) {
    case Kind::Null: EXPECT_TRUE(element.is_null()); break;
    case Kind::True: EXPECT_TRUE(element.get_bool().value()); break;
    case Kind::False: EXPECT_FALSE(element.get_bool().value()); break;
    case Kind::Number: EXPECT_EQ(std::stod(std::string(raw)), element.get_double().value()); break;
    case Kind::String: EXPECT_EQ(decodeString(raw), std::string(element.get_string().value())); break;
    case Kind::Array: {
      ArrayReader reader(raw);
      for (const auto child : element.get_array()) {
        const auto ours = reader.next();
        ASSERT_TRUE(ours);
        expectSame(*ours, child);
      }
      EXPECT_FALSE(reader.next());
      EXPECT_FALSE(reader.error());
      break;
    }
    case Kind::Object: {
      ObjectReader reader(raw);
      for (const auto field : element.get_object()) {
        const auto ours = reader.next();
        ASSERT_TRUE(ours);
        EXPECT_TRUE(ours->keyIs(field.key));
        expectSame(ours->value, field.value);
      }
      EXPECT_FALSE(reader.next());
      EXPECT_FALSE(reader.error());
      break;
    }
  }
}

TEST(JsonProperty, RandomDocumentsReadTheSame) {
  Generator generator(1);
  simdjson::dom::parser parser;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = generator.value(6);
    SCOPED_TRACE(text);
    ASSERT_TRUE(check(text));
    simdjson::dom::element element;
    ASSERT_EQ(parser.parse(text).get(element), simdjson::SUCCESS);
    expectSame(text, element);
    if (HasFailure()) return;
  }
}

TEST(JsonProperty, DamagedDocumentsAreJudgedTheSame) {
  static constexpr std::string_view kBytes = "{}[]\",:\\ 0123456789-+.eEtrufalsn/\n\x01\x80\xC3";
  Generator generator(2);
  simdjson::dom::parser parser;
  const std::regex hugeExponent("[eE][+]?[0-9]{3}");
  int refused = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string text = generator.value(4);
    for (std::uint64_t n = 1 + generator.below(2); n > 0; --n) {
      const std::size_t at = generator.below(text.size() + 1);
      switch (generator.below(3)) {
        case 0: text.insert(at, 1, kBytes[generator.below(kBytes.size())]); break;
        case 1: text.erase(at, 1); break;
        default:
          if (at < text.size()) text[at] = kBytes[generator.below(kBytes.size())];
      }
    }
    simdjson::dom::element element;
    const auto theirs = parser.parse(text).get(element);
    // Our reader deliberately accepts more: numbers that do not fit into a double, and escapes of lone surrogates.
    if (theirs == simdjson::NUMBER_ERROR && std::regex_search(text, hugeExponent)) continue;
    if (theirs == simdjson::STRING_ERROR && text.contains("\\ud")) continue;
    ASSERT_EQ(check(text).has_value(), theirs == simdjson::SUCCESS) << text << "\n" << simdjson::error_message(theirs);
    refused += theirs != simdjson::SUCCESS ? 1 : 0;
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace bough::json
