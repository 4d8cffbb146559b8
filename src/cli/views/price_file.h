// Reads the prices for computing costs, and formats costs and counts.
#pragma once

#include <string>

#include "bough/catalog.h"
#include "cli/definition/command.h"

namespace bough::cli {

/// The option `--prices FILE`.
Option pricesOption(std::string& path);
/// Reads the table in `path`, otherwise the file that BOUGH_PRICES names, otherwise the built-in table with the changes
/// from the user's settings.
Result<PriceTable> readPrices(const std::string& path);

/// Formats 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
/// Returns "$1.20", or "$1.20+" when part of the cost is unknown.
std::string formatCost(double usd, bool known);

}  // namespace bough::cli
