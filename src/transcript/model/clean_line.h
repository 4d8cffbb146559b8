// Lines of an agent in a clean copy of a damaged file.
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

/// The records alone, one a line, in UTF-8. `bytes`: the entry's own.
std::string cleanLines(std::string_view bytes, const Origin& origin, const Agent& agent);

/// Whether an entry's line is whole by itself: a part of an older document is not.
bool isWholeRecord(const Entry& entry, const Origin& origin, const Agent& agent);

/// Lets the lines of a clean copy name lines that come before them: what a line named may be damaged, come later, or be
/// left out of the copy. A line whose id was used before gets another one; the rest of it stays.
class CleanParents {
 public:
  explicit CleanParents(const Agent& agent) : agent_(agent) {}

  /// The records of an entry's own `bytes` (cleanLines), with another parent where the one that they name is not in the
  /// copy before them, or is written with another id. `parentId`: the entry that the first of them continues; empty: a
  /// root.
  std::string clean(std::string_view bytes, const Entry& entry, const std::string& parentId);
  /// An entry's own `bytes` as they are, but for a parent that was hidden: a line that named one which is not in the
  /// file before it names `parentId` there, or the line before it in the same entry.
  std::string relinked(std::string_view bytes, const Entry& entry, const std::string& parentId);
  /// The lines of an entry that is written again.
  void addWritten(std::string_view lines, const Entry& entry);

 private:
  std::string add(std::string_view lines, const Entry& entry);
  [[nodiscard]] std::string freshId(const std::string& id, const Entry& entry) const;
  void replaceNames(std::string& line) const;

  const Agent& agent_;
  NumberSet written_;                                     // hashes of the ids of lines
  NumberSet lines_;                                       // hashes of lines as they were, where they have an id
  std::string lastTalk_;                                  // the id of the conversation's last line
  std::unordered_map<std::string, std::string> newIds_;   // of an entry with another id than its line, the line's
  std::unordered_map<std::string, std::string> lastIds_;  // of an entry that was written again, its last line's
  std::unordered_map<std::string, std::string> renamed_;  // of an id that was used before, the last one in its place
};

/// Entries whose lines lost their ids, and that others name: a clean copy gives them ids.
std::vector<std::size_t> namedWithoutId(const EntryList& entries, const Agent& agent);

/// Whether an agent's lines are copied as they are into a file of the agent.
bool isSameFormat(const Agent& agent, std::string_view name);

/// Whether the agent wrote an entry itself, and its line can be copied; `clean`: into a clean copy. `continued`: the
/// entry that it continues.
bool isLineOf(const Agent& agent, const Entry& entry, const Entry* continued, bool clean);

/// A clean copy begins with the header, wherever that was in the file. False when the file has lost it.
bool bringHeaderFirst(const EntryList& entries, const Agent& agent, std::vector<std::size_t>& order);

}  // namespace bough::transcript
