// A stretch of a branch, as one log or one session can tell it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bough {

struct BranchPart {
  std::vector<std::uint64_t> sequences;  ///< Root first.
  /// The parent of the first one, when it is not an entry of this log; empty at a root or when the limit was reached.
  std::string continuesAt;
};

}  // namespace bough
