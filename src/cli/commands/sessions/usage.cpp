#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/views/price_file.h"

namespace bough::cli {
namespace {

struct Options {
  std::string agents;
  FilterOptions filter;
  std::string by = "day";
  std::string session;
  std::string model;
  std::string prices;
  bool utc = false;
  bool priceTable = false;
};

constexpr std::pair<const char*, UsageBy> kWays[] = {
    {"day", UsageBy::Day}, {"week", UsageBy::Week},   {"month", UsageBy::Month},  {"session", UsageBy::Session},
    {"key", UsageBy::Key}, {"model", UsageBy::Model}, {"branch", UsageBy::Branch}};

void writeRow(json::Writer& writer, const UsageRow& row) {
  writer.beginObject().member("name", row.name);
  if (!row.title.empty()) writer.member("title", row.title);
  writer.member("messages", row.messages).member("withoutId", row.withoutId).member("input", row.tokens.inputTokens);
  writer.member("output", row.tokens.outputTokens).member("cacheRead", row.tokens.cacheReadTokens);
  writer.member("cacheWrite", row.tokens.cacheWriteTokens).member("reasoning", row.tokens.reasoningTokens);
  // Without an answer that has figures nobody knows what it cost.
  writer.key("costUsd").raw(row.messages == 0 ? "null" : fmt::format("{:.6f}", row.costUsd));
  writer.member("costKnown", row.costKnown);
  writer.key("models").beginArray();
  for (const std::string& model : row.models) writer.string(model);
  writer.endArray().endObject();
}

void printJson(const std::string& by, const UsageReport& report) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("by", by).key("rows").beginArray();
  for (const UsageRow& row : report.rows) writeRow(writer, row);
  writer.endArray().key("total");
  writeRow(writer, report.total);
  writer.key("unknownModels").beginArray();
  for (const std::string& model : report.unknownModels) writer.string(model);
  writer.endArray().endObject();
  printJsonLine(out);
}

void printTable(const std::string& by, const UsageReport& report) {
  Table table({{by, Table::Align::Left},
               {"answers", Table::Align::Right, 3},
               {"input", Table::Align::Right},
               {"output", Table::Align::Right},
               {"cache read", Table::Align::Right, 1},
               {"cache write", Table::Align::Right, 2},
               {"cost", Table::Align::Right},
               {by == "session" ? "title"
                : by == "model" ? ""
                                : "models",
                Table::Align::Left}});
  const auto add = [&](const UsageRow& row) {
    std::string last = row.title;
    if (by != "session" && by != "model") {
      for (const std::string& model : row.models) last += (last.empty() ? "" : ", ") + model;
    }
    table.add({row.name.empty()                    ? "(none)"
               : by == "session" || by == "branch" ? shortId(row.name)
                                                   : row.name,
               grouped(row.messages), grouped(row.tokens.inputTokens), grouped(row.tokens.outputTokens),
               grouped(row.tokens.cacheReadTokens), grouped(row.tokens.cacheWriteTokens),
               row.messages == 0 ? "-" : formatCost(row.costUsd, row.costKnown), last});
  };
  for (const UsageRow& row : report.rows) add(row);
  table.addRule();
  add(report.total);
  table.print();
}

// In the form that --prices reads.
ExitCode printPrices(const PriceTable& table, bool json) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).key("prices").beginArray();
  if (!json) printLine("# dollars for a million tokens\n# model  input  output  cacheRead  cacheWrite");
  for (const ModelPrice& each : table.prices()) {
    if (!json) {
      printLine(
          fmt::format("{}  {}  {}  {}  {}", each.model, each.input, each.output, each.cacheRead, each.cacheWrite));
    }
    writer.beginObject().member("model", each.model).key("input").raw(fmt::format("{}", each.input));
    writer.key("output").raw(fmt::format("{}", each.output)).key("cacheRead").raw(fmt::format("{}", each.cacheRead));
    writer.key("cacheWrite").raw(fmt::format("{}", each.cacheWrite)).endObject();
  }
  writer.endArray().endObject();
  if (json) printJsonLine(out);
  return kDone;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto filter, options.filter.filter());
  auto prices = readPrices(options.prices);
  if (!prices) return std::unexpected(prices.error());
  if (options.priceTable) return printPrices(*prices, context.json);
  Context shown = context;
  if (!options.agents.empty()) {
    BOUGH_TRY(shown, agentsContext(context, options.agents));
    BOUGH_TRY(filter.writtenBy, parseAgents(options.agents));
  }
  BOUGH_TRY(auto view, openCatalogView(shown));
  UsageOptions wanted{.sinceMs = filter.sinceMs,
                      .untilMs = filter.untilMs,
                      .agent = filter.agent,
                      .cwd = filter.cwd,
                      .key = filter.key,
                      .model = options.model,
                      .writtenBy = filter.writtenBy,
                      .localTime = !options.utc,
                      .prices = &*prices};
  for (const auto& [name, by] : kWays) {
    if (options.by == name) wanted.by = by;
  }
  if (!options.session.empty()) {
    BOUGH_TRY(auto session, resolveSession(*view.store, options.session));
    wanted.session = std::move(session);
  }
  BOUGH_TRY(tellOfDamage(context, *view.catalog,
                         {.agent = wanted.agent, .key = wanted.key, .cwd = wanted.cwd, .session = wanted.session}));
  BOUGH_TRY(auto report, view.catalog->usage(wanted));
  if (context.json) {
    printJson(options.by, report);
    return kDone;
  }
  if (report.rows.empty()) {
    printMessage("no usage was recorded");
    return kDone;
  }
  printTable(options.by, report);
  if (!report.unknownModels.empty()) {
    std::string names;
    for (const std::string& model : report.unknownModels) names += (names.empty() ? "" : ", ") + model;
    printMessage(fmt::format("the price of {} is unknown (+); --prices FILE sets it", names));
  }
  if (report.total.withoutId > 0) {
    printMessage(
        fmt::format("{} of {} answers have no id of their request; a copy of one in another file may count again",
                    grouped(report.total.withoutId), grouped(report.total.messages)));
  }
  return kDone;
}

}  // namespace

