// Combines the appends of many threads and sessions. Appends that wait while an exchange is running are sent together
// in the next one, as one transaction with one commit. Each append gets its own answer: the database's function can
// refuse one without failing the others. An append of one plain entry is sent as one statement.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/postgres/batch_plan.h"
#include "store/postgres/schema/database.h"

namespace bough::postgres {

/// How many checks the database makes for a batch; see schema_functions.h.
enum class CheckMode : std::uint8_t { CheckAll, AlreadyChecked, OwnIds };

/// The conditions of a batch, besides its entries.
struct AppendTerms {
  std::optional<std::string> expectedTail = {};
  std::optional<std::uint64_t> turn = {};
  CheckMode mode = CheckMode::CheckAll;
};

/// An append that waits for its answer.
struct QueuedAppend {
  std::string sessionId;
  AppendTerms terms = {};
  const BatchPlan* plan = nullptr;
  Result<std::string> answer = {};  ///< The answer of the database's function; empty: there is no such session.
  bool answered = false;
  bool done = false;
  bool outOfMemory = false;  ///< Finished without an answer; the batch may be stored.
};

/// Returns the call of the function that stores a batch.
Call appendCall(Database& database, const QueuedAppend& append);

class AppendQueue {
 public:
  explicit AppendQueue(Database& database) : database_(database) {}

  /// Returns when all of them are answered. Throws when memory ran out before one of them had its answer: that append
  /// may or may not be stored, and none of them is queued any more. Thread-safe.
  void run(std::span<QueuedAppend*> appends);

 private:
  void runGroup(std::vector<QueuedAppend*>& group);
  Exchange<void> runTogether(const std::vector<QueuedAppend*>& group);

  Database& database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<QueuedAppend*> waiting_;
  int running_ = 0;
};

}  // namespace bough::postgres
