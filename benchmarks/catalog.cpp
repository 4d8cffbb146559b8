// The catalog compared with programs that do the same work without one: sqlite3, ripgrep, plain FTS5, ccusage.

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bough/catalog.h"
#include "conversation.h"
#include "harness.h"
#include "process.h"

namespace bough::bench {
namespace {

std::uint64_t sizeMegabytes() {
  const char* wanted = std::getenv("BOUGH_BENCH_CATALOG_MB");
  return wanted == nullptr ? 1000 : std::strtoull(wanted, nullptr, 10);
}

Row skipped(const std::string& name, const std::string& why) {
  return {.name = fmt::format("{}: skipped, {}", name, why), .unit = ""};
}

std::vector<Row> listRows() {
  const std::string name = "`bough ls`, newest 50 of 100,000 sessions, whole process / sqlite3 doing the same select";
  const std::string sqlite = pathOf("sqlite3");
  if (sqlite.empty()) return {skipped(name, "there is no sqlite3")};
  const std::string store = workFolder() + "/many";
  writeManySessions(store, 100'000);
  runProcess({BOUGH_COMMAND, "--store", store, "reindex", "--no-search"});
  runProcess({BOUGH_COMMAND, "--store", store, "ls"});
  const auto times = interleaved(
      21, {[&] { runProcess({BOUGH_COMMAND, "--store", store, "ls"}); },
           [&] {
             runProcess(
                 {sqlite, store + "/catalog.db",
                  "SELECT sessionId, key, agent, cwd, title, createdMs, activeMs, users, assistants, tools, systems, "
                  "calls, failures, input, output, cacheRead, cacheWrite, bytes, branches, condition FROM session "
                  "ORDER BY activeMs DESC, sessionId DESC LIMIT 50"});
           }});
  return {{.name = name, .ours = times[0] * 1e3, .floor = times[1] * 1e3, .unit = "ms", .bound = 2.0}};
}

// Inserts the same texts, read from a file, into FTS5 with its default settings.
double insertAlone(const std::string& texts, const std::string& path) {
  sqlite3* database = nullptr;
  require(sqlite3_open(path.c_str(), &database) == SQLITE_OK, path);
  return timed([&] {
    sqlite3_exec(database, "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE t USING fts5(body); BEGIN", nullptr,
                 nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    require(sqlite3_prepare_v2(database, "INSERT INTO t(body) VALUES(?)", -1, &insert, nullptr) == SQLITE_OK, "FTS5");
    std::ifstream file(texts, std::ios::binary);
    std::string text;
    for (std::uint64_t size = 0; file.read(reinterpret_cast<char*>(&size), sizeof size);) {
      text.resize(size);
      file.read(text.data(), static_cast<std::streamsize>(size));
      sqlite3_bind_text64(insert, 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
      require(sqlite3_step(insert) == SQLITE_DONE, "inserting");
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    require(sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK, "committing");
    sqlite3_close(database);
  });
}

const Conversations& conversations() {
  static const Conversations made = writeConversations(workFolder() + "/talk", sizeMegabytes() << 20);
  return made;
}

// Builds the index at the first call and measures the time.
double indexSeconds() {
  static const double seconds = [] {
    auto store = SessionStore::open(conversations().store);
    require(store.has_value(), "opening the store");
    return timed([&] {
      auto catalog = Catalog::open(**store);
      require(catalog && (*catalog)->catchUp({.search = true}).has_value(), "indexing");
    });
  }();
  return seconds;
}

std::vector<Row> indexRows() {
  const double ours = indexSeconds();
  const double alone = insertAlone(conversations().texts, workFolder() + "/alone.db");
  std::filesystem::remove(workFolder() + "/alone.db");
  return {{.name = fmt::format("first indexing of {} MB for search / FTS5 inserting the same text", sizeMegabytes()),
           .ours = ours,
           .floor = alone,
           .unit = "s",
           .bound = 0.37},
          {.name = "bytes of the index / text",
           .ours = static_cast<double>(std::filesystem::file_size(conversations().store + "/catalog.db")) / 1e6,
           .floor = static_cast<double>(std::filesystem::file_size(conversations().texts)) / 1e6,
           .unit = "MB",
           .bound = 0.5}};
}

std::vector<Row> searchRows() {
  const std::string name =
      fmt::format("search in {} MB, 20 hits, whole process / rg over the same files", sizeMegabytes());
  const std::string rg = pathOf("rg");
  if (rg.empty()) return {skipped(name, "there is no rg")};
  indexSeconds();
  const Conversations& made = conversations();
  runProcess({BOUGH_COMMAND, "--store", made.store, "search", made.rareWord});
  const auto times =
      interleaved(7, {[&] { runProcess({BOUGH_COMMAND, "--store", made.store, "search", made.rareWord}); },
                      [&] { runProcess({rg, "-c", made.rareWord, made.store + "/sessions"}, {0, 1}); }});
  return {{.name = name + " (times faster)",
           .ours = times[1] * 1e3,
           .floor = times[0] * 1e3,
           .unit = "ms",
           .bound = 10.0,
           .atLeast = true}};
}

std::vector<Row> usageRows() {
  const std::string name = fmt::format("`bough usage` / ccusage over the same {} MB", sizeMegabytes());
  const std::string ccusage = pathOf("ccusage");
  if (ccusage.empty()) return {skipped(name, "there is no ccusage (npm install -g ccusage)")};
  const Conversations& made = conversations();
  ::setenv("CLAUDE_CONFIG_DIR", made.claude.c_str(), 1);
  runProcess({BOUGH_COMMAND, "--store", made.store, "ls"});
  runProcess({BOUGH_COMMAND, "--store", made.store, "usage", "--by", "day"});
  const auto times =
      interleaved(5, {[&] { runProcess({BOUGH_COMMAND, "--store", made.store, "usage", "--by", "day"}); },
                      [&] { runProcess({ccusage, "daily", "--json", "--offline"}); }});
  return {{.name = name + " (times faster)",
           .ours = times[1] * 1e3,
           .floor = times[0] * 1e3,
           .unit = "ms",
           .bound = 100.0,
           .atLeast = true}};
}

// Uses a new folder for the copy of the agents' sessions, so that nothing read earlier helps.
void forgetAgents() {
  static int round = 0;
  const std::string cache = workFolder() + "/cache";
  std::filesystem::remove_all(cache);
  ::setenv("XDG_CACHE_HOME", fmt::format("{}/{}", cache, ++round).c_str(), 1);
}

std::vector<Row> agentsUsageRows() {
  const std::string name = fmt::format("`bough usage --agents` without a catalog / ccusage, {} MB", sizeMegabytes());
  const std::string ccusage = pathOf("ccusage");
  if (ccusage.empty()) return {skipped(name, "there is no ccusage (npm install -g ccusage)")};
  ::setenv("CLAUDE_CONFIG_DIR", conversations().claude.c_str(), 1);
  forgetAgents();
  const auto times = interleaved(5, {[&] { runProcess({BOUGH_COMMAND, "usage", "--agents=claude-code"}); },
                                     [&] { runProcess({ccusage, "daily", "--json", "--offline"}); }});
  return {{.name = name + " (times faster)",
           .ours = times[1] * 1e3,
           .floor = times[0] * 1e3,
           .unit = "ms",
           .bound = 5.0,
           .atLeast = true}};
}

std::vector<std::string> filesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
    if (each.is_regular_file()) files.push_back(each.path().string());
  }
  return files;
}

// Splits the conversations into `count` sessions. They get their own folder, because its files are counted and read.
std::string cutSessions(std::uint64_t count) {
  const std::string home = workFolder() + "/cut";
  const std::string project = home + "/projects/-home-me";
  std::filesystem::create_directories(project);
  const std::uint64_t bytes = (sizeMegabytes() << 20) / count;
  std::uint64_t made = 0;
  for (const std::string& path : filesBelow(conversations().claude)) {
    std::ifstream in(path, std::ios::binary);
    std::string text;
    for (std::string line; std::getline(in, line);) {
      if (text.empty()) line.replace(0, line.find(','), "{\"parentUuid\":null");
      text += line + "\n";
      if (text.size() < bytes && in.peek() != EOF) continue;
      std::ofstream(fmt::format("{}/{:08x}-0000-7000-8000-{:012x}.jsonl", project, made, made), std::ios::binary)
          << text;
      text.clear();
      ++made;
    }
  }
  return home;
}

std::vector<Row> agentsListRows() {
  constexpr std::uint64_t kSessions = 10'000;
  const std::string home = cutSessions(kSessions);
  const auto files = filesBelow(home);
  ::setenv("CLAUDE_CONFIG_DIR", home.c_str(), 1);
  const auto list = [](std::vector<std::string> more) {
    return [more = std::move(more)] {
      forgetAgents();
      std::vector<std::string> command{BOUGH_COMMAND, "ls", "--agents=claude-code"};
      command.insert(command.end(), more.begin(), more.end());
      runProcess(command);
    };
  };
  const auto times = interleaved(3, {list({}), list({"--all"}), [&] {
                                       for (const std::string& file : files) readWhole(file);
                                     }});
  const std::string of =
      fmt::format("{} sessions of Claude Code, {} MB / read(2) of them", files.size(), sizeMegabytes());
  return {
      {.name = "first list of " + of, .ours = times[0] * 1e3, .floor = times[2] * 1e3, .unit = "ms", .bound = 6.0},
      {.name = "first list of all (--all) of " + of, .ours = times[1] * 1e3, .floor = times[2] * 1e3, .unit = "ms"}};
}

void copyDurably(const std::vector<std::string>& files, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string buffer(std::size_t{1} << 20, '\0');
  for (std::size_t i = 0; i < files.size(); ++i) {
    const int from = ::open(files[i].c_str(), O_RDONLY | O_CLOEXEC);
    const int to = ::open(fmt::format("{}/{}", folder, i).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    require(from >= 0 && to >= 0, "copying");
    for (ssize_t got = 0; (got = ::read(from, buffer.data(), buffer.size())) > 0;) {
      require(::write(to, buffer.data(), static_cast<std::size_t>(got)) == got, "copying");
    }
    require(::fdatasync(to) == 0, "copying");
    ::close(from);
    ::close(to);
  }
}

std::vector<Row> importRows() {
  const std::string& claude = conversations().claude;
  const auto files = filesBelow(claude);
  const std::string store = workFolder() + "/imported";
  const auto times = interleaved(1, {[&] {
                                       std::filesystem::remove_all(store);
                                       runProcess({BOUGH_COMMAND, "--store", store, "import", claude});
                                     },
                                     [&] { copyDurably(files, workFolder() + "/copied"); }});
  return {{.name = fmt::format("import of {} MB of Claude Code / copying it with fdatasync", sizeMegabytes()),
           .ours = times[0] * 1e3,
           .floor = times[1] * 1e3,
           .unit = "ms",
           .bound = 4.0}};
}

}  // namespace

std::vector<Benchmark> catalogBenchmarks() {
  return {{"ls", listRows},      {"search_index", indexRows},       {"search", searchRows},
          {"usage", usageRows},  {"agents_usage", agentsUsageRows}, {"agents_ls", agentsListRows},
          {"import", importRows}};
}

}  // namespace bough::bench
