// Session files that are a single JSON document, damaged: every complete record is read, and the rest is counted. Also
// files compressed with gzip.
#include <fmt/format.h>
#include <zlib.h>

#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kDocuments = {"gemini-cli/document.json", "gemini-cli/document_compact.json",
                                             "myagents/sessions/legacy-1.json"};

std::vector<std::string> idsOf(const std::vector<Entry>& entries) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries) {
    if (holdsMessage(entry)) ids.push_back(entry.id);
  }
  return ids;
}

class Document : public testing::TestWithParam<std::string> {
 protected:
  Document() : bytes_(readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/" + GetParam())) {
    const ReadFile file = read(bytes_);
    for (const Entry& entry : file.entries) {
      const auto origin = json::findMember(entry.payload, "transcript").value_or("");
      const auto size = json::findUnsigned(origin, "size");
      if (!holdsMessage(entry) || !size) continue;
      begins_.push_back(bytes_.find('{', *json::findUnsigned(origin, "at")));
      ends_.push_back(*json::findUnsigned(origin, "at") + *size);
    }
    messages_ = idsOf(file.entries);
  }

  ReadFile read(std::string_view bytes) {
    const fs::path path = folder_.path() / fmt::format("{}", ++number_) / fs::path(GetParam()).filename();
    writeBytes(path, bytes);
    ReadFile file = readAll(path);
    // The way back, and a clean copy.
    const WriteTranscriptOptions back{
        .agent = file.report.facts.agent, .facts = file.report.facts, .headId = file.report.headId};
    EXPECT_EQ(writeAll(file.entries, back), bytes);
    WriteTranscriptOptions clean = back;
    clean.clean = true;
    const fs::path copy = path.parent_path() / "clean.jsonl";
    writeBytes(copy, writeAll(file.entries, clean));
    const ReadFile again = readAll(copy);
    EXPECT_EQ(story(again.entries, again.report.headId), story(file.entries, file.report.headId));
    EXPECT_EQ(idsOf(again.entries).size(), idsOf(file.entries).size());
    EXPECT_EQ(damageText(again.report), "");
    return file;
  }

  TempFolder folder_;
  int number_ = 0;
  std::string bytes_;
  std::vector<std::string> messages_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> ends_;
};

TEST_P(Document, WithAByteOrderMarkOrOtherLineEndsIsWhole) {
  EXPECT_EQ(idsOf(read("\xEF\xBB\xBF" + bytes_).entries).size(), messages_.size());
  std::string other;
  for (const char c : bytes_) other += c == '\n' ? "\r\n" : std::string(1, c);
  const ReadFile file = read(other);
  EXPECT_EQ(idsOf(file.entries).size(), messages_.size());
  EXPECT_EQ(damageText(file.report), "");
}

TEST_P(Document, ThatIsNotUtf8IsReadAllTheSame) {
  std::string bytes = bytes_;
  const std::size_t at = bytes.find("\"content\"");
  bytes.insert(bytes.find('"', at + 9) + 1, "\xFF\xFE");
  const ReadFile file = read(bytes);
  EXPECT_EQ(idsOf(file.entries).size(), messages_.size());
  EXPECT_EQ(file.report.recovered, 1U);
  EXPECT_TRUE(story(file.entries, file.report.headId).contains("\uFFFD\uFFFD"));
}

TEST_P(Document, WithDamageBetweenRecordsLosesNone) {
  for (const std::string& damage :
       {std::string("@@@"), std::string(" ]"), std::string("{\"id\":"), std::string("\""), std::string(3, 0)}) {
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i) {
      SCOPED_TRACE(fmt::format("{} after record {}", damage, i));
      std::string bytes = bytes_;
      bytes.insert(ends_[i], damage);
      const ReadFile file = read(bytes);
      EXPECT_EQ(idsOf(file.entries).size(), messages_.size());
      EXPECT_GT(file.report.recovered + file.report.unreadable, 0U);
    }
  }
}

TEST_P(Document, WithADamagedRecordLosesThatOne) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    SCOPED_TRACE(i);
    std::string bytes = bytes_;
    bytes.insert(begins_[i] + 1, "@@@");
    const ReadFile file = read(bytes);
    EXPECT_GE(idsOf(file.entries).size() + 3, messages_.size());  // a record may become three messages
    EXPECT_LT(idsOf(file.entries).size(), messages_.size());
    EXPECT_EQ(file.report.unreadable, 1U);
  }
}

