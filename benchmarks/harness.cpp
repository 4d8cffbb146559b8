#include "harness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace bough::bench {

double timed(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  require(!values.empty(), "a median of nothing");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  require(!values.empty(), "a mean of nothing");
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

std::vector<double> interleaved(int rounds, const std::vector<std::function<void()>>& variants) {
  std::vector<std::vector<double>> times(variants.size());
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const double seconds = timed(variants[i]);
      if (round > 0) times[i].push_back(seconds);
    }
  }
  std::vector<double> medians;
  medians.reserve(times.size());
  for (auto& values : times) medians.push_back(median(std::move(values)));
  return medians;
}

const std::string& workFolder() {
  struct Folder {
    std::string path;
    Folder() {
      const char* base = std::getenv("BOUGH_BENCH_DIR");
      std::string pattern = std::string(base == nullptr ? "/var/tmp" : base) + "/bough-bench-XXXXXX";
      require(::mkdtemp(pattern.data()) != nullptr, "making a folder in " + pattern);
      path = pattern;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

std::vector<Row> inChild(const std::function<std::vector<Row>()>& work) {
  int ends[2];
  require(::pipe(ends) == 0, "pipe");
  std::fflush(nullptr);  // the parent prints what is still buffered
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    FILE* const out = ::fdopen(ends[1], "w");
    require(out != nullptr, "fdopen");
    try {
      for (const Row& row : work()) {
        fmt::print(out, "{}\t{}\t{}\t{}\t{}\n", row.name, row.ours, row.floor, row.meanRatio, row.unit);
      }
    } catch (const Failed& failed) {
      fmt::print(stderr, "bench: skipped: {}\n", failed.what);
    }
    std::fclose(out);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<Row> rows;
  FILE* const in = ::fdopen(ends[0], "r");
  require(in != nullptr, "fdopen");
  char name[256];
  char unit[64];
  for (Row row; std::fscanf(in, "%255[^\t]\t%lf\t%lf\t%lf\t%63[^\n]%*c", name, &row.ours, &row.floor, &row.meanRatio,
                            unit) == 5;) {
    row.name = name;
    row.unit = unit;
    rows.push_back(row);
  }
  std::fclose(in);
  int status = 0;
  require(::waitpid(child, &status, 0) == child, "waiting for a peer");
  if (status != 0)
    fmt::print(stderr, "bench: a peer ended early, with status {}; what it measured before counts\n", status);
  return rows;
}

// Asks the program itself, because the value that the system reports for an exited child includes its parent's memory.
double peakMemoryOf(const std::vector<std::string>& arguments) {
  std::string command = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  FILE* output = ::popen(command.c_str(), "r");
  require(output != nullptr, command);
  double bytes = 0;
  const bool read = std::fscanf(output, "%lf", &bytes) == 1;
  require(::pclose(output) == 0 && read, command);
  return bytes;
}

double ownPeakMemory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

void readWhole(const std::string& path) {
  static std::vector<char> buffer(std::size_t{1} << 20);
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  require(descriptor >= 0, "open");
  while (::read(descriptor, buffer.data(), buffer.size()) > 0) {
  }
  ::close(descriptor);
}

void require(bool condition, const std::string& what) {
  if (!condition) throw Failed{what};
}

}  // namespace bough::bench
