// Lines of another agent's file that say once more what an entry of the same file says.
//
// Agents write what was said several times: Claude Code the last prompt and what is queued, Codex what it shows beside
// what its model gets, Gemini CLI results with their call and as a message. bough keeps such lines beside the
// conversation, so that the file comes out as it was. What hides an entry must hide them, too.
#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "bough/entry.h"
#include "bough/storage_backend.h"

namespace bough {

class TwinLines {
 public:
  /// Takes in what an entry says, as it is stored; nothing of one that was not imported.
  void add(const Entry& entry);
  /// Whether one of them came from another agent's file.
  [[nodiscard]] bool wereImported() const { return !agents_.empty(); }
  /// Whether an entry outside the messages keeps a line of the same agent that repeats one of the texts: the whole of
  /// it, a long one among others, or its beginning.
  [[nodiscard]] bool isTwin(const Entry& entry) const;

 private:
  [[nodiscard]] bool carriesOne(const Entry& entry) const;
  [[nodiscard]] bool repeats(const std::string& text) const;
  void addText(std::string text);

  std::set<std::string> ids_;
  std::set<std::string> agents_;
  std::unordered_set<std::string> texts_;  // without blanks, which lines set differently
  std::vector<std::string> long_;          // of them, those that are also looked for in others
};

/// The entries of a session that keep such lines for some of its entries; `alsoHidden`: those too that are redacted.
Result<std::vector<std::string>> twinsOf(StoredSession& session, const std::vector<std::string>& entryIds,
                                         bool alsoHidden);

}  // namespace bough
