// The lines of an agent's file that carry entries which another agent wrote (model/carried.h): which entries were
// carried by which line.
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
    std::vector<std::size_t> places;          ///< Places of the entries that it carries.
    std::size_t own = CarriedIds::kNone;      ///< Index in `places` of the entry that the line was written for.
    std::size_t ownPlace = EntryTree::kNone;  ///< Place of that entry in the session.
    bool isWhole = true;                      ///< Whether everything that it carried is in the session.
  };

  CarrierLines(const EntryList& entries, const Agent& agent);

  /// Returns the carrier line that an entry keeps; nullptr when its line carries nothing.
  [[nodiscard]] const Line* find(std::size_t place) const;
  /// Returns the entry whose line carries this one; EntryTree::kNone when none does.
  [[nodiscard]] std::size_t carrierOf(std::size_t place) const;
  [[nodiscard]] bool isCarried(std::size_t place) const { return carrierOf(place) != EntryTree::kNone; }

 private:
  std::unordered_map<std::size_t, Line> lines_;  // by place of the entry that keeps the line
  // place of a carried entry → place of the entry that keeps the line
  std::unordered_map<std::size_t, std::size_t> carrierOf_{};
};

}  // namespace bough::transcript
