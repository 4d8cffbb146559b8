// Lines of another agent's file that say once more what an entry of the same file says.
//
// Agents write what was said several times: Claude Code the last prompt and what is queued, Codex what it shows beside
// what its model gets, Gemini CLI results with their call and as a message. bough keeps such lines beside the
// conversation, so that the file comes out as it was. What hides an entry must hide them, too.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json/said_texts.h"
#include "bough/entry.h"
#include "bough/storage_backend.h"

namespace bough {

class TwinLines {
 public:
  /// Takes in what an entry says, as it is stored; nothing of one that was not imported.
  void add(const Entry& entry);
  /// Whether one of them came from another agent's file.
  [[nodiscard]] bool wereImported() const { return !agents_.empty(); }
  /// Whether an entry keeps a line that was written for one of the entries, or that repeats one of their texts
  /// (base/json/said_texts.h). Of a message what it says itself does not count; `alsoMessages`: those whose lines say
  /// more.
  [[nodiscard]] bool isTwin(const Entry& entry, bool alsoMessages) const;

 private:
  [[nodiscard]] bool carriesOne(const Entry& entry) const;

  std::set<std::string> ids_;
  std::set<std::string> agents_;
  json::SaidTexts texts_;
};

/// The entries of a session that keep such lines for some of its entries. `forGood`: those too that are redacted, and
/// messages whose lines say more than they do; who only hides something does not write such a line again.
Result<std::vector<std::string>> twinsOf(StoredSession& session, const std::vector<std::string>& entryIds,
                                         bool forGood);

}  // namespace bough
