// Sessions in OpenClaw's database: read as if they were files, without writing anything.
#include <bough/catalog.h>
#include <bough/store.h>
#include <bough/transcript.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zstd.h>

#include <filesystem>

#include "catalog/external.h"
#include "support/temp_folder.h"
#include "transcript/files.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema =
    "CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, updated_at "
    "INTEGER);"
    "CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT);"
    "CREATE TABLE session_transcript_archives (session_id TEXT, generation TEXT, session_key TEXT, reason TEXT, "
    "encoding TEXT, archive_blob BLOB, archive_name TEXT UNIQUE, created_at INTEGER, PRIMARY KEY (session_id, "
    "generation));";

// Programs that compress a stream do not write the size of the content into the frame.
std::string packed(std::string_view bytes, bool saysSize = true) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, saysSize ? 1 : 0);
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size()));
  return out;
}

// An OpenClaw home folder with one database.
class Home {
 public:
  explicit Home(bool hasPacked = true) : hasPacked_(hasPacked) {
    path = fs::path(folder.path()) / ".openclaw/agents/main/agent/openclaw-agent.sqlite";
    fs::create_directories(path.parent_path());
    EXPECT_EQ(::sqlite3_open(path.c_str(), &database), SQLITE_OK);
    run(std::string(kSchema));
    run(hasPacked ? "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, "
                    "created_at INTEGER, PRIMARY KEY (session_id, seq))"
                  : "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at "
                    "INTEGER, PRIMARY KEY (session_id, seq))");
  }
  ~Home() { close(); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  void close() {
    ::sqlite3_close(database);
    database = nullptr;
  }

  void run(const std::string& sql) {
    EXPECT_EQ(::sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << ::sqlite3_errmsg(database);
  }

  void bind(const std::string& sql, const std::vector<std::string>& values, std::size_t blobAt = SIZE_MAX) {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(::sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << ::sqlite3_errmsg(database);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int size = static_cast<int>(values[i].size());
      const int place = static_cast<int>(i) + 1;
      if (i == blobAt) {
        ::sqlite3_bind_blob(statement, place, values[i].data(), size, SQLITE_TRANSIENT);
      } else {
        ::sqlite3_bind_text(statement, place, values[i].data(), size, SQLITE_TRANSIENT);
      }
    }
    EXPECT_EQ(::sqlite3_step(statement), SQLITE_DONE) << ::sqlite3_errmsg(database);
    ::sqlite3_finalize(statement);
  }

  // Every second line is compressed, and the rows are not in order.
  void addSession(const std::string& id, const std::string& lines) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      all.push_back(lines.substr(at, end - at));
      at = end + 1;
    }
    for (std::size_t i = all.size(); i-- > 0;) {
      const std::string row = fmt::format("'{}', {}", id, i);
      if (hasPacked_ && i % 2 == 1) {
        bind("INSERT INTO transcript_events VALUES (" + row + ", NULL, ?1, 1)", {packed(all[i], i % 4 == 1)}, 0);
      } else {
        bind("INSERT INTO transcript_events VALUES (" + row + (hasPacked_ ? ", ?1, NULL, 1)" : ", ?1, 1)"), {all[i]});
      }
    }
  }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(path.parent_path())) names.push_back(each.path().filename());
    std::ranges::sort(names);
    return names;
  }

  [[nodiscard]] TranscriptHome home() const {
    return {.home = folder.path().string(), .variable = [](const std::string&) { return std::string(); }};
  }

  TempFolder folder;
  fs::path path;
  sqlite3* database = nullptr;

 private:
  bool hasPacked_;
};

const std::string kTools = BOUGH_TESTS_DIR "/transcript/fixtures/pi/02-tools.jsonl";
const std::string kLinear = BOUGH_TESTS_DIR "/transcript/fixtures/pi/01-linear.jsonl";

