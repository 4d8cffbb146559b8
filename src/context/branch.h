// Reads the part of a branch that a context needs: the messages since the latest compaction, and the settings in force
// at the end.
#pragma once

#include <bough/context.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bough::context {

/// A member of an entry's payload, and the id of the entry.
struct RecordedSetting {
  std::string entryId;
  std::string json;  ///< Raw.
  Dialect dialect = Dialect::Bough;
};

/// The stored payloads of redacted messages, by entry. They show which calls a message answered.
using HiddenPayloads = std::unordered_map<std::string, std::string>;

/// Reads the stored payloads of the redacted messages in `entries`. `options` must select these entries, and may select
/// others. Erased payloads are lost.
Result<HiddenPayloads> readHidden(SessionStore& store, const std::string& sessionId, LoadOptions options,
                                  const std::vector<Entry>& entries);

struct Branch {
  std::string headId;
  std::vector<Entry> entries;         ///< The entries that make up the context, root first. No control entries.
  HiddenPayloads hidden;              ///< The payloads of redacted entries.
  std::optional<Entry> summary;       ///< The latest compaction summary.
  std::string summaryProblem;         ///< Why nothing is kept before it, although it names an entry to keep from.
  std::optional<Entry> orphanedRoot;  ///< The first entry, when its parent is lost.
  std::size_t requestedEntries = 0;   ///< How many entries from the end were requested.
  bool isWhole = true;                ///< No entry before `entries` belongs to the context.
  std::optional<RecordedSetting> system;
  std::optional<RecordedSetting> tools;
  // The positions in `entries` since which the current system prompt, tools and summary are in force.
  std::size_t systemSince = 0;
  std::size_t toolsSince = 0;
  std::size_t summarySince = 0;
  std::string model;
  std::string provider;
  std::string thinkingLevel;
};

/// Applies the settings that an entry changes.
void applyEntrySettings(const Entry& entry, Branch& branch);

/// `last` is how many entries to read from the end when the whole branch is not needed. More are read when the summary
/// keeps more, unless `mayBePartial` is set. With `mayBePartial`, `maxBytes` reduces the number of entries read first
/// when entries are long.
Result<Branch> readBranch(SessionStore& store, const std::string& sessionId, const std::string& at,
                          std::size_t last = SIZE_MAX, bool mayBePartial = false, std::size_t maxBytes = SIZE_MAX);

/// Returns true when the first entry of a complete branch has a parent that is missing.
inline bool hasMissingParent(const Entry& first) {
  return !first.parentId.value_or("").empty();
}

/// Returns the text in the payload of a summary entry; std::nullopt when it has none.
std::optional<std::string> summaryText(const Entry& entry);

}  // namespace bough::context
