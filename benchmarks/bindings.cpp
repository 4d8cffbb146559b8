// What a call costs in Python and Node compared with C++, and what LangGraph costs compared with its official saver.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bough/store.h"
#include "generate.h"
#include "harness.h"

namespace bough::bench {
namespace {

constexpr std::size_t kPayloadBytes = 314;  // in a line of 500 bytes

// A program in another language that does a step twenty times for each line that it reads.
class Worker {
 public:
  explicit Worker(const std::string& command) {
    int input[2];
    int output[2];
    require(::pipe(input) == 0 && ::pipe(output) == 0, "pipe");
    child_ = ::fork();
    require(child_ >= 0, "fork");
    if (child_ == 0) {
      ::dup2(input[0], STDIN_FILENO);
      ::dup2(output[1], STDOUT_FILENO);
      for (const int end : {input[0], input[1], output[0], output[1]}) ::close(end);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    input_ = ::fdopen(input[1], "w");
    output_ = ::fdopen(output[0], "r");
    require(input_ != nullptr && output_ != nullptr, "fdopen");
  }
  ~Worker() {
    std::fclose(input_);
    std::fclose(output_);
    ::waitpid(child_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void tell(const std::string& line) const {
    fmt::print(input_, "{}\n", line);
    std::fflush(input_);
  }

  /// Returns the median seconds of a step.
  [[nodiscard]] double ask(const std::string& step) const {
    tell(step);
    double seconds = 0;
    require(std::fscanf(output_, "%lf", &seconds) == 1, "a step of a worker: " + step);
    return seconds;
  }

 private:
  pid_t child_ = -1;
  FILE* input_ = nullptr;
  FILE* output_ = nullptr;
};

bool succeeds(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): one thread
}

struct Language {
  std::string name;
  std::string command;
  double appendBound;
  double loadBound;
  std::string withoutPromise = {};  // suffix of the steps that run on the calling thread
};

struct Compared {
  double theirs = 0;
  double ours = 0;
  double ratio = 0;  // the median of the ratios of each round, so that a slow round does not count
};

// Alternates the steps of both, twenty of each per round, and changes their order each time.
Compared inTurn(int count, const std::function<double()>& theirs, const std::function<double()>& one) {
  std::vector<double> theirTimes;
  std::vector<double> ourTimes;
  std::vector<double> ratios;
  const auto ours = [&] {
    std::vector<double> times(20);
    std::ranges::generate(times, one);
    return median(times);
  };
  for (int i = 0; i < count; ++i) {
    if (i % 2 != 0) ourTimes.push_back(ours());
    theirTimes.push_back(theirs());
    if (i % 2 == 0) ourTimes.push_back(ours());
    ratios.push_back(theirTimes.back() / ourTimes.back());
  }
  return {.theirs = median(theirTimes), .ours = median(ourTimes), .ratio = median(ratios)};
}

std::vector<Row> compare(const Language& language) {
  const std::string folder = workFolder() + "/" + language.name;
  auto store = SessionStore::open(workFolder() + "/" + language.name + "-cpp");
  require(store.has_value(), "opening a store");
  auto session = (*store)->create();
  require(session.has_value(), "creating a session");
  const Entry entry = Generator(1).message(kPayloadBytes);
  const Worker worker(fmt::format("{} '{}'", language.command, folder));
  worker.tell(entry.payload);
  std::vector<Entry> next;
  const auto append = [&] {
    next = {entry};
    return timed([&] { require(session->append(std::move(next)).has_value(), "append"); });
  };
  const auto load = [&] { return timed([&] { require(session->load({.last = 200})->size() == 200, "load"); }); };
  const auto row = [&](const std::string& work, const std::string& step, std::optional<double> bound) {
    const bool loads = step.starts_with("load");
    const auto ask = [&] { return worker.ask(step); };
    const Compared times =
        inTurn(loads ? 30 : 100, ask, loads ? std::function<double()>(load) : std::function<double()>(append));
    Row made = {.name = work, .ours = times.theirs * 1e6, .floor = times.ours * 1e6, .unit = "µs", .bound = bound};
    made.pairedRatio = times.ratio;
    return made;
  };
  const std::string& ending = language.withoutPromise;
  const std::string appends = fmt::format("durable append of 500 B from {} / from C++, p50", language.name);
  const std::string loads = fmt::format("load of the last 200 entries from {} / from C++", language.name);
  std::vector<Row> rows = {row(appends, "append" + ending, language.appendBound)};
  if (!ending.empty()) rows.push_back(row("the same as a promise, on another thread", "append", {}));
  rows.push_back(row(loads, "load" + ending, language.loadBound));
  if (!ending.empty()) rows.push_back(row("the same as a promise, on another thread", "load", {}));
  return rows;
}

std::vector<Row> languages() {
  std::vector<Row> rows;
  const std::string folder = BOUGH_BENCH_DIR "/bindings";
  const std::string python = "BOUGH_LIBRARY='" BOUGH_BUNDLED "' PYTHONPATH='" BOUGH_BENCH_DIR
                             "/../bindings/python' python3 '" +
                             folder + "/worker.py'";
  const std::string node = "BOUGH_NODE_BINARY='" BOUGH_ADDON "' node '" + folder + "/worker.mjs'";
  if (succeeds("python3 --version")) rows = compare({"Python", python, 1.25, 2.5});
  if (!succeeds("node --version") || !std::filesystem::exists(BOUGH_ADDON)) {
    fmt::print(stderr, "bench: Node is not measured: there is no node, or no node_api.h when CMake ran\n");
    return rows;
  }
  for (Row& row : compare({"Node", node, 1.15, 2, "Sync"})) rows.push_back(std::move(row));
  return rows;
}

std::vector<Row> langgraph() {
  const std::string command =
      fmt::format("'{}/bindings/langgraph.sh' '{}' '{}'", BOUGH_BENCH_DIR, BOUGH_ADDON, workFolder());
  FILE* output = ::popen(command.c_str(), "r");
  require(output != nullptr, command);
  double first = 0;
  double last = 0;
  double seconds = 0;
  double theirFirst = 0;
  double theirLast = 0;
  double theirSeconds = 0;
  const bool read = std::fscanf(output, "%lf %lf %lf %lf %lf %lf", &first, &last, &seconds, &theirFirst, &theirLast,
                                &theirSeconds) == 6;
  if (::pclose(output) != 0 || !read) {
    fmt::print(stderr, "bench: LangGraph is not measured: its packages are not here\n");
    return {};
  }
  return {{.name = "LangGraph, 100 turns: bytes of a turn at the end / at the beginning",
           .ours = last / 10,
           .floor = first / 10,
           .unit = "B",
           .bound = 1.1},
          {.name = "the same with the official SQLite saver",
           .ours = theirLast / 10,
           .floor = theirFirst / 10,
           .unit = "B"},
          {.name = "LangGraph, 100 turns: put / put of the official SQLite saver, both durable, p50",
           .ours = seconds * 1e6,
           .floor = theirSeconds * 1e6,
           .unit = "µs",
           .bound = 1.0}};
}

}  // namespace

std::vector<Benchmark> bindingBenchmarks() {
  return {{.name = "languages", .run = languages}, {.name = "langgraph", .run = langgraph}};
}

}  // namespace bough::bench
