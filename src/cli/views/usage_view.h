// Prints usage for people and programs: a table with bars, a line over time, JSON.
#pragma once

#include <string>

#include "base/json/json_write.h"
#include "bough/catalog.h"

namespace bough::cli {

struct UsageLook {
  std::string by;
  bool breakdown = false;  ///< One line per model under each row.
  std::size_t height = 0;  ///< The most lines to print, if possible; 0: no limit.
};

void printUsageTable(const UsageReport& report, const UsageLook& look);
void printUsageJson(const UsageReport& report, const std::string& by);

/// Returns the sum of all tokens: input, output, cache reads and cache writes.
std::uint64_t totalTokens(const Usage& used);
/// Writes the members inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens,
/// cacheWriteHourTokens and totalTokens.
void writeAllTokens(json::Writer& writer, const Usage& used);

}  // namespace bough::cli
