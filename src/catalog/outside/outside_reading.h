// Reads files on several threads while the files are still being found.
#pragma once

#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "base/system/bounded_queue.h"
#include "base/system/byte_budget.h"
#include "base/system/threads.h"
#include "catalog/outside/outside_session.h"

namespace bough::catalog {

class OutsideReading {
 public:
  /// Reads the files from `walk`, which runs on its own thread.
  explicit OutsideReading(OutsideWalk walk);
  OutsideReading(const OutsideReading&) = delete;
  OutsideReading& operator=(const OutsideReading&) = delete;
  ~OutsideReading();

  /// Returns the result of the next file; std::nullopt after the last one.
  std::optional<Told> next();
  /// Returns the result of the walk. Valid after next() has returned std::nullopt.
  [[nodiscard]] const Result<void>& walked() const { return walked_; }

 private:
  static constexpr std::size_t kMostWaiting = 256;
  static unsigned mostReaders();
  void read();

  const OutsideWalk walk_;
  BoundedQueue<OutsideFile> found_{kMostWaiting};
  BoundedQueue<Told> told_{kMostWaiting, mostReaders()};
  ByteBudget budget_{std::uint64_t{32} << 20};  // a file may be a single line
  Result<void> walked_;
  ThreadFailure failure_;
  std::deque<OutsideFile> left_;  // all files, when the system has too few threads
  std::vector<std::jthread> readers_;
  std::jthread walker_;
};

}  // namespace bough::catalog
