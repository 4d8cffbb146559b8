#include "cli/views/head_history.h"

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "bough/tree.h"

namespace bough::cli {

// The head moves with each conversation entry and with each head entry. So before a head entry, the head was at the
// conversation entry appended last, or, if none was appended in between, where the previous head entry had put it.
Result<std::vector<HeadMove>> headHistory(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(const auto tree, store.loadTree(sessionId));
  LoadOptions wanted;
  wanted.types = {std::string(entry_type::kHead)};
  BOUGH_TRY(const auto moves, store.loadSessionEntries(sessionId, wanted));
  std::vector<HeadMove> history;
  std::string before;
  Sequence begin = 0;
  for (const Entry& move : moves) {
    BOUGH_TRY(const auto sequence, store.sequenceOf(sessionId, move.id));
    Sequence last = sequence;
    while (last > begin && !tree.isNode(last)) --last;
    if (tree.isNode(last)) {
      BOUGH_TRY(const auto entries, store.loadEntriesAt(sessionId, {last}));
      before = entries.front().id;
    }
    const std::string target = json::findString(move.payload, "entryId").value_or("");
    if (target != before) history.push_back({.entryId = before, .timestamp = move.timestamp});
    before = target;
    begin = sequence;
  }
  std::ranges::reverse(history);
  return history;
}

}  // namespace bough::cli
