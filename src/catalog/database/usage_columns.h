// The counts of a Usage as columns, in the order of kUsageCounts.
#pragma once

#include "base/model/usage_counts.h"
#include "catalog/database/database.h"

// Parts of literals: statements are kept by their address.
#define BOUGH_USAGE_COLUMNS "input, output, cacheRead, cacheWrite, reasoning, cacheWriteHour"
#define BOUGH_USAGE_SUMS "sum(input), sum(output), sum(cacheRead), sum(cacheWrite), sum(reasoning), sum(cacheWriteHour)"
// Answers of which nobody said what they used; what Claude Code itself says in the place of an answer used nothing.
#define BOUGH_WITHOUT_USAGE \
  "sum(input + output + cacheRead + cacheWrite + reasoning + cacheWriteHour = 0 AND model.name <> '" BOUGH_NO_MODEL "')"
#define BOUGH_NO_MODEL "<synthetic>"

namespace bough::catalog {

inline constexpr std::string_view kNoModel = BOUGH_NO_MODEL;

/// Reads them from this column on.
inline Usage usageIn(const Query& query, int column) {
  Usage usage;
  for (const auto count : kUsageCounts) usage.*count = query.number(column++);
  return usage;
}

inline void bindUsage(Query& query, const Usage& usage) {
  for (const auto count : kUsageCounts) query.bind(usage.*count);
}

}  // namespace bough::catalog
