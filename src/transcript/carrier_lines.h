// Lines of an agent's file that stand for entries of another origin (model/carried.h), as they were read: which entries
// travelled in which line.
#pragma once

#include <unordered_map>
#include <vector>

#include "transcript/model/agent.h"
#include "transcript/model/carried.h"
#include "transcript/model/items.h"

namespace bough::transcript {

class CarrierLines {
 public:
  struct Line {
    std::vector<std::size_t> places;          ///< Of the entries that it carries.
    std::size_t own = CarriedIds::kNone;      ///< In `places`: the entry that the line was written for.
    std::size_t ownPlace = EntryTree::kNone;  ///< The same, in the session.
    bool isWhole = true;                      ///< All that it carried is in the session.
  };

  CarrierLines(const EntryList& entries, const Agent& agent);

  /// Of the entry that keeps such a line; null for any other.
  [[nodiscard]] const Line* find(std::size_t place) const;
  /// The entry whose line carries this one; EntryTree::kNone when none does.
  [[nodiscard]] std::size_t carrierOf(std::size_t place) const;
  [[nodiscard]] bool isCarried(std::size_t place) const { return carrierOf(place) != EntryTree::kNone; }

 private:
  std::unordered_map<std::size_t, Line> lines_;               // by the place of the line's entry
  std::unordered_map<std::size_t, std::size_t> carrierOf_{};  // from an entry to that place
};

}  // namespace bough::transcript