TEST(OpenClawDatabase, ASessionThatWasRemovedFromItLeavesTheList) {
  Home home;
  home.addSession("aaaa-1", readBytes(kTools));
  home.addSession("bbbb-2", readBytes(kLinear));
  TempFolder folder;
  const std::string list = folder / "list";
  ASSERT_TRUE(SessionStore::open(list));
  const auto listed = [&] {
    const catalog::ExternalWalk walk = [&](const auto& use) -> Result<void> {
      const auto walked = eachTranscript(home.home(), {"openclaw"}, [&](FoundTranscript&& found) {
        return use({.path = found.path, .stamp = fmt::format("{}", found.sizeBytes)});
      });
      return walked ? Result<void>() : std::unexpected(walked.error());
    };
    EXPECT_TRUE(catalog::updateExternalRows(list, walk, [](std::uint64_t) {}));
    auto store = SessionStore::open(list);
    auto catalog = Catalog::open(**store);
    return (*catalog)->list()->size();
  };
  EXPECT_EQ(listed(), 2U);
  home.run("DELETE FROM transcript_events WHERE session_id = 'aaaa-1'");
  EXPECT_EQ(listed(), 1U);
  // While another program holds the lock, it may have removed anything.
  home.run("BEGIN EXCLUSIVE; DELETE FROM transcript_events");
  EXPECT_EQ(listed(), 1U);
  home.run("COMMIT");
  EXPECT_EQ(listed(), 0U);
}

TEST(OpenClawDatabase, ADamagedTableOfItsListIsDamageOfItsSessions) {
  Home home;
  home.addSession("aaaa-1", readBytes(kLinear));
  home.run("INSERT INTO session_nodes VALUES ('key', 'aaaa-1', '{}', 5)");
  home.close();
  std::string bytes = readBytes(home.path);
  constexpr std::size_t kPageBytes = 4096;
  bytes.replace(kPageBytes, kPageBytes, kPageBytes, '\0');  // the first table
  writeBytes(home.path, bytes);
  const ReadFile file = readAll(home.path.string() + "#aaaa-1");
  EXPECT_EQ(file.report.messages, readAll(kLinear).report.messages);
  ASSERT_EQ(file.report.damage.size(), 1U);
  EXPECT_EQ(file.report.damage.front().reason, home.path.string() + ", the agent's list of sessions, is damaged");
}

TEST(OpenClawDatabase, ItsSessionsAreReadAsIfTheyWereFiles) {
  for (const bool hasPacked : {true, false}) {
    Home home(hasPacked);
    home.addSession("aaaa-1", readBytes(kTools));
    home.addSession("bbbb-2", readBytes(kLinear));
    home.run(
        "INSERT INTO session_nodes VALUES ('agent:main:telegram:direct:7', 'aaaa-1', "
        "'{\"sessionId\":\"aaaa-1\",\"displayName\":\"On the bridge\"}', 5)");
    home.run("INSERT INTO session_windows VALUES ('bbbb-2', 'agent:main:main')");
    home.close();
    const std::string before = readBytes(home.path);
    const auto found = findTranscripts(home.home(), {"openclaw"});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 2U);
    EXPECT_EQ(found->front().path, home.path.string() + "#aaaa-1");
    const ReadFile file = readAll(found->front().path);
    EXPECT_EQ(file.report.facts.agent, "openclaw");
    EXPECT_EQ(file.report.facts.key, "agent:main:telegram:direct:7");
    EXPECT_EQ(file.report.facts.title, "On the bridge");
    EXPECT_EQ(file.report.messages, readAll(kTools).report.messages);
    EXPECT_EQ(file.report.recovered + file.report.unreadable, 0U);
    EXPECT_EQ(writeAll(file.entries, {.agent = "openclaw", .facts = file.report.facts}), readBytes(kTools));
    EXPECT_EQ(readAll(found->back().path).report.facts.key, "agent:main:main");
    EXPECT_EQ(readBytes(home.path), before);
    EXPECT_EQ(home.files(), std::vector<std::string>{"openclaw-agent.sqlite"});
  }
}

