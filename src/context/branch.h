// Reads a branch as far as a context needs it: the messages from the latest compaction on, and what is in force at its
// end.
#pragma once

#include <bough/context.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bough::context {

/// A member of an entry's payload, by the entry that holds it.
struct Recorded {
  std::string entryId;
  std::string json;  ///< Raw.
  Dialect dialect = Dialect::Bough;
};

/// The payloads of redacted messages as they were stored, by entry: which calls they answered is found there.
using HiddenPayloads = std::unordered_map<std::string, std::string>;

/// Reads them for the redacted messages of `entries`; `options` load these, and perhaps others. What was erased is
/// gone.
Result<HiddenPayloads> readHidden(SessionStore& store, const std::string& sessionId, LoadOptions options,
                                  const std::vector<Entry>& entries);

struct Branch {
  std::string headId;
  std::vector<Entry> entries;    ///< Root first: those the context is made of. Control entries are none of them.
  HiddenPayloads hidden;         ///< Of those that are redacted.
  std::optional<Entry> summary;  ///< The latest compaction summary.
  std::string summaryProblem;    ///< Why nothing before it was kept, though it names an entry to keep from.
  std::optional<Entry> cut;      ///< The first entry, when it continues one that is lost.
  std::size_t looked = 0;        ///< How many entries from the end were asked for.
  bool isWhole = true;           ///< Nothing is before `entries` that the context would be made of.
  std::optional<Recorded> system;
  std::optional<Recorded> tools;
  // The places in `entries` from which on the system prompt, the tools and the summary are the present ones.
  std::size_t systemSince = 0;
  std::size_t toolsSince = 0;
  std::size_t summarySince = 0;
  std::string model;
  std::string provider;
  std::string thinkingLevel;
};

/// What an entry puts in force from there on.
void applyState(const Entry& entry, Branch& branch);

/// `last`: how many entries to read from the end when that is not the whole branch; more are read when the summary
/// keeps more and there is no `mayBreakOff`. `mostBytes`: with `mayBreakOff`, fewer are read first where these are
/// longer.
Result<Branch> readBranch(SessionStore& store, const std::string& sessionId, const std::string& at,
                          std::size_t last = SIZE_MAX, bool mayBreakOff = false, std::size_t mostBytes = SIZE_MAX);

/// Whether the first entry of a whole branch continues one that is not there.
inline bool beginsTooLate(const Entry& first) {
  return !first.parentId.value_or("").empty();
}

/// The text of a summary entry's payload; none when it has none.
std::optional<std::string> summaryText(const Entry& entry);

}  // namespace bough::context
