// The message about a session whose log is missing.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/text/counted.h"

namespace bough {

/// `entries` is the number of entries that the log had.
inline std::string missingLogMessage(std::uint64_t entries) {
  return fmt::format("its log with {} is gone, and it was not removed with bough", counted(entries, "entry"));
}

}  // namespace bough
