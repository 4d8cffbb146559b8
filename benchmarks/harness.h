// Measures two ways of doing the same work side by side, so that only their ratio counts.
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
  std::optional<double> bound;  ///< None for rows that only show a peer.
  bool atLeast = false;         ///< The ratio must reach the bound instead of staying below it.
  double meanRatio = 0;         ///< Of means, where `ours` and `floor` are medians: pauses show in it. 0: not measured.
  double pairedRatio = 0;       ///< The median of the ratios of neighbouring rounds, which counts instead. 0: none.

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

/// Seconds that `work` takes.
double timed(const std::function<void()>& work);

double median(std::vector<double> values);
double mean(const std::vector<double>& values);

/// Runs each variant once a round, in turn, and returns the median of each in seconds. The first round is not counted.
std::vector<double> interleaved(int rounds, const std::vector<std::function<void()>>& variants);

/// A folder for the benchmark's files, removed at the end of the program.
const std::string& workFolder();

/// The rows of `work`, done in a process of its own: the threads and the memory of a peer must not weigh on what comes
/// after it. Bounds are not handed over. When it fails, stderr says so and there are no rows.
std::vector<Row> inChild(const std::function<std::vector<Row>()>& work);

/// Runs this program again with these arguments and returns what it prints: its ownPeakMemory.
double peakMemoryOf(const std::vector<std::string>& arguments);

/// The most memory that this program has held so far, in bytes.
double ownPeakMemory();

/// Reads a file from its beginning to its end, a mebibyte at a time: the floor of all that goes through one.
void readWhole(const std::string& path);

/// Thrown when a step of a benchmark failed: its rows are left out, the others still run.
struct Failed {
  std::string what;
};
void require(bool condition, const std::string& what);

}  // namespace bough::bench
