// A list made from the files alone equals the catalog of the same sessions after an import.
#include <bough/catalog.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include "base/text/timestamp.h"
#include "catalog/database/database.h"
#include "catalog/external.h"
#include "catalog/external/external_session.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;
using catalog::ExternalFile;

std::string textOf(const SessionSummary& row) {
  const Usage& used = row.tokens;
  return fmt::format(
      "id {} key {} agent {} by {} cwd {} title {} ({}) users {} assistants {} tools {} systems {} calls {} failures "
      "{} tokens {} {} {} {} {} branches {} state {} head {} origin {}",
      row.sessionId, row.key, row.agent, row.writtenBy, row.cwd, row.title, toString(row.titleSource), row.userMessages,
      row.assistantMessages, row.toolMessages, row.systemMessages, row.toolCalls, row.toolFailures, used.inputTokens,
      used.outputTokens, used.cacheReadTokens, used.cacheWriteTokens, used.reasoningTokens, row.branches,
      toString(row.condition), row.headId, row.origin ? row.origin->entryId : "");
}

std::uint64_t lastTimeMs(const std::string& path) {
  std::uint64_t last = 0;
  for (const Entry& entry : readAll(path).entries) last = std::max(last, parseTimestamp(entry.timestamp).value_or(0));
  return last;
}

// Returns all fixtures, and the collected samples where they exist.
std::vector<fs::path> allFiles() {
  std::vector<fs::path> paths = fixtures();
  const char* named = std::getenv("BOUGH_SAMPLES");
  const fs::path samples = named == nullptr ? fs::path(BOUGH_TESTS_DIR) / "../../shared/samples" : fs::path(named);
  std::error_code error;
  fs::recursive_directory_iterator walk(samples, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const bool isPlain = walk->is_regular_file() && walk->path().filename() != "sessions.json";
    if (isPlain && recognizeTranscript(walk->path().string())) paths.push_back(walk->path());
  }
  return paths;
}

// Returns false when the session cannot be imported.
bool compareWithImport(const fs::path& path) {
  SCOPED_TRACE(path);
  const catalog::ExternalSession external = catalog::readExternalSession({{.path = path.string(), .stamp = "1"}});
  auto store = SessionStore::open("memory:");
  EXPECT_TRUE(store);
  const auto imported = importTranscript(**store, path.string());
  if (!imported) {
    // A session whose origin is missing cannot be imported, but is still listed.
    EXPECT_EQ(external.error.has_value(), imported.error().code != ErrorCode::NotFound) << imported.error().message;
    return false;
  }
  EXPECT_FALSE(external.error) << external.error->message;
  auto catalog = Catalog::open(**store);
  EXPECT_TRUE(catalog && (*catalog)->catchUp());
  const auto row = (*catalog)->session(imported->sessionId);
  EXPECT_TRUE(row);
  // The store's copy is intact, although the file is not.
  const bool isDamaged = imported->report.recovered + imported->report.unreadable > 0;
  SessionSummary listed = external.row.facts;
  EXPECT_EQ(listed.condition == SessionCondition::Damaged, isDamaged);
  EXPECT_EQ(listed.problem, damageText(imported->report));
  if (isDamaged) listed.condition = row->condition;
  EXPECT_EQ(textOf(listed), textOf(*row));
  EXPECT_EQ(external.row.facts.activeMs, lastTimeMs(path.string()));
  EXPECT_EQ(external.row.facts.bytes, imported->report.bytes);
  std::uint64_t answers = 0;
  for (const ModelUsage& model : row->models) answers += model.messages;
  EXPECT_EQ(external.answers.size(), answers);
  return true;
}

TEST(Listing, SaysWhatAnImportSays) {
  std::size_t compared = 0;
  for (const fs::path& path : allFiles()) compared += compareWithImport(path) ? 1U : 0U;
  EXPECT_GE(compared, 30U);
}

