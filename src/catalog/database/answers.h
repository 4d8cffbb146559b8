// The table `answer`: what each answer of another agent cost. Agents copy answers into the files of forks and of
// resumed sessions, so every session that holds an answer has a row of it, and sums take each answer once.
#pragma once

#include <cstdint>

#include "catalog/database/database.h"
#include "catalog/database/entry_facts.h"

namespace bough::catalog {

/// Where an answer is in its session.
struct Answer {
  std::int64_t session = 0;
  std::uint64_t sequence = 0;
  std::uint32_t branch = 0;
  std::uint64_t quarter = 0;
  std::int64_t model = 0;
};

/// Stores an answer, which has usage and an identity. One that the session has already keeps its place, and of each
/// number the greater: an answer that is still being written says less. Returns what is new of its usage.
Usage saveAnswer(Database& database, const Answer& answer, const EntryFacts& facts);

/// Forgets the answers that begin at `sequence` or later.
void forgetAnswers(Database& database, std::int64_t session, std::uint64_t sequence);

}  // namespace bough::catalog
