// A file of another agent, and how such files are found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bough/error.h"

namespace bough::catalog {

struct OutsideFile {
  std::string path;
  std::string stamp;  ///< Changes when the file does.
  std::uint64_t sizeBytes = 0;
  std::uint64_t modifiedMs = 0;
  bool isNew = false;  ///< It was never read before.
};

/// Gives all files, one after the other, until `use` returns false.
using OutsideWalk = std::function<Result<void>(const std::function<bool(OutsideFile&&)>& use)>;

}  // namespace bough::catalog
