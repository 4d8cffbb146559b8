// ./bench: what bough costs above the physical floor, as ratios measured side by side in one run.

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "harness.h"
#include "message.h"
#include "read.h"

namespace {

using bough::bench::Benchmark;
using bough::bench::Row;

void printRow(const Row& row, bool json) {
  if (json) {
    if (!row.bound) return;
    fmt::print("{{\"name\":\"{}\",\"ratio\":{:.3f},\"bound\":{},\"sense\":\"{}\",\"met\":{}}}\n", row.name, row.ratio(),
               *row.bound, row.atLeast ? "at least" : "at most", row.met());
  } else {
    fmt::print("{:<84} {:>11.1f} {:>11.1f} {:<9} {:>7.2f} {:>7} {:>10}  {}\n", row.name, row.ours, row.floor, row.unit,
               row.ratio(), row.meanRatio == 0 ? "" : fmt::format("{:.2f}", row.meanRatio),
               row.bound ? fmt::format("{} {}", row.atLeast ? "≥" : "≤", *row.bound) : "",
               row.bound ? (row.met() ? "met" : "NOT MET") : "");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  try {
    if (names.size() == 4 && names[0] == "--last") return bough::bench::readLastOf(names[1], names[2], names[3]);
    if (names.size() == 4 && names[0] == "--resume") return bough::bench::resumeAll(names[1], names[2], names[3]);
    if (names.size() == 2 && names[0] == "--estimate") return bough::bench::estimateFile(names[1]);
  } catch (const bough::bench::Failed& failed) {
    fmt::print(stderr, "bench: failed: {}\n", failed.what);
    return 1;
  }
  // Keep freed memory in the program, as in a program that runs for a long time.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  const bool json = std::erase(names, "--json") > 0;
  std::vector<Benchmark> all = bough::bench::appendBenchmarks();
  std::ranges::move(bough::bench::readBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::treeBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::catalogBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::messageBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::agentBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::postgresBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::sizeBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::commandBenchmarks(), std::back_inserter(all));
  std::ranges::move(bough::bench::bindingBenchmarks(), std::back_inserter(all));
  for (const std::string& name : names) {
    if (std::ranges::find(all, name, &Benchmark::name) == all.end()) {
      fmt::print(stderr, "bench: there is no benchmark {}; there are:", name);
      for (const Benchmark& benchmark : all) fmt::print(stderr, " {}", benchmark.name);
      fmt::print(stderr, "\n");
      return 2;
    }
  }
  if (!json) {
    fmt::print("{:<84} {:>11} {:>11} {:<9} {:>7} {:>7} {:>10}\n", "work", "ours", "floor", "unit", "ratio", "means",
               "bound");
  }
  for (const Benchmark& benchmark : all) {
    if (!names.empty() && std::ranges::find(names, benchmark.name) == names.end()) continue;
    try {
      for (const Row& row : benchmark.run()) printRow(row, json);
    } catch (const bough::bench::Failed& failed) {
      fmt::print(stderr, "bench: {} is skipped, because this failed: {}\n", benchmark.name, failed.what);
    }
  }
  return 0;
}
