// Measures two ways of doing the same work side by side, because only their ratio is reliable.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bough::bench {

/// One row of the table.
struct Row {
  std::string name;
  double ours = 0;
  double floor = 0;
  std::string unit;
  std::optional<double> bound;  ///< std::nullopt for rows that only show a peer.
  bool atLeast = false;         ///< The ratio must reach the bound instead of staying below it.
  double meanRatio = 0;         ///< The ratio of means (`ours` and `floor` are medians), which shows pauses. 0: none.
  double pairedRatio = 0;       ///< The median of the ratios of paired rounds; replaces ours / floor. 0: none.

  [[nodiscard]] double ratio() const { return pairedRatio != 0 ? pairedRatio : floor == 0 ? 0 : ours / floor; }
  [[nodiscard]] bool met() const { return !bound || (atLeast ? ratio() >= *bound : ratio() <= *bound); }
};

struct Benchmark {
  std::string name;
  std::function<std::vector<Row>()> run;
};

/// All benchmarks, in the order of the table.
std::vector<Benchmark> appendBenchmarks();
std::vector<Benchmark> readBenchmarks();
std::vector<Benchmark> treeBenchmarks();
std::vector<Benchmark> catalogBenchmarks();
std::vector<Benchmark> messageBenchmarks();
std::vector<Benchmark> agentBenchmarks();
std::vector<Benchmark> postgresBenchmarks();
std::vector<Benchmark> sizeBenchmarks();
std::vector<Benchmark> commandBenchmarks();
std::vector<Benchmark> bindingBenchmarks();

/// Returns the seconds that `work` takes.
double timed(const std::function<void()>& work);

double median(std::vector<double> values);
double mean(const std::vector<double>& values);

/// Runs each variant once per round, in turn, and returns the median seconds of each. The first round is not counted.
std::vector<double> interleaved(int rounds, const std::vector<std::function<void()>>& variants);

/// A folder for the benchmark's files, removed at the end of the program.
const std::string& workFolder();

/// Returns the rows of `work`, which runs in a child process, so that the threads and memory of a peer do not affect
/// later benchmarks. Does not pass on bounds. When it fails, prints the reason to stderr and returns no rows.
std::vector<Row> inChild(const std::function<std::vector<Row>()>& work);

/// Runs this program again with these arguments, and returns the ownPeakMemory that it prints.
double peakMemoryOf(const std::vector<std::string>& arguments);

/// Returns the peak memory of this program so far, in bytes.
double ownPeakMemory();

/// Reads a file from beginning to end, 1 MiB at a time: the floor for everything that reads a whole file.
void readWhole(const std::string& path);

/// Thrown when a step of a benchmark fails: its rows are left out, the other benchmarks still run.
struct Failed {
  std::string what;
};
void require(bool condition, const std::string& what);

}  // namespace bough::bench
