#include "log/format/entry_body.h"

#include <gtest/gtest.h>

#include <string>

namespace bough {
namespace {

constexpr std::string_view kFull =
    R"(,"type":"message","timestamp":"2026-11-14T23:47:00.862Z","runId":"r","payload":{"a":[1,{"b":"}\"{"}]},"meta":{"m":1}})";

// What the serializer reads from the same members.
std::optional<Entry> decoded(std::string_view body) {
  if (!body.starts_with(',')) return std::nullopt;
  auto entry = jsonEntrySerializer().decode("{" + std::string(body.substr(1)));
  return entry ? std::optional(std::move(*entry)) : std::nullopt;
}

void expectSame(std::string_view body, const Entry& read) {
  const auto entry = decoded(body);
  ASSERT_TRUE(entry) << body;
  EXPECT_EQ(read.type, entry->type) << body;
  EXPECT_EQ(read.timestamp, entry->timestamp) << body;
  EXPECT_EQ(read.runId, entry->runId) << body;
  EXPECT_EQ(read.payload, entry->payload) << body;
  EXPECT_EQ(read.meta, entry->meta) << body;
  EXPECT_EQ(read.extra, entry->extra) << body;
}

TEST(EntryBody, IsReadAsTheSerializerReadsIt) {
  for (const std::string_view body :
       {kFull, std::string_view(R"(,"type":"message","timestamp":"t","payload":{}})"),
        std::string_view(R"(,"type":"own.type","timestamp":"t","payload":{"s":"é\ud83d\u0000","n":1.0e+00}})"),
        std::string_view(R"(,"type":"message","timestamp":"t","runId":"","payload":{  "x" : 1 },"meta":{}})")}) {
    Entry entry;
    EXPECT_TRUE(readEntryBody(body, entry)) << body;
    expectSame(body, entry);
  }
}

TEST(EntryBody, OtherFormsAreLeftToTheSerializer) {
  for (const std::string_view body :
       {R"(,"timestamp":"t","type":"message","payload":{}})", R"(,"type":"mess\u0061ge","timestamp":"t","payload":{}})",
        R"(,"type":"message","timestamp":1,"payload":{}})", R"(,"type":"message","timestamp":"t"})",
        R"(,"type":"message","timestamp":"t","payload":{},"zebra":1})",
        R"(,"type":"message","timestamp":"t","payload":{} })"}) {
    Entry entry;
    EXPECT_FALSE(readEntryBody(body, entry)) << body;
    EXPECT_TRUE(decoded(body)) << body;
  }
}

TEST(EntryBody, NothingIsReadThatTheSerializerRefuses) {
  for (std::size_t length = 0; length < kFull.size(); ++length) {
    Entry entry;
    EXPECT_FALSE(readEntryBody(kFull.substr(0, length), entry)) << length;
  }
  for (std::size_t at = 0; at < kFull.size(); ++at) {
    for (const char c : {'\0', '\n', '"', '\\', '{', '}', '[', ',', 'x', '1'}) {
      std::string changed(kFull);
      changed[at] = c;
      Entry entry;
      if (readEntryBody(changed, entry)) expectSame(changed, entry);
    }
  }
  Entry entry;
  EXPECT_FALSE(readEntryBody(std::string(kFull) + "}", entry));
  EXPECT_FALSE(readEntryBody(R"(,"type":"message","timestamp":"t","payload":[1]})", entry));
}

}  // namespace
}  // namespace bough
