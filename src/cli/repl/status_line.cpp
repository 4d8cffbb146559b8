#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/model/usage_counts.h"
#include "base/text/text.h"
#include "cli/repl/chat_session.h"
#include "cli/terminal/terminal.h"
#include "cli/views/next_turn.h"

namespace bough::cli {

namespace {

std::string tokensOf(const TurnTotals& totals) {
  const Usage& usage = totals.usage;
  if (totals.withoutUsage > 0 && isUsageUnknown(usage)) return "tokens unknown";
  return fmt::format("{} in, {} out{}", thousands(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens),
                     thousands(usage.outputTokens), totals.withoutUsage > 0 ? "+?" : "");
}

}  // namespace

std::string statusLine(const agent::Chat& chat, const agent::TurnReport& report, double costUsd, bool costKnown) {
  const std::uint64_t window = std::max<std::uint64_t>(chat.windowTokens(), 1);
  const std::string& head = chat.place().headId;
  std::vector<std::string> parts = {
      chat.model(),
      tokensOf(report.totals),
      fmt::format("context {} ({}%)", thousands(report.contextTokens), report.contextTokens * 100 / window),
      fmt::format("${:.4f}{}", costUsd, costKnown ? "" : "+?"),
      fmt::format("{:.1f} s", static_cast<double>(report.totals.durationMs) / 1000),
      fmt::format("branch {}", head.size() > 8 ? head.substr(head.size() - 8) : head)};
  for (const bool last : {true, true, false, false}) {
    if (text::displayWidth(fmt::format("{}", fmt::join(parts, " · "))) <= terminalWidth()) break;
    parts.erase(last ? parts.end() - 1 : parts.begin());
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

}  // namespace bough::cli
