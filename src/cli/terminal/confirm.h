// Asks before an action that cannot easily be undone.
#pragma once

#include <string>

#include "bough/error.h"

namespace bough::cli {

/// Asks on the terminal; returns true for yes. Without a terminal, fails with InvalidArgument and recommends `--yes`.
Result<bool> confirm(const std::string& question);

}  // namespace bough::cli
