#include <gtest/gtest.h>

#include <vector>

#include "agent/providers/sse.h"

namespace bough::agent {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events parse(std::string_view text, std::size_t pieceBytes) {
  Events events;
  SseParser parser;
  const auto take = [&](const SseEvent& event) {
    events.emplace_back(event.name, event.data);
    return true;
  };
  for (std::size_t at = 0; at < text.size(); at += pieceBytes) {
    EXPECT_TRUE(parser.feed(text.substr(at, pieceBytes), take).has_value());
  }
  EXPECT_TRUE(parser.end(take).has_value());
  return events;
}

TEST(Sse, EventsAreTheSameHoweverTheBytesAreCut) {
  const std::string text =
      "\xEF\xBB\xBF: a comment\r\nevent: first\r\ndata: żółć\r\ndata:🧑🏽‍💻\r\n\r\nid: 7\rdata: cr "
      "only\r\rdata\n\ndata: "
      "lf\nevent: last\n\n";
  const Events expected = {{"first", "żółć\n🧑🏽‍💻"}, {"", "cr only"}, {"", ""}, {"last", "lf"}};
  for (std::size_t pieceBytes = 1; pieceBytes <= text.size(); ++pieceBytes) {
    EXPECT_EQ(parse(text, pieceBytes), expected) << pieceBytes;
  }
}

TEST(Sse, LastEventCountsWithoutItsBlankLine) {
  EXPECT_EQ(parse("data: whole\n\ndata: cut", 3), (Events{{"", "whole"}, {"", "cut"}}));
}

TEST(Sse, EventWithoutDataIsNone) {
  EXPECT_EQ(parse("event: ping\n\n\n\n:\n\n", 1), Events{});
}

TEST(Sse, EndlessLineIsAnErrorAndNotAllMemory) {
  SseParser parser;
  const std::string piece(1 << 20, 'x');
  const auto take = [](const SseEvent&) { return true; };
  Result<void> fed;
  std::size_t bytes = 0;
  for (; fed && bytes < 4 * SseParser::kMaxEventBytes; bytes += piece.size()) fed = parser.feed(piece, take);
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().code, ErrorCode::Damaged);
  EXPECT_LE(bytes, SseParser::kMaxEventBytes + 2 * piece.size());
}

TEST(Sse, EndlessEventIsAnError) {
  SseParser parser;
  const std::string line = "data: " + std::string(1 << 20, 'x') + "\n";
  const auto take = [](const SseEvent&) { return true; };
  Result<void> fed;
  for (int i = 0; fed && i < 100; ++i) fed = parser.feed(line, take);
  EXPECT_FALSE(fed.has_value());
}

TEST(Sse, EndlessStreamIsAnError) {
  SseParser parser;
  const std::string event = "data: " + std::string(1 << 20, 'x') + "\n\n";
  const auto take = [](const SseEvent&) { return true; };
  Result<void> fed;
  std::size_t bytes = 0;
  for (; fed && bytes < 2 * SseParser::kMaxStreamBytes; bytes += event.size()) fed = parser.feed(event, take);
  ASSERT_FALSE(fed.has_value());
  EXPECT_LE(bytes, SseParser::kMaxStreamBytes + event.size());
}

TEST(Sse, NoEventComesAfterTheReaderHasHadEnough) {
  SseParser parser;
  int count = 0;
  const auto once = [&](const SseEvent&) { return ++count < 1; };
  ASSERT_TRUE(parser.feed("data: 1\n\ndata: 2\n\n", once).has_value());
  ASSERT_TRUE(parser.feed("data: 3\n\n", once).has_value());
  ASSERT_TRUE(parser.end(once).has_value());
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace bough::agent
