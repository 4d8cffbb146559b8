// The columns for the counts of a Usage, in the order of kUsageCounts.
#pragma once

#include "base/model/usage_counts.h"
#include "catalog/database/database.h"

// Macros, so that statements are string literals: prepared statements are cached by their address.
#define BOUGH_USAGE_COLUMNS "input, output, cacheRead, cacheWrite, reasoning, cacheWriteHour"
#define BOUGH_USAGE_SUMS "sum(input), sum(output), sum(cacheRead), sum(cacheWrite), sum(reasoning), sum(cacheWriteHour)"
// Counts the answers without any recorded usage. Claude Code's synthetic messages, which replace an answer, really used
// nothing and are not counted.
#define BOUGH_WITHOUT_USAGE \
  "sum(input + output + cacheRead + cacheWrite + reasoning + cacheWriteHour = 0 AND model.name <> '" BOUGH_NO_MODEL "')"
#define BOUGH_NO_MODEL "<synthetic>"

namespace bough::catalog {

inline constexpr std::string_view kNoModel = BOUGH_NO_MODEL;

/// Reads the counts, starting at this column.
inline Usage usageIn(const Query& query, int column) {
  Usage usage;
  for (const auto count : kUsageCounts) usage.*count = query.number(column++);
  return usage;
}

inline void bindUsage(Query& query, const Usage& usage) {
  for (const auto count : kUsageCounts) query.bind(usage.*count);
}

}  // namespace bough::catalog
