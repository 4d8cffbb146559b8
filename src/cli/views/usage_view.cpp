#include "cli/views/usage_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>

#include "base/model/payloads.h"
#include "base/model/usage_counts.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/price_file.h"

namespace bough::cli {
namespace {

constexpr std::size_t kBarColumns = 8;
constexpr std::uint64_t kBlockMs = std::uint64_t{5} * 3'600'000;

bool isOverTime(std::string_view by) {
  return by == "day" || by == "week" || by == "month" || by == "block";
}

// Returns the value that bars show: the cost, or tokens when nothing has a price.
double weightOf(const UsageRow& row, bool byCost) {
  return byCost ? row.costUsd : static_cast<double>(totalTokens(row.tokens));
}

double greatest(const UsageReport& report, bool byCost) {
  double most = 0;
  for (const UsageRow& row : report.rows) most = std::max(most, weightOf(row, byCost));
  return most;
}

// Draws a bar in eighths of a column.
std::string barOf(double part) {
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(part * static_cast<double>(kBarColumns * 8) + 0.5);
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[eighths % 8];
  return out.empty() && part > 0 ? "▏" : out;
}

// Returns the number of a row's day, week or month on the time axis; std::nullopt for rows that have no place there.
std::optional<std::int64_t> placeInTime(const std::string& name, std::string_view by) {
  int year = 0;
  unsigned part = 0;
  unsigned day = 1;
  if (by == "week" ? std::sscanf(name.c_str(), "%d-W%u", &year, &part) != 2
                   : std::sscanf(name.c_str(), "%d-%u-%u", &year, &part, &day) < 2) {
    return std::nullopt;
  }
  using namespace std::chrono;
  const auto daysOf = [](year_month_day date) { return sys_days(date).time_since_epoch().count(); };
  if (by == "day") return daysOf({std::chrono::year(year), month(part), std::chrono::day(day)});
  if (by == "month") return std::int64_t{year} * 12 + part;
  if (by != "week") return std::nullopt;
  // January 4th is always in the first week. 1970 began on a Thursday.
  return (daysOf({std::chrono::year(year), January, std::chrono::day(4)}) + 3) / 7 + part;
}

// Draws the rows from oldest to newest, whatever their order, with a gap for each day, week or month without usage.
std::string sparkline(const UsageReport& report, std::string_view by, bool byCost, std::size_t columns) {
  static constexpr std::string_view kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = greatest(report, byCost);
  std::vector<const UsageRow*> rows;
  for (const UsageRow& row : report.rows) rows.push_back(&row);
  std::ranges::sort(rows, {}, [](const UsageRow* row) -> const std::string& { return row->name; });
  std::vector<std::string_view> marks;
  std::optional<std::int64_t> before;
  for (const UsageRow* row : rows) {
    const auto place = placeInTime(row->name, by);
    const std::int64_t gap = before && place ? *place - *before - 1 : 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(gap, static_cast<std::int64_t>(columns)); ++i) {
      marks.emplace_back(" ");
    }
    before = place;
    const double part = most > 0 ? weightOf(*row, byCost) / most : 0;
    marks.push_back(kLevels[static_cast<std::size_t>(part * 7 + 0.5)]);
  }
  const std::size_t from = marks.size() > columns ? marks.size() - columns : 0;
  return fmt::format("{}", fmt::join(std::span(marks).subspan(from), ""));
}

// Returns the number of lines of a row, including its models.
std::size_t linesOf(const UsageRow& row, const UsageLook& look) {
  return 1 + (look.breakdown ? row.byModel.size() : 0);
}

// Returns the rows that fit into the height: the last ones if times ascend, otherwise the first ones.
std::span<const UsageRow> fittingRows(const UsageReport& report, const UsageLook& look) {
  const std::span<const UsageRow> all(report.rows);
  if (look.height == 0) return all;
  const std::size_t others = 6 + linesOf(report.total, look) + (look.by == "block" ? 2 : 0);
  std::size_t room = look.height > others ? look.height - others : 1;
  const bool fromEnd = isOverTime(look.by) && std::ranges::is_sorted(all, {}, &UsageRow::name);
  std::size_t count = 0;
  while (count < all.size()) {
    const std::size_t lines = linesOf(all[fromEnd ? all.size() - 1 - count : count], look);
    if (count > 0 && lines > room) break;
    room -= std::min(room, lines);
    ++count;
  }
  return fromEnd ? all.last(count) : all.first(count);
}

std::vector<std::string> namesOf(std::span<const UsageRow> rows, const std::string& by) {
  std::vector<std::string> names;
  for (const UsageRow& row : rows) names.push_back(row.name.empty() ? "(none)" : row.name);
  return by == "session" || by == "branch" ? shortIds(names) : names;
}

// Returns the remaining time of a block that is not over; std::nullopt for other rows.
std::optional<std::uint64_t> msLeft(const UsageRow& row, std::uint64_t now) {
  if (row.startMs == 0 || now < row.startMs || now >= row.startMs + kBlockMs) return std::nullopt;
  return row.startMs + kBlockMs - now;
}

// Prints a line such as "active: 4.7h left of the block of 2026-11-18 04:00; at this rate it will cost $2.17".
void printActiveBlock(const UsageReport& report) {
  const std::uint64_t now = nowMs();
  for (const UsageRow& row : report.rows) {
    const auto left = msLeft(row, now);
    if (!left) continue;
    const double elapsed = static_cast<double>(std::max<std::uint64_t>(kBlockMs - *left, 60'000));
    const std::string rate =
        row.costUsd > 0 ? fmt::format("; at this rate it will cost {}",
                                      formatCost(row.costUsd * static_cast<double>(kBlockMs) / elapsed, row.costKnown))
                        : "";
    printWrapped(fmt::format("{}: {} left of the block of {}{}", styled(Style::Bold, "active"), formatDuration(*left),
                             row.name, rate));
  }
}

// Returns the title of a session or the remaining time of a block, otherwise the models.
std::string remark(const UsageRow& row, const std::string& by) {
  if (by == "session") return row.title;
  if (by == "model") return "";
  std::string said;
  if (const auto left = msLeft(row, nowMs()); left && !stdoutIsTerminal()) {
    said = fmt::format("active, {} left; ", formatDuration(*left));
  }
  std::vector<std::string> models;
  for (const std::string& model : row.models) models.push_back(model.empty() ? "(no model)" : model);
  return said + fmt::format("{}", fmt::join(models, ", "));
}

std::vector<std::string> cells(const std::string& name, std::uint64_t answers, const Usage& used, double cost,
                               bool known) {
  // An answer always uses tokens; zero means unknown.
  if (answers > 0 && isUsageUnknown(used)) return {name, grouped(answers), "-", "-", "-", "-", "-", "-"};
  return {name,
          grouped(answers),
          grouped(used.inputTokens),
          grouped(used.outputTokens),
          grouped(used.cacheWriteTokens),
          grouped(used.cacheReadTokens),
          grouped(totalTokens(used)),
          answers == 0 ? "-" : formatCost(cost, known)};
}

void writeRow(json::Writer& writer, const UsageRow& row) {
  writer.beginObject().member("name", row.name).memberOrNull("title", row.title);
  writer.member("messages", row.messages).member("withoutId", row.withoutId);
  writer.member("withoutUsage", row.withoutUsage);
  writeAllTokens(writer, row.tokens);
  // If no answer has figures, the cost is unknown.
  writer.key("costUsd").raw(row.messages == row.withoutUsage ? "null" : fmt::format("{:.6f}", row.costUsd));
  writer.member("costKnown", row.costKnown).key("models").beginArray();
  for (const ModelUsage& used : row.byModel) {
    writer.beginObject().member("model", used.model).member("messages", used.messages);
    writeAllTokens(writer, used.tokens);
    writer.key("costUsd").raw(used.costUsd ? fmt::format("{:.6f}", *used.costUsd) : "null").endObject();
  }
  writer.endArray().endObject();
}

}  // namespace

std::uint64_t totalTokens(const Usage& used) {
  return used.inputTokens + used.outputTokens + used.cacheReadTokens + used.cacheWriteTokens;
}

void writeAllTokens(json::Writer& writer, const Usage& used) {
  writeTokens(writer, used).member("reasoningTokens", used.reasoningTokens);
  writer.member("cacheWriteHourTokens", used.cacheWriteHourTokens);
  writer.member("totalTokens", totalTokens(used));
}

void printUsageTable(const UsageReport& report, const UsageLook& look) {
  using enum Table::Align;
  const bool bars = stdoutIsTerminal();
  const bool byCost = report.total.costUsd > 0;
  const double most = greatest(report, byCost);
  std::vector<Table::Column> columns = {
      {look.by, Left, 0, true},  {"answers", Right, 7},    {"input", Right, 3},     {"output", Right, 2},
      {"cache write", Right, 6}, {"cache read", Right, 5}, {"total tokens", Right}, {"cost", Right}};
  // Sessions are identified by title; days and models by name.
  const bool bySession = look.by == "session";
  if (bars) columns.push_back({"", Left, bySession ? 2 : 4});
  const bool hasModels = !bySession && look.by != "model" && !look.breakdown;
  columns.push_back({bySession ? "title" : hasModels ? "models" : "", Left, !bars ? 0 : bySession ? 1 : 8});
  Table table(std::move(columns));
  const auto add = [&](const std::string& name, const UsageRow& row, const std::string& bar) {
    auto made = cells(name, row.messages, row.tokens, row.costUsd, row.costKnown);
    if (bars) made.push_back(bar);
    made.push_back(look.breakdown ? (look.by == "session" ? row.title : "") : remark(row, look.by));
    table.add(std::move(made));
    for (const ModelUsage& used : look.breakdown ? row.byModel : std::vector<ModelUsage>()) {
      auto part = cells("  └ " + (used.model.empty() ? "(no model)" : used.model), used.messages, used.tokens,
                        used.costUsd.value_or(0), used.costUsd.has_value());
      part.resize(part.size() + (bars ? 2 : 1));
      table.add(std::move(part));
    }
  };
  const auto shown = fittingRows(report, look);
  const std::vector<std::string> names = namesOf(shown, look.by);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    add(names[i], shown[i], most > 0 ? barOf(weightOf(shown[i], byCost) / most) : "");
  }
  table.addRule();
  add(report.total.name, report.total, "");
  table.print();
  if (bars && isOverTime(look.by) && report.rows.size() > 1) {
    const std::string line = sparkline(report, look.by, byCost, std::max<std::size_t>(terminalWidth(), 20) - 16);
    printLine(styled(Style::Dim, byCost ? "cost over time " : "tokens by time ") + line);
  }
  // Below the table, because a narrow terminal has no room for remarks in it.
  if (bars) printActiveBlock(report);
  if (shown.size() < report.rows.size()) {
    printWrapped(styled(Style::Dim, fmt::format("{} of {} rows fit", shown.size(), report.rows.size())));
  }
}

void printUsageJson(const UsageReport& report, const std::string& by) {
  json::Writer writer;
  writer.beginObject().member("schema", 2).member("by", by).key("rows").beginArray();
  for (const UsageRow& row : report.rows) writeRow(writer, row);
  writer.endArray().key("total");
  writeRow(writer, report.total);
  printJsonLine(writer.list("unknownModels", report.unknownModels).endObject().text());
}

}  // namespace bough::cli
