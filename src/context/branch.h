// Reads a branch as far as a context needs it: the messages from the latest compaction on, and what is in force at its
// end.
#pragma once

#include <bough/context.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough::context {

/// A member of an entry's payload, by the entry that holds it.
struct Recorded {
  std::string entryId;
  std::string json;  ///< Raw.
  Dialect dialect = Dialect::Bough;
};

struct Branch {
  std::string headId;
  std::vector<Entry> entries;         ///< Root first: those the context is made of. Control entries are none of them.
  std::optional<Entry> summary;       ///< The latest compaction summary.
  std::string summaryProblem;         ///< Why nothing before it was kept, though it names an entry to keep from.
  std::uint64_t replacedEntries = 0;  ///< How many messages the summary stands for.
  std::optional<Recorded> system;
  std::optional<Recorded> tools;
  std::string model;
  std::string provider;
  std::string thinkingLevel;
};

/// What an entry puts in force from there on.
void applyState(const Entry& entry, Branch& branch);

Result<Branch> readBranch(SessionStore& store, const std::string& sessionId, const std::string& at);

/// The text of a summary entry's payload; none when it has none.
std::optional<std::string> summaryText(const Entry& entry);

}  // namespace bough::context
