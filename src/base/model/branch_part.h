// A stretch of a branch, as far as one log or one session contains it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bough {

struct BranchPart {
  std::vector<std::uint64_t> sequences;  ///< In order from the root.
  /// The parent of the first entry, when it is not in this log. Empty at a root, or when the limit was reached.
  std::string continuesAt;
};

}  // namespace bough
