// A compatibility report for people.
#pragma once

#include <string>

#include "bough/convert.h"

namespace bough::cli {

/// What the target cannot hold, how often, and what was wrong, on stderr.
void printLosses(const CompatibilityReport& report);

/// "nothing is lost", or how many messages hold something that `target` cannot hold.
std::string lossText(const CompatibilityReport& report, const std::string& target);

/// Each entry that loses something, and each signature, on stdout.
void printEntries(const CompatibilityReport& report);

}  // namespace bough::cli