Command usageCommand() {
  auto options = std::make_shared<Options>();
  std::vector<Option> definitions = {
      {.name = "SESSION", .help = "Only this session", .target = &options->session},
      {.name = "--by",
       .help = "What each row sums up; default: day",
       .target = &options->by,
       .choices = {"day", "week", "month", "session", "key", "model", "branch"},
       .value = "WHAT"},
      {.name = "--model", .help = "Only this model", .target = &options->model, .value = "NAME"},
      pricesOption(options->prices),
      {.name = "--price-table", .help = "Print the prices in use and nothing else", .target = &options->priceTable},
      {.name = "--utc", .help = "Use days in UTC; default: local time", .target = &options->utc}};
  for (Option& each : options->filter.definitions()) definitions.push_back(std::move(each));
  definitions.push_back({.name = "--agents",
                         .help = "Sessions of other agents on this machine instead: all, or those named, with commas",
                         .target = &options->agents,
                         .value = "LIST",
                         .alone = "all"});
  return {
      .name = "usage",
      .summary = "Sum up tokens and their cost",
      .details =
          "Every answer counts once: a fork adds nothing for the history it shares. By branch, the shared part "
          "of two branches belongs to the older one. Costs come from the list prices of the providers in 2026 "
          "(docs/prices.md), or from the file that --prices or $BOUGH_PRICES names. That file has lines of "
          "`model input output cacheRead cacheWrite`, in dollars per million tokens; a * at the end of a name "
          "matches every name that begins with it, and # begins a comment. A + after a cost means that the "
          "price of a model is unknown.",
      .examples =
          "  bough usage\n"
          "  bough usage --price-table > my-prices.txt\n"
          "  bough usage --by month --prices my-prices.txt\n"
          "  bough usage SESSION --by branch",
      .options = std::move(definitions),
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
