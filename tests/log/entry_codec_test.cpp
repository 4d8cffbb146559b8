#include <gtest/gtest.h>

#include <random>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "bough/entry.h"

namespace bough {
namespace {

Entry sample() {
  Entry entry;
  entry.id = "e1";
  entry.parentId = "p1";
  entry.type = entry_type::kMessage;
  entry.timestamp = "2026-11-14T23:47:00.862Z";
  entry.payload = "{}";
  return entry;
}

std::string encoded(const Entry& entry) {
  std::string text;
  const auto done = jsonEntrySerializer().encode(entry, text);
  EXPECT_TRUE(done) << done.error().message;
  return text;
}

Entry decoded(std::string_view text) {
  auto entry = jsonEntrySerializer().decode(text);
  EXPECT_TRUE(entry) << entry.error().message << " in " << text;
  return entry ? *entry : Entry();
}

std::string refusal(const Entry& entry) {
  std::string text;
  const auto done = jsonEntrySerializer().encode(entry, text);
  EXPECT_FALSE(done) << text;
  EXPECT_TRUE(text.empty());
  if (done) return {};
  EXPECT_EQ(done.error().code, ErrorCode::InvalidArgument);
  return done.error().message;
}

TEST(EntryCodec, MembersStandInTheirFixedOrder) {
  Entry entry = sample();
  entry.runId = "r";
  entry.meta = R"({"m":1})";
  entry.extra = R"("zebra":1,"ant":[2])";
  EXPECT_EQ(encoded(entry),
            R"({"id":"e1","parentId":"p1","type":"message","timestamp":"2026-11-14T23:47:00.862Z","runId":"r",)"
            R"("payload":{},"meta":{"m":1},"zebra":1,"ant":[2]})");
}

TEST(EntryCodec, PayloadsAreVerbatim) {
  for (const std::string payload : {
           R"({"n":1.0e+00,"big":123456789012345678901234567890,"neg":-0,"tiny":1E-999})",
           R"({"a":1,"a":2,"a":{"a":3}})",
           R"({"s":"\u00e9\/é\ud83d","lone":"\ud800","nul":"\u0000"})",
           R"({   "blanks" :	[ 1 , 2 ]   })",
           R"({"":"","seal":"1/1 00000000","id":"inner"})",
           "{\"emoji\":\"\xF0\x9F\x8C\xB3\"}",
       }) {
    Entry entry = sample();
    entry.payload = payload;
    EXPECT_EQ(decoded(encoded(entry)).payload, payload);
    entry.payload = "{}";
    entry.meta = payload;
    EXPECT_EQ(decoded(encoded(entry)).meta, payload);
    entry.meta.clear();
    entry.extra = "\"unknown\":" + payload;
    EXPECT_EQ(decoded(encoded(entry)).extra, entry.extra);
  }
}

TEST(EntryCodec, LineBreaksBetweenTokensBecomeBlanks) {
  Entry entry = sample();
  entry.payload = "{\n\"a\":\r\n1}";
  const std::string text = encoded(entry);
  EXPECT_FALSE(text.contains('\n'));
  EXPECT_FALSE(text.contains('\r'));
  EXPECT_EQ(decoded(text).payload, "{ \"a\":  1}");
  entry.payload = "{}";
  entry.extra = "\"x\":\n1,\r\"y\":2";
  EXPECT_FALSE(encoded(entry).contains('\n'));
}

TEST(EntryCodec, UnknownMembersAreKeptInOrderWhereverTheyStand) {
  const Entry entry = decoded(R"({"z":[1, 2],"id":"a","new":{"k":1.50},"type":"t","parentId":null,"z":"again"})");
  EXPECT_EQ(entry.extra, R"("z":[1, 2],"new":{"k":1.50},"z":"again")");
  EXPECT_EQ(entry.parentId, "");
  EXPECT_EQ(entry.payload, "{}");
}

TEST(EntryCodec, TheFirstOfTwoEqualKnownMembersCounts) {
  // Like a lookup by the beginning of the entry's line.
  const Entry entry = decoded(
      R"({"id":"a","id":"b","parentId":"p","parentId":"q","type":"t","type":"u","payload":{"n":1},"payload":{"n":2}})");
  EXPECT_EQ(entry.id, "a");
  EXPECT_EQ(entry.parentId, "p");
  EXPECT_EQ(entry.type, "t");
  EXPECT_EQ(entry.payload, R"({"n":1})");
}

TEST(EntryCodec, ExtraCannotSmuggleInKnownMembers) {
  for (const std::string extra :
       {R"("id":"x")", R"("\u0069d":"x")", R"("a":1,"se\u0061l":"1/1 00000000")", R"("payload":{})"}) {
    Entry entry = sample();
    entry.extra = extra;
    EXPECT_TRUE(refusal(entry).contains("extra holds the known member")) << extra;
  }
  for (const std::string extra : {R"("a":1},{"b":2)", R"("a":1,)", R"("a")", "nonsense", R"(})", " ", "\n"}) {
    Entry entry = sample();
    entry.extra = extra;
    (void)refusal(entry);
  }
}

// An append accepts fewer types, but types that another writer stored must survive a migration.
TEST(EntryCodec, ATypeOfAnyTextIsWrittenAsOneString) {
  for (const std::string type : {"a\",\"x\":\"", "two words", "tab\t", "back\\slash"}) {
    Entry entry = sample();
    entry.type = type;
    std::string text;
    ASSERT_TRUE(jsonEntrySerializer().encode(entry, text));
    const auto decoded = jsonEntrySerializer().decode(text);
    ASSERT_TRUE(decoded) << text;
    EXPECT_EQ(decoded->type, type);
    EXPECT_EQ(decoded->extra, entry.extra);
  }
}

TEST(EntryCodec, WhatBreaksTheFormatIsRefused) {
  const auto with = [](auto change) {
    Entry entry = sample();
    change(entry);
    return refusal(entry);
  };
  EXPECT_TRUE(with([](Entry& e) { e.id = ""; }).contains("(no id yet)"));
  EXPECT_TRUE(with([](Entry& e) { e.id = "a b"; }).contains("the id is not"));
  EXPECT_TRUE(with([](Entry& e) { e.id = "a\"b"; }).contains("the id is not"));
  EXPECT_TRUE(with([](Entry& e) { e.id = std::string(129, 'a'); }).contains("the id is not"));
  EXPECT_TRUE(with([](Entry& e) { e.parentId = "x/y"; }).contains("parentId"));
  EXPECT_TRUE(with([](Entry& e) { e.type = ""; }).contains("type"));
  EXPECT_TRUE(with([](Entry& e) { e.type = "\xFF"; }).contains("type"));
  EXPECT_TRUE(with([](Entry& e) { e.timestamp = "yesterday"; }).contains("timestamp"));
  EXPECT_TRUE(with([](Entry& e) { e.runId = "\xFF"; }).contains("runId"));
  EXPECT_TRUE(with([](Entry& e) { e.runId = std::string(257, 'r'); }).contains("runId"));
  EXPECT_TRUE(with([](Entry& e) { e.payload = ""; }).contains("payload"));
  EXPECT_TRUE(with([](Entry& e) { e.payload = "[]"; }).contains("payload is not a JSON object"));
  EXPECT_TRUE(with([](Entry& e) { e.payload = "{} {}"; }).contains("payload is not JSON"));
  EXPECT_TRUE(with([](Entry& e) { e.payload = "{\"a\":\"\xC3\x28\"}"; }).contains("payload is not JSON"));
  EXPECT_TRUE(with([](Entry& e) { e.payload = std::string("{\"a\":\"") + '\0' + "\"}"; }).contains("at byte 6"));
  EXPECT_TRUE(with([](Entry& e) { e.payload = "{\"a\":\"x\ny\"}"; }).contains("payload is not JSON"));
  EXPECT_TRUE(with([](Entry& e) { e.meta = "1"; }).contains("meta is not a JSON object"));
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(with([&](Entry& e) { e.payload = nested(10'000); }).contains("payload is not JSON"));
}

TEST(EntryCodec, TextThatIsNoEntryIsDamage) {
  for (const std::string text : {"", "x", "[]", R"({"id":1})", R"({"id":"a","payload":[]})", R"({"id":"a","meta":"m"})",
                                 R"({"id":"a")", R"({"id":"a","timestamp":"x","parentId":5})"}) {
    const auto entry = jsonEntrySerializer().decode(text);
    ASSERT_FALSE(entry) << text;
    EXPECT_EQ(entry.error().code, ErrorCode::Damaged);
  }
}

TEST(EntryCodec, MillisecondsOfADraftBecomeATime) {
  EXPECT_EQ(decoded(R"({"id":"a","type":"t","timestamp":1763164020862})").timestamp, "2025-11-14T23:47:00.862Z");
}

// Returns a JSON value of any shape, formatted in any style.
std::string anyValue(std::mt19937& random, int depth) {
  static const std::vector<std::string> kLeaves = {"0",
                                                   "-0.0",
                                                   "1e5",
                                                   "1E+05",
                                                   "12345678901234567890123",
                                                   "true",
                                                   "false",
                                                   "null",
                                                   "\"\"",
                                                   "\"\\u0041\"",
                                                   "\"\xC3\xA9\"",
                                                   "\"a\\\\b\\\"c\\n\"",
                                                   "\"\\ud83c\\udf33\"",
                                                   "\"seal\""};
  const auto blank = [&] { return std::string(random() % 3, ' '); };
  const auto kind = random() % (depth > 3 ? 1 : 3);
  if (kind == 0) return kLeaves[random() % kLeaves.size()];
  std::string text = kind == 1 ? "{" : "[";
  const auto count = random() % 4;
  for (unsigned i = 0; i < count; ++i) {
    if (i > 0) text += "," + blank();
    if (kind == 1) text += "\"k" + std::to_string(random() % 3) + "\"" + blank() + ":";
    text += blank() + anyValue(random, depth + 1);
  }
  return text + blank() + (kind == 1 ? "}" : "]");
}

TEST(EntryCodec, WhateverIsEncodedComesBack) {
  std::mt19937 random(5);
  const auto anyId = [&] {
    static constexpr std::string_view kAlphabet = "abcXYZ019._:-";
    std::string id;
    for (auto n = 1 + random() % 128; n > 0; --n) id += kAlphabet[random() % kAlphabet.size()];
    return id;
  };
  for (int round = 0; round < 3000; ++round) {
    Entry entry;
    entry.id = anyId();
    entry.parentId = random() % 3 == 0 ? "" : anyId();
    entry.type = random() % 2 == 0 ? "message" : anyId().substr(0, 64);
    entry.timestamp = "2026-11-14T23:47:00+01:00";
    if (random() % 2 == 0) entry.runId = "run \"\\ \xC3\xA9 \t" + std::to_string(random());
    entry.payload = "{\"v\":" + anyValue(random, 0) + "}";
    if (random() % 2 == 0) entry.meta = "{\"v\":" + anyValue(random, 0) + "}";
    if (random() % 2 == 0) entry.extra = "\"x\":" + anyValue(random, 0) + ",\"y\":" + anyValue(random, 0);
    const std::string text = encoded(entry);
    const Entry back = decoded(text);
    ASSERT_EQ(back.id, entry.id);
    ASSERT_EQ(back.parentId, entry.parentId);
    ASSERT_EQ(back.type, entry.type);
    ASSERT_EQ(back.timestamp, entry.timestamp);
    ASSERT_EQ(back.runId, entry.runId);
    ASSERT_EQ(back.payload, entry.payload);
    ASSERT_EQ(back.meta, entry.meta);
    ASSERT_EQ(back.extra, entry.extra);
    ASSERT_EQ(encoded(back), text);
  }
}

TEST(EntryCodec, ASealedLineIsReadRightWhateverStandsAroundItsPayload) {
  const std::string head = R"({"id":"e","parentId":null,"type":"x","timestamp":"2026-11-14T23:47:00.862Z",)";
  const std::string seal = R"(,"seal":"1/1 01234567"})";
  struct Case {
    std::string members, payload, meta, extra;
  };
  for (const Case& c : {Case{R"("payload":{"a":{}})", R"({"a":{}})", "", ""},
                        Case{R"("payload":{"meta":{}},"meta":{"m":1})", R"({"meta":{}})", R"({"m":1})", ""},
                        Case{R"("payload":{},"zebra":{"b":{}})", "{}", "", R"("zebra":{"b":{}})"},
                        Case{R"("zebra":{},"payload":{})", "{}", "", R"("zebra":{})"},
                        Case{R"("payload":{"s":"},\"meta\":{"})", R"({"s":"},\"meta\":{"})", "", ""}}) {
    const auto entry = jsonEntrySerializer().decode(head + c.members + seal);
    ASSERT_TRUE(entry) << c.members;
    EXPECT_EQ(entry->payload, c.payload);
    EXPECT_EQ(entry->meta, c.meta);
    EXPECT_EQ(entry->extra, c.extra);
  }
  EXPECT_FALSE(jsonEntrySerializer().decode(head + R"("payload":{]})" + seal));
}

}  // namespace
}  // namespace bough
