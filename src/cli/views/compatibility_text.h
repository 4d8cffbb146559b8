// Formats compatibility reports for people.
#pragma once

#include <string>

#include "bough/convert.h"

namespace bough::cli {

/// Lists on stderr what the target cannot hold, how often, and what was wrong.
void printLosses(const CompatibilityReport& report);

/// Returns "nothing is lost", or how many messages contain something that `target` cannot hold.
std::string lossText(const CompatibilityReport& report, const std::string& target);

/// Lists on stdout each entry that loses something, and each signature.
void printEntries(const CompatibilityReport& report);

}  // namespace bough::cli