// A list reads only what it needs of long texts.
TEST(Listing, SaysTheSameOfLongTexts) {
  const TempFolder folder;
  std::string more;
  for (int i = 0; i < 300; ++i) more += R"(\"\\ \ud83d\ude00 {[\n)" + fmt::format("ünï {} 中", i);
  std::size_t compared = 0;
  for (const fs::path& path : allFiles()) {
    std::string bytes = readBytes(path);
    for (const std::string_view name : {"text", "content", "thinking", "command", "stdout", "data"}) {
      const std::string begin = fmt::format(R"("{}":")", name);
      for (std::size_t at = bytes.find(begin); at != std::string::npos; at = bytes.find(begin, at + 1)) {
        // After existing text, which may be the title.
        const std::size_t end = std::min(bytes.find('"', at + begin.size()), bytes.size());
        if (bytes[end - 1] != '\\' && !bytes.substr(at, end - at).contains('\n')) bytes.insert(end, more);
      }
    }
    const fs::path longer = fs::path(folder.path()) / fmt::format("{}", compared) / path.filename();
    fs::create_directories(longer.parent_path());
    writeBytes(longer, bytes);
    compared += compareWithImport(longer) ? 1U : 0U;
  }
  EXPECT_GE(compared, 30U);
}

// Damages a file like crashes and broken disks.
std::string damaged(std::string bytes, std::mt19937_64& random) {
  for (std::uint64_t i = 1 + random() % 3; i > 0 && !bytes.empty(); --i) {
    const std::size_t at = random() % bytes.size();
    const std::size_t count = std::min<std::size_t>(random() % 40, bytes.size() - at);
    const std::size_t line = bytes.rfind('\n', at) + 1;  // 0 in the first line
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    switch (random() % 8) {
      case 0: bytes.resize(at); break;
      case 1: bytes.erase(at, count); break;
      case 2: bytes.replace(at, count, std::string(count, '\0')); break;
      case 3: bytes.insert(at, bytes.substr(line, end - line)); break;
      case 4: bytes.insert(end, bytes.substr(line, end - line)); break;
      case 5: bytes.erase(line, end - line); break;
      case 6: bytes[at] = static_cast<char>(random()); break;
      default: bytes += bytes.substr(line, end - line); break;
    }
  }
  return bytes;
}

TEST(Listing, SaysTheSameOfDamagedFiles) {
  const TempFolder folder;
  std::mt19937_64 random(7);
  std::size_t compared = 0;
  for (const fs::path& path : allFiles()) {
    for (int i = 0; i < 4; ++i) {
      const fs::path copy = fs::path(folder.path()) / fmt::format("{}", compared) / path.filename();
      fs::create_directories(copy.parent_path());
      writeBytes(copy, damaged(readBytes(path), random));
      SCOPED_TRACE(path);
      compared += compareWithImport(copy) ? 1U : 0U;
    }
  }
  EXPECT_GE(compared, 100U);
}

class ListOfFiles : public testing::Test {
 protected:
  ListOfFiles() { EXPECT_TRUE(SessionStore::open(list())); }

  [[nodiscard]] std::string list() const { return folder_ / "list"; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / ("files/" + name); }

  void write(const std::string& name, const std::string& sessionId, const std::vector<std::string>& texts) {
    std::string bytes =
        fmt::format(R"({{"type":"session","version":3,"id":"{}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}})"
                    "\n",
                    sessionId);
    for (const std::string& text : texts) {
      bytes +=
          fmt::format(R"({{"type":"message","id":"{0:0>8}","parentId":null,"timestamp":"2026-01-01T00:00:0{0}.000Z",)"
                      R"("message":{{"role":"user","content":"{0}","timestamp":1}}}})"
                      "\n",
                      text);
    }
    writeBytes(file(name), bytes);
  }

  catalog::ExternalReport take(const std::vector<std::string>& names, const std::function<void()>& before = [] {}) {
    const catalog::ExternalWalk walk = [&](const auto& use) -> Result<void> {
      before();
      for (const std::string& name : names) {
        if (!fs::exists(file(name))) continue;
        const std::string stamp = fmt::format("{}", fs::is_directory(file(name)) ? 0 : fs::file_size(file(name)));
        if (!use({.path = file(name), .stamp = stamp})) break;
      }
      return {};
    };
    const auto report = catalog::updateExternalRows(list(), walk, [](std::uint64_t) {});
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    return report.value_or(catalog::ExternalReport{});
  }

  std::vector<SessionSummary> listed() {
    auto store = SessionStore::open(list());
    auto catalog = Catalog::open(**store);
    return *(*catalog)->list();
  }

  // Returns "id messages" for each row.
  std::vector<std::string> rows() {
    std::vector<std::string> out;
    for (const SessionSummary& row : listed()) out.push_back(fmt::format("{} {}", row.sessionId, row.userMessages));
    std::ranges::sort(out);
    return out;
  }

  TempFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(ListOfFiles, OnlyChangedFilesAreReadAgain) {
  write("a.jsonl", "one", {"1"});
  write("b.jsonl", "two", {"1", "2"});
  EXPECT_EQ(take({"a.jsonl", "b.jsonl"}).read, 2U);
  EXPECT_EQ(rows(), (Texts{"one 1", "two 2"}));
  EXPECT_EQ(take({"a.jsonl", "b.jsonl"}).read, 0U);
  write("a.jsonl", "one", {"1", "2", "3"});
  EXPECT_EQ(take({"a.jsonl", "b.jsonl"}).read, 1U);
  EXPECT_EQ(rows(), (Texts{"one 3", "two 2"}));
}

