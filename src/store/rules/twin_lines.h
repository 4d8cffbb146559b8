// Lines of another agent's file that repeat the content of an entry from the same file.
//
// Agents write the same text several times: Claude Code writes the last prompt and queued prompts, Codex writes what it
// shows in addition to what its model gets, and Gemini CLI writes results both with their call and as a message. bough
// keeps such lines next to the conversation, so that the file can be exported unchanged. When an entry is hidden, these
// lines must be hidden too.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json/text_set.h"
#include "bough/entry.h"
#include "bough/storage_backend.h"

namespace bough {

class TwinLines {
 public:
  /// Adds the content of an entry, as it is stored. Ignores the content of an entry that was not imported.
  void add(const Entry& entry);
  /// Returns true when at least one of the entries came from another agent's file.
  [[nodiscard]] bool wereImported() const { return !agents_.empty(); }
  /// Returns true when `entry` keeps a line that was written for one of the added entries, or that repeats one of their
  /// texts (base/json/text_set.h). A message is not a twin because of what it says itself; with `alsoMessages`, it is
  /// one if its line says more than the message.
  [[nodiscard]] bool isTwin(const Entry& entry, bool alsoMessages) const;

 private:
  [[nodiscard]] bool carriesOne(const Entry& entry) const;

  std::set<std::string> ids_;
  std::set<std::string> agents_;
  json::TextSet texts_;
};

/// Returns the entries of a session that keep such lines for some of its entries. `forGood` includes entries that are
/// already redacted, and messages whose lines say more than the message. Merely hiding an entry does not need those,
/// because such a line is not written out again.
Result<std::vector<std::string>> twinsOf(StoredSession& session, const std::vector<std::string>& entryIds,
                                         bool forGood);

}  // namespace bough
