// The prices that costs are worked out with, and how costs and counts are written.
#pragma once

#include <string>

#include "bough/catalog.h"
#include "cli/definition/command.h"

namespace bough::cli {

/// `--prices FILE`.
Option pricesOption(std::string& path);
/// The table in `path`, else in the file that BOUGH_PRICES names, else the one that comes with bough, changed by the
/// settings of the user.
Result<PriceTable> readPrices(const std::string& path);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
/// "$1.20", or "$1.20+" when a part of it is unknown.
std::string formatCost(double usd, bool known);

}  // namespace bough::cli