TEST_F(ListOfFiles, WhatIsGoneIsNotListedAndWhatWasNotAskedForStays) {
  write("a.jsonl", "one", {"1"});
  write("b.jsonl", "two", {"1"});
  take({"a.jsonl", "b.jsonl"});
  EXPECT_EQ(take({"a.jsonl"}).read, 0U);
  EXPECT_EQ(rows(), (Texts{"one 1", "two 1"}));
  fs::remove(file("b.jsonl"));
  take({"a.jsonl"});
  EXPECT_EQ(rows(), (Texts{"one 1"}));
}

TEST_F(ListOfFiles, SeveralFilesOfOneSessionAreOneRow) {
  write("a.jsonl", "one", {"1", "2"});
  write("b.jsonl", "one", {"2", "3"});
  take({"a.jsonl", "b.jsonl"});
  EXPECT_EQ(rows(), (Texts{"one 3"}));
  EXPECT_EQ(take({"a.jsonl", "b.jsonl"}).read, 0U);
  write("b.jsonl", "one", {"2", "3", "4"});
  EXPECT_EQ(take({"a.jsonl", "b.jsonl"}).read, 1U);
  EXPECT_EQ(rows(), (Texts{"one 4"}));
  write("b.jsonl", "other", {"5", "6", "7", "8"});
  take({"a.jsonl", "b.jsonl"});
  EXPECT_EQ(rows(), (Texts{"one 2", "other 4"}));
}

TEST_F(ListOfFiles, AFileThatIsNoSessionIsReadOnce) {
  writeBytes(file("odd\nname.jsonl"), "{\"what\":1}\n");
  const auto first = take({"odd\nname.jsonl"});
  EXPECT_EQ(first.unreadable, 1U);
  EXPECT_FALSE(first.example.empty());
  // It is not read again, but is reported again.
  const auto second = take({"odd\nname.jsonl"});
  EXPECT_EQ(second.read, 0U);
  EXPECT_EQ(second.unreadable, 1U);
  EXPECT_EQ(second.example, first.example);
  EXPECT_EQ(take({}).unreadable, 0U);
  write("odd\nname.jsonl", "one", {"1"});
  EXPECT_EQ(take({"odd\nname.jsonl"}).unreadable, 0U);
  EXPECT_EQ(rows(), (Texts{"one 1"}));
}

