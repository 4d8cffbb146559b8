// Appends of many threads and sessions, combined: what waits while an exchange is under way goes together in the next
// one, as one transaction with one commit. Each append keeps its own answer; the database's function refuses one
// without failing the others.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "store/postgres/client/pool.h"

namespace bough::postgres {

/// One append that waits for its answer.
struct QueuedAppend {
  std::string sessionId;
  Call call;
  Result<Rows> answer = {};
  bool done = false;
};

class AppendQueue {
 public:
  explicit AppendQueue(Pool& pool) : pool_(pool) {}

  /// Returns when all of them are answered. Any thread.
  void run(std::span<QueuedAppend*> appends);

 private:
  void runGroup(std::vector<QueuedAppend*>& group);

  Pool& pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<QueuedAppend*> waiting_;
  int running_ = 0;
};

}  // namespace bough::postgres
