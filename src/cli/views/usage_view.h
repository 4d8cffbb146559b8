// Usage for people and for programs: a table with bars, a line over time, JSON.
#pragma once

#include <string>

#include "base/json/json_write.h"
#include "bough/catalog.h"

namespace bough::cli {

struct UsageLook {
  std::string by;
  bool breakdown = false;  ///< A line for each model under each row.
  std::size_t height = 0;  ///< The most lines to print, as far as that can be; 0: any number.
};

void printUsageTable(const UsageReport& report, const UsageLook& look);
void printUsageJson(const UsageReport& report, const std::string& by);

/// All tokens: input, output, read from a cache and written to one.
std::uint64_t totalTokens(const Usage& used);
/// Members inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, cacheWriteHourTokens and
/// totalTokens.
void writeAllTokens(json::Writer& writer, const Usage& used);

}  // namespace bough::cli
