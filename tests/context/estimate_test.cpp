// Estimates for many kinds of text, made without a tokenizer. The expected values are those that the estimator was
// fitted to.
#include <gtest/gtest.h>

#include <random>

#include "base/bytes/avx2_block.h"
#include "bough/context.h"
#include "context/tokens.h"
#include "support/entries.h"

namespace bough::context {
namespace {

TEST(Estimate, EachKindOfTextCountsAsItWasMeasured) {
  const std::pair<std::string_view, std::uint64_t> cases[] = {
      {R"()", 0},
      {R"(a)", 14},
      {R"(word)", 14},
      {R"(worded)", 14},
      {R"(longer)", 14},
      {R"(letters)", 20},
      {R"(antidisestablishment)", 85},
      {R"(two words)", 28},
      {R"(two  words)", 29},
      {R"(two    words)", 30},
      {R"(NASA)", 24},
      {R"(UNESCO)", 43},
      {R"(ABCDEFGHIJ)", 80},
      {R"(camelCaseName)", 74},
      {R"(HTMLParser)", 47},
      {R"(XMLHttpRequest)", 79},
      {R"(A)", 14},
      {R"(Ab)", 14},
      {R"(AB)", 14},
      {R"(ABc)", 27},
      {R"(aB)", 27},
      {R"(12)", 21},
      {R"(123)", 21},
      {R"(1234)", 41},
      {R"(1234567)", 61},
      {R"(abc123)", 47},
      {R"(123abc)", 47},
      {R"(a1b2c3)", 96},
      {R"(x86)", 47},
      {R"(a.)", 24},
      {R"(a..)", 30},
      {R"(a, b)", 38},
      {R"(f(x))", 48},
      {R"(f((x)))", 59},
      {R"(!?)", 16},
      {R"(a\nb)", 43},
      {R"(a\n\nb)", 48},
      {R"(a.\nb)", 43},
      {R"(a\r\nb)", 48},
      {R"(a\tb)", 28},
      {R"(a\t\tb)", 29},
      {R"(a\"b)", 38},
      {R"(a\\b)", 38},
      {R"(a\u00e9b)", 36},
      {R"(a\u4e2db)", 36},
      {R"(\u)", 4},
      {R"(tail\\)", 24},
      {R"(aGVsbG8gd29ybGQhISEh)", 190},
      {R"(aGVsbG8gd29ybGQ)", 163},
      {R"(aGVsbG8gd29ybGQh)", 152},
      {R"(aGVs+bG8/gd29=ybGQh)", 211},
      {R"(a1b2c3d4e5f60718)", 152},
      {R"(a1b2c3d4e5f6071)", 209},
      {R"(AAAAAAAAAAAAAAAAAAAA)", 175},
      {R"(A1A1A1A1A1A1A1A1AAAA)", 166},
      {R"(a1-b2_c3-d4_e5-f6+a7)", 383},
      {R"(a1b2c3d4e5f6071829-x)", 190},
      {R"(a1b2c3d4e5f6071829:x)", 195},
      {R"(e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855)", 576},
      {R"(aaaaaaaaaaaaaaaa)", 65},
      {R"(aAaAaAaAaAaAaAaA)", 152},
      {R"(中)", 11},
      {R"(中文)", 22},
      {R"(中文。)", 33},
      {R"(「中」)", 33},
      {R"(，。)", 22},
      {R"(‘a’)", 36},
      {R"(—)", 11},
      {R"(™)", 11},
      {R"(é)", 8},
      {R"(naïve)", 36},
      {R"(ß)", 8},
      {R"(мир)", 15},
      {R"(мира)", 19},
      {R"(привет)", 26},
      {R"(привет мир)", 41},
      {R"(aмир)", 29},
      {R"(мирa)", 29},
      {R"(Ԁ)", 15},
      {R"(א)", 8},
      {R"(😀)", 23},
      {R"(a😀b)", 51},
      {R"(日本語テキスト)", 76},
      {R"(한국어)", 33},
      {R"(ａｂ)", 22},
      {R"(x中x)", 39},
  };
  // Repeated fifteen times, so that rounding hides nothing.
  for (const auto& [text, tokens] : cases) {
    std::string many;
    for (int i = 0; i < 15; ++i) many += (many.empty() ? "" : " ") + std::string(text);
    EXPECT_EQ(estimateText(many, true), tokens) << text;
  }
}

TEST(Estimate, OfALongTextSlicesAreEnough) {
  std::string text;
  while (text.size() < 2'048) text += "Some words, 12345 of them. ";
  text.resize(2'048);
  EXPECT_EQ(estimateText(text, false), 586U);
  EXPECT_EQ(estimateText(text + "x", false), 594U);
  std::string mixed(20'000, ' ');
  for (std::size_t i = 0; i < mixed.size(); ++i)
    mixed[i] = i < 10'000 ? (i % 5 == 4 ? ' ' : 'a') : (i % 2 == 0 ? '(' : '1');
  EXPECT_EQ(estimateText(mixed, false), 11871U);
  EXPECT_EQ(estimateText(R"(a\nb\u00e9\"c)", false), 10U);
}

TEST(Estimate, IsTheSameWithAvx2AndWithout) {
  constexpr std::string_view kParts[] = {"word",    "Name", "UNESCO", "123",  " ",      "  ", "\n",           "\\n",
                                         "\\u00e9", "(){}", "\\\"",   "中文", "привет", "🙂", "Zm9vYmFyMTIz", "_"};
  std::mt19937 random(42);
  for (int i = 0; i < 5'000; ++i) {
    std::string text;
    const std::size_t wanted = random() % (i % 10 == 0 ? 5'000 : 300);
    while (text.size() < wanted) text += kParts[random() % std::size(kParts)];
    for (const bool escaped : {false, true}) {
      const std::uint64_t tokens = estimateText(text, escaped);
      allowAvx2(false);
      const std::uint64_t without = estimateText(text, escaped);
      allowAvx2(true);
      ASSERT_EQ(tokens, without) << text;
    }
  }
}

TEST(Estimate, BlocksCostWhatTheyHoldAndALittleMore) {
  const auto block = [](BlockKind kind, std::string_view text = {}) {
    Block made;
    made.kind = kind;
    made.text.escaped = text;
    return made;
  };
  const auto cost = [](const Block& one) {
    Message message;
    message.blocks.push_back(one);
    return estimateMessage(message);
  };
  EXPECT_EQ(estimateMessage({}), 4U);
  for (const BlockKind kind : {BlockKind::Text, BlockKind::Thinking, BlockKind::Refusal}) {
    EXPECT_EQ(cost(block(kind, "one two three")), 4 + estimateText("one two three", true));
  }
  Block call = block(BlockKind::ToolCall);
  call.name.escaped = "search";
  call.input = R"({"query":"some words"})";
  EXPECT_EQ(cost(call), 4 + 12 + estimateText("search", true) + estimateText(call.input, false));
  call.input = R"("some\nwords")";
  EXPECT_EQ(cost(call), 4 + 12 + estimateText("search", true) + estimateText(call.input, true));
  Block result = block(BlockKind::ToolResult);
  EXPECT_EQ(cost(result), 16U);
  result.content.push_back(block(BlockKind::Text, "one two three"));
  result.content.push_back(block(BlockKind::Image));
  EXPECT_EQ(cost(result), 16 + estimateText("one two three", true) + 1600);
  Block document = block(BlockKind::Document);
  const std::string data(100'000, 'A');
  document.text.escaped = data;
  document.source = MediaSource::Base64;
  EXPECT_EQ(cost(document), 2004U);
  document.source = MediaSource::Url;
  EXPECT_EQ(cost(document), 1604U);
  document.source = MediaSource::Text;
  EXPECT_EQ(cost(document), 4 + estimateText(data, true));
  EXPECT_EQ(cost(block(BlockKind::Citation, "one two three")), 4U);
}

TEST(Estimate, ACallWithoutAResultLeavesRoomForOne) {
  const auto store = must(SessionStore::open("memory:"));
  const auto tokensOf = [&](const std::string& id, const std::vector<std::string>& messages) {
    must(store->createSession({.sessionId = id}));
    std::vector<Entry> batch;
    for (const std::string& each : messages) {
      batch.push_back(entryOf("message", R"({"dialect":"bough","message":)" + each + "}"));
    }
    must(store->appendSessionEntries(id, std::move(batch)));
    return must(buildContext(*store, id, {.dialect = Dialect::Anthropic})).tokens;
  };
  const std::string user = R"({"role":"user","content":"go"})";
  const std::string calls =
      R"({"role":"assistant","content":[{"type":"tool_call","id":"a","name":"f","input":{}},{"type":"tool_call","id":"b","name":"f","input":{}}]})";
  const std::string result = R"({"role":"tool","content":[{"type":"tool_result","id":"a","content":"done"}]})";
  const std::uint64_t asked = tokensOf("u", {user});
  const auto cost = [](const std::string& message) { return estimateMessage(*normalize(message, Dialect::Bough)); };
  EXPECT_EQ(tokensOf("none", {user, calls}), asked + cost(calls) + 2 * 24);
  EXPECT_EQ(tokensOf("one", {user, calls, result}), asked + cost(calls) + 24 + cost(result));
}

}  // namespace
}  // namespace bough::context
