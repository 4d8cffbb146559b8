// Asking before something is done that cannot simply be undone.
#pragma once

#include <string>

#include "bough/error.h"

namespace bough::cli {

/// Asks on the terminal; true for yes. Without a terminal InvalidArgument: `--yes` says it beforehand.
Result<bool> confirm(const std::string& question);

}  // namespace bough::cli
