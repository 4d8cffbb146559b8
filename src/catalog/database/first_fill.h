// What a transaction stores in tables without rows. Their indexes are made at its end, in one pass over sorted rows: to
// find the place of each row in each index takes longer than to store the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/flat_map.h"
#include "catalog/database/database.h"

namespace bough::catalog {

/// Answers by their id, while no index finds them: the session that has it.
using FirstAnswers = FlatMap<std::int64_t>;

class FirstFill {
 public:
  /// Within a transaction that stores the first sessions.
  explicit FirstFill(Database& database);
  /// Whether the transaction shall end.
  [[nodiscard]] bool isFull(std::uint64_t sessions) const {
    constexpr std::uint64_t kMostSessions = 10'000;
    constexpr std::size_t kMostAnswers = 1'000'000;
    return sessions >= kMostSessions || answers.size() >= kMostAnswers;
  }
  /// Makes the indexes. Until then nobody but addAnswers may look for what they find.
  void end();

  FirstAnswers answers;

 private:
  Database& database_;
  std::vector<std::string> indexes_;  // statements that make them
};

}  // namespace bough::catalog
