// The table `answer`: what each answer cost. Answers are copied: by agents into the files of forks and of resumed
// sessions, by bough when a fork gets its own copy. So every session that holds an answer has a row of it, and sums
// take each answer once. Whoever stores or forgets an answer does it here, where the sums in `used` are kept. No
// trigger does it: with each statement that has one, FTS5 would write what it holds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bough/message.h"
#include "catalog/database/database.h"
#include "catalog/database/first_fill.h"

namespace bough::catalog {

/// An answer and where it is in its session.
struct Answer {
  std::int64_t session = 0;
  std::uint64_t sequence = 0;
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;
  std::int64_t model = 0;
  std::string identity;  ///< As EntryFacts::identity; never empty.
  bool certain = true;
  Usage usage;
};

/// The column `id`: the same for all copies of an answer.
std::int64_t answerId(const std::string& identity);

/// The number of a model in the table `model`.
std::int64_t modelId(Database& database, const std::string& name);

/// Stores answers that their session does not have yet, each under its id. `first`: of a FirstFill.
void addAnswers(Database& database, const std::vector<std::pair<std::int64_t, Answer>>& answers,
                FirstAnswers* first = nullptr);

/// Stores an answer. One that the session has already keeps its place, and of each
/// number the greater: an answer that is still being written says less. Returns what is new of its usage.
Usage saveAnswer(Database& database, const Answer& answer);

/// Forgets the answers that begin at `sequence` or later.
void forgetAnswers(Database& database, std::int64_t session, std::uint64_t sequence);

}  // namespace bough::catalog