TEST_F(ListOfFiles, AnEmptyFileIsNamed) {
  for (const std::string bytes : {"", "\n", " \r\n\t", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n\n\n"}) {
    writeBytes(file("a.jsonl"), bytes);
    for (int i = 0; i < 2; ++i) {
      const auto report = take({"a.jsonl"});
      EXPECT_EQ(report.unreadable, 1U);
      EXPECT_EQ(report.example, file("a.jsonl") + ": the file is empty");
    }
  }
  write("a.jsonl", "one", {"1"});
  EXPECT_EQ(take({"a.jsonl"}).unreadable, 0U);
  EXPECT_EQ(rows(), (Texts{"one 1"}));
}

TEST_F(ListOfFiles, ADamagedFileIsListedAsDamagedUntilItIsWhole) {
  write("a.jsonl", "one", {"1"});
  const std::string whole = readBytes(file("a.jsonl"));
  writeBytes(file("a.jsonl"), whole + "{\"type\":\"mess\n");
  for (int i = 0; i < 2; ++i) {
    take({"a.jsonl"});
    ASSERT_EQ(listed().size(), 1U);
    EXPECT_EQ(listed().front().condition, SessionCondition::Damaged);
    EXPECT_TRUE(listed().front().problem.starts_with("1 place is damaged (0 read all the same, 1 not)"));
  }
  writeBytes(file("a.jsonl"), whole);
  take({"a.jsonl"});
  EXPECT_EQ(listed().front().condition, SessionCondition::Live);
  EXPECT_EQ(listed().front().problem, "");
}

TEST_F(ListOfFiles, OneOfSeveralFilesThatCannotBeReadIsNamed) {
  write("a.jsonl", "one", {"1", "2"});
  write("b.jsonl", "one", {"2", "3"});
  take({"a.jsonl", "b.jsonl"});
  // readExternalSession reads the files of a row whatever their current state is.
  fs::remove(file("b.jsonl"));
  fs::create_directory(file("b.jsonl"));
  const catalog::ExternalSession external =
      catalog::readExternalSession({{.path = file("a.jsonl"), .stamp = "1"}, {.path = file("b.jsonl"), .stamp = "1"}});
  EXPECT_FALSE(external.error);
  EXPECT_EQ(external.row.facts.condition, SessionCondition::Damaged);
  EXPECT_EQ(external.row.facts.problem, file("b.jsonl") + " is not a regular file");
}

// Returns the complete contents of a list's database, independent of row numbers.
std::string contentsOf(const std::string& list) {
  auto database = catalog::Database::open(list + "/catalog.db", catalog::OpenAs::ReadOnly, 1'000);
  EXPECT_TRUE(database);
  std::string out;
  for (const std::string_view rows :
       {"SELECT name || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1",
        "SELECT sessionId || ' ' || assistants || ' ' || output || ' ' || activeMs FROM session ORDER BY 1",
        "SELECT sessionId || ' ' || answer.id || ' ' || first || ' ' || quarter || ' ' || name || ' ' || answer.output "
        "FROM answer JOIN session ON session.id = answer.session JOIN model ON model.id = answer.model ORDER BY 1",
        "SELECT quarter || ' ' || name || ' ' || answers || ' ' || uncertain || ' ' || output FROM used JOIN model ON "
        "model.id = used.model WHERE answers > 0 ORDER BY 1",
        "SELECT id FROM copied ORDER BY 1"}) {
    catalog::Query query(**database, std::string(rows));
    while (query.next()) out += query.text(0) + '\n';
    out += '\n';
  }
  EXPECT_TRUE((*database)->takeFailure());
  return out;
}

TEST_F(ListOfFiles, WhatIsReadAtOnceIsWhatIsReadFileByFile) {
  std::vector<std::string> names;
  for (int session = 0; session < 40; ++session) {
    std::string bytes;
    std::string parent = "null";
    for (int answer = 0; answer < 5; ++answer) {
      // Every third session has copies of other sessions' answers; some answers have no usage.
      const int from = session % 3 == 0 ? session % 7 : session;
      const std::string uuid = fmt::format("{:08x}-{:04x}-4000-8000-000000000000", session, answer);
      bytes += fmt::format(
          R"({{"parentUuid":{},"isSidechain":false,"type":"assistant","message":{{"id":"msg_{:020d}","type":"message",)"
          R"("role":"assistant","model":"model-{}","content":[{{"type":"text","text":"a"}}],"usage":{{"input_tokens":{},)"
          R"("output_tokens":{}}}}},"uuid":"{}","timestamp":"2026-01-01T00:{:02}:00.000Z","sessionId":)"
          R"("{:08x}-0000-4000-8000-000000000000"}})"
          "\n",
          parent, from * 10 + answer, from % 2, answer == 4 ? 0 : from, answer == 4 ? 0 : from + answer, uuid, from,
          session);
      parent = '"' + uuid + '"';
    }
    names.push_back(fmt::format("{:08x}-0000-4000-8000-000000000000.jsonl", session));
    writeBytes(file(names.back()), bytes);
  }
  for (const std::string& name : names) take({name});
  const std::string fileByFile = contentsOf(list());
  fs::remove(list() + "/catalog.db");
  EXPECT_EQ(take(names).read, names.size());
  EXPECT_EQ(contentsOf(list()), fileByFile);
  // Another process was faster.
  fs::remove(list() + "/catalog.db");
  const auto others = [&] { take({names.begin(), names.begin() + 20}); };
  EXPECT_EQ(take(names, others).read, names.size());
  EXPECT_EQ(contentsOf(list()), fileByFile);
}

}  // namespace
}  // namespace bough
