// Appends of many threads and sessions, combined: what waits while an exchange is under way goes together in the next
// one, as one transaction with one commit. Each append keeps its own answer; the database's function refuses one
// without failing the others. Appends of one plain entry each go as one statement.
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

/// How much of a batch the database looks at; see schema_functions.h.
enum class Mode : std::uint8_t { Look, Looked, OwnIds };

/// What a batch asks of the session, beside its entries.
struct AppendTerms {
  std::optional<std::string> expectedTail = {};
  std::optional<std::uint64_t> turn = {};
  Mode mode = Mode::Look;
};

/// One append that waits for its answer.
struct QueuedAppend {
  std::string sessionId;
  AppendTerms terms = {};
  const BatchPlan* plan = nullptr;
  Result<std::string> answer = {};  ///< What the database's function says; empty: there is no such session.
  bool answered = false;
  bool done = false;
  bool outOfMemory = false;  ///< Done without an answer; it may be stored.
};

/// The call of the function that stores a batch.
Call appendCall(Database& database, const QueuedAppend& append);

class AppendQueue {
 public:
  explicit AppendQueue(Database& database) : database_(database) {}

  /// Returns when all of them are answered. Throws when memory ran out before one had its answer: then it may be stored
  /// or not, and none of them is known here any more. Any thread.
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
