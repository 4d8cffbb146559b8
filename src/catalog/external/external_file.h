// A file of another agent, and the function that finds such files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bough/error.h"

namespace bough::catalog {

struct ExternalFile {
  std::string path;
  std::string stamp;  ///< Changes when the file changes.
  std::uint64_t sizeBytes = 0;
  std::uint64_t modifiedMs = 0;
  bool isNew = false;  ///< Never read before.
};

/// Passes each file to `use`, until `use` returns false.
using ExternalWalk = std::function<Result<void>(const std::function<bool(ExternalFile&&)>& use)>;

}  // namespace bough::catalog