TEST(OpenClawDatabase, ASessionMayHaveAnyId) {
  const std::string ids[] = {"../../../etc/x", "a b", "a%2Fb", "\u4e2d\u6587", std::string(300, 'i')};
  Home home;
  for (const std::string& id : ids) home.addSession(id, readBytes(kLinear));
  home.close();
  const auto found = transcriptsInDatabase(home.path);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), std::size(ids));
  const auto store = SessionStore::open("memory:");
  for (const FoundTranscript& each : *found) {
    EXPECT_EQ(each.path.find('/', each.path.find('#')), std::string::npos) << each.path;
    EXPECT_EQ(readAll(each.path).report.messages, readAll(kLinear).report.messages) << each.path;
    const auto imported = importTranscript(**store, each.path);
    EXPECT_TRUE(imported) << imported.error().message;
  }
}

TEST(OpenClawDatabase, ArchivesOfResetAndDeletedSessionsAreReadToo) {
  Home home;
  home.addSession("aaaa-1", readBytes(kLinear));
  home.bind(
      "INSERT INTO session_transcript_archives VALUES ('cccc-3', '1', 'k', 'reset', 'zstd', ?1, "
      "'cccc-3.jsonl.reset.2026.zst', 1)",
      {packed(readBytes(kTools))}, 0);
  home.bind(
      "INSERT INTO session_transcript_archives VALUES ('dddd-4', '1', 'k', 'deleted', 'identity', ?1, "
      "'dddd-4.jsonl.deleted.2026', 1)",
      {readBytes(kTools)}, 0);
  home.close();
  const auto found = transcriptsInDatabase(home.path);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(readAll((*found)[i].path).report.messages, readAll(kTools).report.messages) << (*found)[i].path;
  }
}

TEST(OpenClawDatabase, IsReadWhileTheAgentWrites) {
  Home home;
  home.run("PRAGMA journal_mode=WAL");
  home.addSession("aaaa-1", readBytes(kLinear));
  const auto opened = SessionStore::open("memory:");
  ASSERT_TRUE(opened);
  SessionStore& store = **opened;
  const std::string path = home.path.string() + "#aaaa-1";
  const auto first = importTranscript(store, path);
  ASSERT_TRUE(first) << first.error().message;
  home.bind(
      "INSERT INTO transcript_events VALUES ('aaaa-1', 1000, ?1, NULL, 2)",
      {R"({"type":"message","id":"deadbeef","parentId":null,"timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"user","content":"later"}})"});
  const auto second = importTranscript(store, path);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->appended, 1U);
}

TEST(OpenClawDatabase, WhatIsWrongIsSaid) {
  Home home;
  home.addSession("aaaa-1", readBytes(kLinear));
  home.bind("INSERT INTO transcript_events VALUES ('aaaa-1', 500, NULL, ?1, 1)", {"not zstd"}, 0);
  home.run("INSERT INTO transcript_events VALUES ('aaaa-1', 501, zeroblob(0), NULL, 1)");
  home.close();
  const ReadFile file = readAll(home.path.string() + "#aaaa-1");
  EXPECT_EQ(file.report.messages, readAll(kLinear).report.messages);
  EXPECT_EQ(file.report.unreadable, 2U);
  const auto code = [](const auto& result) { return result ? std::string("ok") : result.error().message; };
  EXPECT_NE(code(peekTranscript(home.path.string() + "#nobody")).find("has no session nobody"), std::string::npos);
  EXPECT_NE(code(recognizeTranscript(home.path)).find("is a database of 1 sessions"), std::string::npos);
  writeBytes(home.path, "SQLite format 3 and then nothing of the kind");
  EXPECT_NE(code(transcriptsInDatabase(home.path)).find("cannot be read"), std::string::npos);
  // The name of a session cannot lead to another file.
  EXPECT_NE(code(peekTranscript(home.path.string() + "#../../x")), "ok");
}

}  // namespace
}  // namespace bough
