#include "catalog/usage_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "base/text/timestamp.h"
#include "base/try.h"

namespace bough::catalog {
namespace {

constexpr std::uint64_t kBlockMs = std::uint64_t{5} * 3'600'000;

void mergeRow(UsageRow& sum, const UsageRow& part) {
  sum.messages += part.messages;
  sum.withoutId += part.withoutId;
  sum.withoutUsage += part.withoutUsage;
  sum.tokens += part.tokens;
  sum.costUsd += part.costUsd;
  sum.costKnown = sum.costKnown && part.costKnown;
  for (const ModelUsage& used : part.byModel) {
    auto found = std::ranges::find(sum.byModel, used.model, &ModelUsage::model);
    if (found == sum.byModel.end()) {
      sum.byModel.push_back(used);
      continue;
    }
    found->messages += used.messages;
    found->tokens += used.tokens;
    if (found->costUsd && used.costUsd) *found->costUsd += *used.costUsd;
  }
  std::set<std::string> names(sum.models.begin(), sum.models.end());
  names.insert(part.models.begin(), part.models.end());
  sum.models.assign(names.begin(), names.end());
}

// Returns a name such as "2026-11-16 09:00".
std::string blockName(std::uint64_t startMs, bool localTime) {
  const auto seconds = static_cast<std::time_t>(startMs / 1000);
  std::tm parts{};
  if ((localTime ? ::localtime_r(&seconds, &parts) : ::gmtime_r(&seconds, &parts)) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

}  // namespace

Result<UsageReport> usageByBlock(Catalog& catalog, const UsageOptions& options) {
  UsageOptions hourly = options;
  hourly.by = UsageBy::Hour;
  hourly.localTime = false;
  BOUGH_TRY(auto report, catalog.usage(hourly));
  std::vector<UsageRow> blocks;
  for (const UsageRow& hour : report.rows) {
    std::string time = hour.name + ":00Z";
    std::ranges::replace(time, ' ', 'T');
    const std::uint64_t startMs = parseTimestamp(time).value_or(0);
    if (blocks.empty() || startMs >= blocks.back().startMs + kBlockMs) {
      blocks.push_back({.name = blockName(startMs, options.localTime), .startMs = startMs});
    }
    mergeRow(blocks.back(), hour);
  }
  report.rows = std::move(blocks);
  return report;
}

Result<UsageReport> usageByFolder(Catalog& catalog, const UsageOptions& options) {
  UsageOptions sessions = options;
  sessions.by = UsageBy::Session;
  BOUGH_TRY(auto report, catalog.usage(sessions));
  ListOptions wanted{.limit = SIZE_MAX, .models = false};
  wanted.filter = {.agent = options.agent, .key = options.key, .cwd = options.cwd, .session = options.session};
  BOUGH_TRY(const auto rows, catalog.list(wanted));
  std::map<std::string, std::string> folders;
  for (const SessionSummary& row : rows) folders[row.sessionId] = row.cwd;
  std::map<std::string, UsageRow> sums;
  for (const UsageRow& row : report.rows) mergeRow(sums[folders[row.name]], row);
  report.rows.clear();
  for (auto& [folder, row] : sums) {
    row.name = folder;
    report.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(report.rows, std::ranges::greater(),
                           [](const UsageRow& row) { return std::tuple(row.costUsd, row.tokens.outputTokens); });
  return report;
}

}  // namespace bough::catalog
