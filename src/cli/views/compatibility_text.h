// A compatibility report for people.
#pragma once

#include "bough/convert.h"

namespace bough::cli {

/// What the target cannot hold, how often, and what was wrong, on stderr.
void printLosses(const CompatibilityReport& report);

/// Each entry that loses something, and each signature, on stdout.
void printEntries(const CompatibilityReport& report);

}  // namespace bough::cli
