// The lines of an agent in a clean copy of a damaged file.
#pragma once

#include <bough/entry.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes/flat_map.h"
#include "transcript/model/agent.h"
#include "transcript/model/entry_list.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

/// Returns only the complete records of an entry's own `bytes`, one per line, in UTF-8.
std::string cleanLines(std::string_view bytes, const Origin& origin, const Agent& agent);

/// Returns whether an entry's line is complete by itself. A part of an older document is not.
bool isWholeRecord(const Entry& entry, const Origin& origin, const Agent& agent);

/// Makes the lines of a clean copy refer to lines that come before them. The line that a line names may be damaged,
/// come later, or be left out of the copy. A line whose id was used before gets a new id; the rest of the line stays.
class CleanParents {
 public:
  explicit CleanParents(const Agent& agent) : agent_(agent) {}

  /// Returns the records of an entry's own `bytes` (cleanLines). A record gets another parent when its parent is not in
  /// the copy before it, or has a new id there. `parentId` is the entry that the first record continues; empty for a
  /// root.
  std::string clean(std::string_view bytes, const Entry& entry, const std::string& parentId);
  /// Returns an entry's own `bytes` unchanged, except for parents that were hidden: a line whose parent is not in the
  /// file before it names `parentId` instead, or the previous line of the same entry.
  std::string relinked(std::string_view bytes, const Entry& entry, const std::string& parentId);
  /// Notes the lines of an entry that was written again instead of copied.
  void addWritten(std::string_view lines, const Entry& entry);

 private:
  std::string add(std::string_view lines, const Entry& entry);
  [[nodiscard]] std::string freshId(const std::string& id, const Entry& entry) const;
  void replaceNames(std::string& line) const;

  const Agent& agent_;
  NumberSet written_;               // hashes of the ids of lines
  NumberSet lines_;                 // hashes of lines with an id, as they were before changes
  std::string lastConversationId_;  // id of the last line of the conversation
  // entry id → line id, for entries whose id differs from that of their line
  std::unordered_map<std::string, std::string> newIds_;
  // entry id → id of its last line, for entries that were written again
  std::unordered_map<std::string, std::string> lastIds_;
  std::unordered_map<std::string, std::string> renamed_;  // id that was used before → latest id that replaces it
};

/// Returns the places of entries that other lines name although their own lines have lost their ids. A clean copy gives
/// them ids.
std::vector<std::size_t> namedWithoutId(const EntryList& entries, const Agent& agent);

/// Returns whether the lines of the agent called `name` are copied unchanged into a file of `agent`.
bool isSameFormat(const Agent& agent, std::string_view name);

/// Returns whether the agent wrote an entry itself and its line can be copied. `continued` is the entry that it
/// continues; `clean` asks for a clean copy.
bool isLineOf(const Agent& agent, const Entry& entry, const Entry* continued, bool clean);

/// Moves the header to the front, where a clean copy needs it. Returns false when the file has lost its header.
bool moveHeaderToFront(const EntryList& entries, const Agent& agent, std::vector<std::size_t>& order);

}  // namespace bough::transcript
