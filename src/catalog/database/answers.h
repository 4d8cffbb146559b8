// The table `answer`: the cost of each answer. Answers get copied: by agents into the files of forks and of resumed
// sessions, by bough when a fork gets its own copy. So every session that contains an answer has a row for it, and sums
// count each answer once. The functions here are the only ones that store or delete answers, because they also maintain
// the sums in `used`. Triggers cannot do that: FTS5 would write its buffers at each statement with a trigger.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bough/message.h"
#include "catalog/database/database.h"
#include "catalog/database/first_fill.h"

namespace bough::catalog {

/// An answer and its place in its session.
struct Answer {
  std::int64_t session = 0;
  std::uint64_t sequence = 0;
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;
  std::int64_t model = 0;
  std::string identity;  ///< See EntryFacts::identity; never empty.
  bool certain = true;
  Usage usage;
};

/// Returns the value of the column `id`, which is the same for all copies of an answer.
std::int64_t answerId(const std::string& identity);

/// Returns the number of a model in the table `model`.
std::int64_t modelId(Database& database, const std::string& name);

/// Stores answers under their ids. The sessions must not contain these answers yet. `first` belongs to a FirstFill.
void addAnswers(Database& database, const std::vector<std::pair<std::int64_t, Answer>>& answers,
                FirstAnswers* first = nullptr);

/// Stores an answer. An answer that the session already has keeps its place, and each count becomes the greater of the
/// two, because the counts are lower while an answer is still being written. Returns by how much the usage grew.
Usage saveAnswer(Database& database, const Answer& answer);

/// Deletes the session's answers at `sequence` and later.
void removeAnswers(Database& database, std::int64_t session, std::uint64_t sequence);

}  // namespace bough::catalog
