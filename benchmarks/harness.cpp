#include "harness.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

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

double peakMemoryOf(const std::vector<std::string>& arguments) {
  std::vector<std::string> owned = arguments;
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<char*> argv{self.data()};
  for (std::string& argument : owned) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    ::execv(self.c_str(), argv.data());
    std::_Exit(127);
  }
  int status = 0;
  rusage usage{};
  require(::wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "the program that measures memory");
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "bench: failed: %s\n", what.c_str());
  std::exit(1);
}

}  // namespace bough::bench