TEST_P(Document, ThatBreaksOffKeepsWhatIsWhole) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    SCOPED_TRACE(i);
    const ReadFile whole = read(bytes_.substr(0, ends_[i]));
    EXPECT_GE(idsOf(whole.entries).size(), i + 1);
    EXPECT_EQ(whole.report.unreadable + whole.report.recovered, 1U) << damageText(whole.report);
    if (i + 1 == ends_.size()) continue;
    const ReadFile torn = read(bytes_.substr(0, ends_[i + 1] - 3));
    EXPECT_EQ(idsOf(torn.entries), idsOf(whole.entries));
    EXPECT_EQ(torn.report.unreadable, 1U);
  }
}

TEST_P(Document, ThatIsThereTwiceIsReadTwice) {
  const ReadFile file = read(bytes_ + "\n" + bytes_);
  EXPECT_GE(file.entries.size(), 2 * ends_.size());
  EXPECT_GT(file.report.recovered + file.report.unreadable, 0U);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Document, testing::ValuesIn(kDocuments));

std::string gzipped(std::string_view plain) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  std::string bytes(plain);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(Documents, OfLinesThatWerePackedWithGzipAreRead) {
  TempFolder folder;
  const std::string plain = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/pi/02-tools.jsonl");
  const fs::path path = fs::path(folder.path()) / "02-tools.jsonl.gz";
  // With two members, as `cat a.gz b.gz` makes it.
  const std::string packed = gzipped(plain.substr(0, 700)) + gzipped(plain.substr(700));
  writeBytes(path, packed);
  const ReadFile file = readAll(path);
  EXPECT_EQ(file.report.bytes, plain.size());
  EXPECT_EQ(file.report.recovered + file.report.unreadable, 0U);
  EXPECT_EQ(writeAll(file.entries, {.agent = "pi"}), plain);
  // The intact part of a broken file shows which agent it belongs to.
  for (const std::size_t bytes : {packed.size() / 2, packed.size() - 1}) {
    writeBytes(path, packed.substr(0, bytes));
    EXPECT_EQ(recognizeTranscript(path).value_or(""), "pi") << bytes;
  }
  for (const std::string& broken : {packed.substr(0, packed.size() / 2), packed.substr(0, packed.size() - 1),
                                    packed + "garbage", packed.substr(0, 40) + "####" + packed.substr(44)}) {
    writeBytes(path, broken);
    const auto read = readTranscript(path, {}, [](Entry&&) -> Result<void> { return {}; });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::Damaged) << read.error().message;
  }
}

TEST(Documents, OfGeminiAreKnownWhereOneOfTheirNamesIsDamaged) {
  const TempFolder folder;
  const std::string path = folder / "s.json";
  const std::string bytes = readBytes(BOUGH_TESTS_DIR "/transcript/fixtures/gemini-cli/document.json");
  writeBytes(path, bytes);
  const std::size_t messages = readAll(path).report.messages;
  for (const std::string_view name : {"sessionId", "projectHash", "startTime", "lastUpdated"}) {
    for (const std::string_view other : {"\x01", "\xFF", "\"", "x"}) {
      SCOPED_TRACE(fmt::format("{} {}", name, other));
      std::string damaged = bytes;
      damaged.replace(damaged.find(name) + 2, 1, other);
      writeBytes(path, damaged);
      EXPECT_EQ(readAll(path).report.messages, messages);
    }
  }
}

// Text that the program adds for its model does not count as the user's, even in the same message.
TEST(GeminiContext, WhatStandsBeforeAPersonsWordsDoesNotHideThem) {
  const TempFolder folder;
  const std::string path = folder / "s.jsonl";
  const std::string bytes =
      R"({"sessionId":"00000000-0000-4000-8000-000000000007","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"})"
      "\n"
      R"({"id":"u0","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]})"
      "\n"
      R"({"id":"u1","timestamp":"2026-01-01T00:00:02.000Z","type":"user","content":[{"text":"<hook_context>be brief</hook_context>\n"},{"text":"first words"}]})"
      "\n"
      R"({"id":"u2","timestamp":"2026-01-01T00:00:03.000Z","type":"user","content":"<hook_context>x</hook_context> and words"})"
      "\n";
  writeBytes(path, bytes);
  const ReadFile file = readAll(path);
  EXPECT_EQ(story(file.entries, file.report.headId),
            "user: first words\nuser: <hook_context>x</hook_context> and words\n");
  EXPECT_EQ(writeAll(file.entries, {.agent = "gemini-cli", .facts = file.report.facts}), bytes);
}

}  // namespace
}  // namespace bough
