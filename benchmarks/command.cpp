// How long a person at the terminal waits: for the first output of each command in a large store and in a large
// session, for a key in the picker, and for searches that read the files. Also the size of the index.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bough/catalog.h"
#include "cli/terminal/fuzzy.h"
#include "conversation.h"
#include "generate.h"
#include "harness.h"
#include "process.h"

namespace bough::bench {
namespace {

std::uint64_t megabytes(const char* variable) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? 1000 : std::strtoull(wanted, nullptr, 10);
}

// The slowest of several commands, each measured by the median of five runs.
struct Slowest {
  std::string name;
  double seconds = 0;
};
Slowest slowestOf(const std::string& store, const std::vector<std::vector<std::string>>& commands) {
  Slowest slowest;
  for (const auto& words : commands) {
    std::vector<std::string> line = {BOUGH_COMMAND, "--store", store};
    line.insert(line.end(), words.begin(), words.end());
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) times.push_back(firstOutput(line));
    if (const double seconds = median(times); seconds > slowest.seconds) {
      slowest = {.name = fmt::format("{}", fmt::join(words, " ")), .seconds = seconds};
    }
  }
  return slowest;
}

std::vector<Row> firstOutputRows() {
  const std::string many = workFolder() + "/first_many";
  writeManySessions(many, 100'000);
  runProcess({BOUGH_COMMAND, "--store", many, "reindex"});
  const std::string large = workFolder() + "/first_large";
  std::filesystem::create_directories(large);
  require(SessionStore::open(large).has_value(), "making a store");
  const std::uint64_t size = megabytes("BOUGH_BENCH_CATALOG_MB");
  const std::string session = "00000000-0000-7000-8000-000000000001";
  const GeneratedLog log = writeSession(large, session, size << 20);
  runProcess({BOUGH_COMMAND, "--store", large, "reindex"});
  std::vector<double> floors;
  for (int i = 0; i < 9; ++i) floors.push_back(firstOutput({BOUGH_COMMAND, "version"}));
  const double floor = median(floors);
  const std::string first = "00000000-0000-7000-8000-000000000000";
  const Slowest inMany = slowestOf(many, {{"ls"},
                                          {"ls", "--long"},
                                          {"ls", "--json"},
                                          {"ls", "--sort", "title"},
                                          {"ls", "--sort", "size", "--reverse"},
                                          {"ls", "--sort", "tokens", "--long"},
                                          {"search", "lolo"},
                                          {"search", "--fixed", "lolo"},
                                          {"usage"},
                                          {"show", first},
                                          {"tree", first},
                                          {"branches", first},
                                          {"labels", first},
                                          {"heads", first},
                                          {"context", first},
                                          {"cat", first},
                                          {"trash"}});
  const Slowest inLarge = slowestOf(large, {{"ls"},
                                            {"ls", "--long"},
                                            {"show", session},
                                            {"show", session, "--last", "10"},
                                            {"show", session, "--json"},
                                            {"tree", session},
                                            {"tree", session, "--all"},
                                            {"branches", session},
                                            {"labels", session},
                                            {"heads", session},
                                            {"context", session},
                                            {"search", "session"},
                                            {"search", "--fixed", "--in", session, "session"},
                                            {"usage"},
                                            {"cat", session}});
  const auto row = [&](const std::string& where, const Slowest& slowest) {
    return std::vector<Row>{
        {.name = fmt::format("first output in {}, the slowest command (`{}`) / 50 ms", where, slowest.name),
         .ours = slowest.seconds * 1e3,
         .floor = 50,
         .unit = "ms",
         .bound = 1.0},
        {.name = "the same / `bough version`", .ours = slowest.seconds * 1e3, .floor = floor * 1e3, .unit = "ms"}};
  };
  std::vector<Row> rows = row("100,000 sessions", inMany);
  // The only list that looks at every session, because the cost depends on the prices.
  std::ranges::move(row("100,000 sessions", slowestOf(many, {{"ls", "--sort", "cost"}})), std::back_inserter(rows));
  std::ranges::move(row(fmt::format("a session of {} MB ({} entries)", size, log.entries), inLarge),
                    std::back_inserter(rows));
  return rows;
}

std::vector<Row> pickerRows() {
  constexpr std::uint64_t kRows = 100'000;
  const std::vector<std::string> kWords = {"parser", "session", "index",   "branch",
                                           "error",  "store",   "message", "crash"};
  cli::FuzzyFilter filter;
  std::uint64_t state = 7;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    std::string text;
    for (int word = 0; word < 9; ++word) {
      state = state * 6364136223846793005 + 1442695040888963407;
      text += kWords[(state >> 33) % kWords.size()] + (word == 5 ? "\n" : " ");
    }
    filter.add(fmt::format("{}\n/home/me/project{}\nmain:cli:{}", text, i % 100, i));
  }
  double worst = 0;
  for (const std::string typed : {"p", "pa", "par", "pars", "pars e", "pars er", "pars err", "xyz", "m", "me 42"}) {
    worst = std::max(worst, timed([&] { filter.match(typed); }));
  }
  return {{.name = "the slowest key of a picker over 100,000 sessions / 30 ms",
           .ours = worst * 1e3,
           .floor = 30,
           .unit = "ms",
           .bound = 1.0}};
}

std::vector<Row> scanRows() {
  const std::uint64_t size = megabytes("BOUGH_BENCH_CATALOG_MB");
  const std::string rg = pathOf("rg");
  if (rg.empty()) return {{.name = "searches of files: skipped, there is no rg", .unit = ""}};
  const Conversations made = writeConversations(workFolder() + "/scan", size << 20);
  const std::string sessions = made.store + "/sessions";
  runProcess({BOUGH_COMMAND, "--store", made.store, "reindex", "--no-search"});
  const std::vector<std::string> fixed = {BOUGH_COMMAND, "--store", made.store, "search", "--fixed", made.rareWord};
  const auto times =
      interleaved(7, {[&] { runProcess(fixed); }, [&] { runProcess({rg, "-c", "-F", made.rareWord, sessions}); }});
  // While this process holds the lock for updating the catalog, no other process builds the index.
  const int turn = ::open((made.store + "/catalog.db").c_str(), O_RDWR | O_CLOEXEC);
  require(turn >= 0 && ::flock(turn, LOCK_EX) == 0, "locking the catalog");
  const std::vector<std::string> words = {BOUGH_COMMAND, "--store", made.store, "search", made.rareWord};
  const auto firstTimes =
      interleaved(7, {[&] { runProcess(words); }, [&] { runProcess({rg, "-c", made.rareWord, sessions}); }});
  ::close(turn);
  return {{.name = fmt::format("`search --fixed` over {} MB / `rg -F` over the same files", size),
           .ours = times[0] * 1e3,
           .floor = times[1] * 1e3,
           .unit = "ms",
           .bound = 1.2},
          {.name = fmt::format("first search of {} MB, without an index / `rg`", size),
           .ours = firstTimes[0] * 1e3,
           .floor = firstTimes[1] * 1e3,
           .unit = "ms",
           .bound = 1.5}};
}

}  // namespace

std::vector<Benchmark> commandBenchmarks() {
  return {{"first_output", firstOutputRows}, {"picker", pickerRows}, {"scan", scanRows}};
}

}  // namespace bough::bench
