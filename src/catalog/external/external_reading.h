// Reads files on several threads while the files are still being found.
#pragma once

#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "base/system/bounded_queue.h"
#include "base/system/byte_budget.h"
#include "base/system/threads.h"
#include "catalog/external/external_session.h"

namespace bough::catalog {

class ExternalReading {
 public:
  /// Reads the files from `walk`, which runs on its own thread.
  explicit ExternalReading(ExternalWalk walk);
  ExternalReading(const ExternalReading&) = delete;
  ExternalReading& operator=(const ExternalReading&) = delete;
  ~ExternalReading();

  /// Returns the result of the next file; std::nullopt after the last one.
  std::optional<ExternalSession> next();
  /// Returns the result of the walk. Valid after next() has returned std::nullopt.
  [[nodiscard]] const Result<void>& walked() const { return walked_; }

 private:
  static constexpr std::size_t kMaxWaiting = 256;
  static unsigned maxReaders();
  void read();

  const ExternalWalk walk_;
  BoundedQueue<ExternalFile> found_{kMaxWaiting};
  BoundedQueue<ExternalSession> sessions_{kMaxWaiting, maxReaders()};
  ByteBudget budget_{std::uint64_t{32} << 20};  // a file may be a single line
  Result<void> walked_;
  ThreadFailure failure_;
  std::deque<ExternalFile> unread_;  // all files, when the system has too few threads
  std::vector<std::jthread> readers_;
  std::jthread walker_;
};

}  // namespace bough::catalog
