#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/names/agents_view.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/price_file.h"
#include "cli/views/usage_view.h"

namespace bough::cli::usage_command {
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
  bool breakdown = false;
  std::string order;
  std::string watch;
};

constexpr std::pair<const char*, UsageBy> kGroupings[] = {
    {"day", UsageBy::Day},         {"week", UsageBy::Week},   {"month", UsageBy::Month},
    {"session", UsageBy::Session}, {"key", UsageBy::Key},     {"model", UsageBy::Model},
    {"branch", UsageBy::Branch},   {"block", UsageBy::Block}, {"folder", UsageBy::Folder}};

// Prints prices in the form that --prices reads.
ExitCode printPrices(const PriceTable& table, bool json) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).key("prices").beginArray();
  if (!json) printLine("# dollars per million tokens\n# model  input  output  cacheRead  cacheWrite");
  for (const ModelPrice& each : table.prices()) {
    if (!json) {
      printLine(
          fmt::format("{}  {}  {}  {}  {}", each.model, each.input, each.output, each.cacheRead, each.cacheWrite));
    }
    writer.beginObject().member("model", each.model).key("input").raw(fmt::format("{}", each.input));
    writer.key("output").raw(fmt::format("{}", each.output)).key("cacheRead").raw(fmt::format("{}", each.cacheRead));
    writer.key("cacheWrite").raw(fmt::format("{}", each.cacheWrite)).endObject();
  }
  if (json) printJsonLine(writer.endArray().endObject().text());
  return kDone;
}

void orderRows(std::vector<UsageRow>& rows, const std::string& order) {
  if (order == "asc") std::ranges::stable_sort(rows, {}, &UsageRow::name);
  if (order == "desc") std::ranges::stable_sort(rows, std::ranges::greater(), &UsageRow::name);
  if (order == "cost") std::ranges::stable_sort(rows, std::ranges::greater(), &UsageRow::costUsd);
  if (order == "tokens") {
    std::ranges::stable_sort(rows, std::ranges::greater(), [](const UsageRow& row) { return totalTokens(row.tokens); });
  }
}

void print(const UsageReport& report, const Context& context, const Options& options) {
  if (context.json) return printUsageJson(report, options.by);
  std::string unknown =
      report.unknownModels.empty()
          ? ""
          : fmt::format("the price of {} is unknown (+); --prices FILE sets it", fmt::join(report.unknownModels, ", "));
  if (const std::uint64_t without = report.total.withoutUsage; without > 0) {
    unknown += fmt::format("{}{} of {}: the provider did not say what {} used, so the sums do not include that (+)",
                           unknown.empty() ? "" : "\n", without, counted(report.total.messages, "answer"),
                           without == 1 ? "it" : "they");
  }
  std::size_t height = 0;
  if (!options.watch.empty() && stdoutIsTerminal()) {
    const std::string lines = wrappedText(unknown, terminalWidth());
    const auto below = static_cast<std::size_t>(std::ranges::count(lines, '\n')) + (unknown.empty() ? 0 : 1);
    height = std::max<std::size_t>(Screen::size().height, below + 8) - below;
  }
  printUsageTable(report, {.by = options.by, .breakdown = options.breakdown, .height = height});
  if (!unknown.empty()) printMessage(unknown);
}

// Sums up usage directly from the agents' files when much is missing in the list of the agents' sessions. Returns
// std::nullopt when that is not possible or not needed.
Result<std::optional<UsageReport>> scanUsage(const Options& options, const SessionFilter& filter, UsageOptions wanted) {
  constexpr std::uint64_t kMuch = std::uint64_t{16} << 20;
  const bool isByTime = wanted.by == UsageBy::Day || wanted.by == UsageBy::Week || wanted.by == UsageBy::Month;
  const bool isPlain = options.session.empty() && filter.agent.empty() && filter.key.empty() && filter.cwd.empty();
  if (options.agents.empty() || !isPlain || (!isByTime && wanted.by != UsageBy::Model)) return std::nullopt;
  BOUGH_TRY(const auto agents, parseAgents(options.agents));
  BOUGH_TRY(const bool isMuch, hasBacklog(options.agents, kMuch));
  if (!isMuch) return std::nullopt;
  TranscriptWalk walked;
  auto scanned = scanTranscriptUsage([&](const auto& use) -> Result<void> {
    BOUGH_TRY(walked, eachTranscript(transcriptHome(), agents, use));
    return {};
  });
  if (!scanned && scanned.error().code == ErrorCode::Unsupported) return std::nullopt;
  if (!scanned) return std::unexpected(scanned.error());
  reportUnreadableFolders(walked);
  if (scanned->unreadable > 0) {
    printMessage(fmt::format("note: {} not be read and {} not counted: {}",
                             counted(scanned->unreadable, "place could", "places could"),
                             scanned->unreadable == 1 ? "is" : "are", text::excerpt(scanned->example, 160)));
  }
  return sumUsage(std::move(scanned->answers), wanted);
}

// The session argument may be the name of a folder. A name that could be both means the session, unless it is only the
// last one or two characters of some id.
Result<Options> withFolder(const Context& context, Options options) {
  const std::string& name = options.session;
  if (name.empty() || !isFolderName(name)) return options;
  const bool isPath = name.find('/') != std::string::npos || name == "." || name == "..";
  if (!isPath) {
    const auto view = openCatalogViewOf(context, name);
    if (view && (name.size() > 2 || view->sessionId.starts_with(name))) return options;
  }
  options.filter.folder = std::exchange(options.session, {});
  return options;
}

// Gives sessions without a title the title that lists show.
void titleSessions(Catalog& catalog, std::vector<UsageRow>& rows) {
  std::size_t most = 1'000;  // the limit for questions to the catalog
  for (UsageRow& row : rows) {
    if (!row.title.empty()) continue;
    if (most-- == 0) return;
    auto listed = catalog.list({.filter = {.session = row.name}, .limit = 1, .models = false});
    if (!listed || listed->empty()) continue;
    titleForks(catalog, *listed);
    row.title = displayTitle(listed->front());
  }
}

enum class DamageNotes : std::uint8_t { Print, Omit };

Result<UsageReport> readUsage(const Context& context, const Options& options, const PriceTable& prices,
                              DamageNotes damageNotes = DamageNotes::Print) {
  if (options.by == "branch" && options.session.empty()) {
    return fail(ErrorCode::InvalidArgument, "branches are those of one session",
                "name it: bough usage SESSION --by branch");
  }
  BOUGH_TRY(auto filter, options.filter.filter(options.utc ? Zone::Utc : Zone::Local));
  UsageOptions scanned{.sinceMs = filter.sinceMs,
                       .untilMs = filter.untilMs,
                       .model = options.model,
                       .localTime = !options.utc,
                       .prices = &prices};
  for (const auto& [name, by] : kGroupings) {
    if (options.by == name) scanned.by = by;
  }
  BOUGH_TRY(auto fromFiles, scanUsage(options, filter, scanned));
  if (fromFiles) {
    orderRows(fromFiles->rows, options.order);
    return std::move(*fromFiles);
  }
  if (!options.agents.empty()) {
    BOUGH_TRY(filter.writtenBy, parseAgents(options.agents));
  }
  BOUGH_TRY(auto view, !options.session.empty() ? openCatalogViewOf(context, options.session)
                       : options.agents.empty() ? openCatalogView(context)
                                                : openAgentsView(options.agents));
  UsageOptions wanted{.sinceMs = filter.sinceMs,
                      .untilMs = filter.untilMs,
                      .agent = filter.agent,
                      .cwd = filter.cwd,
                      .key = filter.key,
                      .model = options.model,
                      .writtenBy = filter.writtenBy,
                      .localTime = !options.utc,
                      .prices = &prices};
  for (const auto& [name, by] : kGroupings) {
    if (options.by == name) wanted.by = by;
  }
  wanted.session = view.sessionId;
  if (damageNotes == DamageNotes::Print) {
    BOUGH_TRY(reportDamagedSessions(context, *view.catalog,
                                    {.agent = wanted.agent,
                                     .key = wanted.key,
                                     .cwd = wanted.cwd,
                                     .session = wanted.session,
                                     .writtenBy = wanted.writtenBy}));
  }
  BOUGH_TRY(auto report, view.catalog->usage(wanted));
  orderRows(report.rows, options.order);
  if (options.by == "session" && !context.json) titleSessions(*view.catalog, report.rows);
  return report;
}

// Says whether nothing was used at all, or only nothing that matches the options.
Result<void> tellOfNothing(const Context& context, const Options& options, const PriceTable& prices) {
  Options others = options;
  others.by = "model";
  others.model.clear();
  const bool isOfModel = !options.model.empty() && options.agents.empty();
  if (options.model.empty() && options.filter.isEmpty()) {
    printMessage("no usage was recorded");
    return {};
  }
  BOUGH_TRY(const auto report,
            isOfModel ? readUsage(context, others, prices, DamageNotes::Omit) : Result<UsageReport>());
  std::vector<std::string> names;
  for (const UsageRow& row : report.rows) names.push_back(row.name);
  if (names.empty()) {
    printMessage("no usage matches these options");
    return {};
  }
  const std::string meant = nearest(options.model, names);
  printMessage(fmt::format("no usage of the model {}; {}", text::excerpt(options.model, 60),
                           meant.empty() ? fmt::format("the models are {}", fmt::join(names, ", "))
                                         : fmt::format("did you mean {}?", meant)));
  return {};
}

Result<ExitCode> run(const Context& context, const Options& given) {
  BOUGH_TRY(const auto options, withFolder(context, given));
  BOUGH_TRY(const auto prices, readPrices(options.prices));
  if (options.priceTable) return printPrices(prices, context.json);
  std::uint64_t pauseMs = 0;
  if (!options.watch.empty()) {
    const auto [end, problem] =
        std::from_chars(options.watch.data(), options.watch.data() + options.watch.size(), pauseMs);
    if (problem != std::errc() || end != options.watch.data() + options.watch.size() || pauseMs == 0 ||
        pauseMs > 86'400) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("\"{}\" is not a number of seconds", text::excerpt(options.watch, 40)),
                  "write --watch=5, or --watch alone for every 2 seconds");
    }
    pauseMs *= 1000;
  }
  for (;;) {
    BOUGH_TRY(const auto report, readUsage(context, options, prices));
    const bool isRepeated = pauseMs > 0 && stdoutIsTerminal() && !context.json;
    if (isRepeated) printText("\x1b[H\x1b[2J");
    if (report.rows.empty() && !context.json) {
      BOUGH_TRY(tellOfNothing(context, options, prices));
    } else {
      print(report, context, options);
    }
    if (isRepeated) printWrapped(styled(Style::Dim, fmt::format("every {} s; Ctrl-C ends", pauseMs / 1000)));
    if (pauseMs == 0 || outputClosed()) return kDone;
    std::this_thread::sleep_for(std::chrono::milliseconds(pauseMs));
  }
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  std::vector<Option> definitions = {
      {.name = "SESSION", .help = "Only this session, or the sessions of this folder", .target = &options->session},
      {.name = "--by",
       .help = "What each row sums up; default: day",
       .target = &options->by,
       .choices = {"day", "week", "month", "block", "session", "key", "folder", "model", "branch"},
       .value = "WHAT"},
      {.name = "--order",
       .help = "The order of the rows; default: asc for rows by time, otherwise cost",
       .target = &options->order,
       .choices = {"asc", "desc", "cost", "tokens"},
       .value = "ORDER"},
      {.name = "--breakdown", .help = "Show each model on a line of its own", .target = &options->breakdown},
      {.name = "--watch",
       .help = "Refresh every N seconds until Ctrl-C; without N: every 2",
       .target = &options->watch,
       .value = "N",
       .valueWhenBare = "2"},
      {.name = "--model", .help = "Only this model", .target = &options->model, .value = "NAME"},
      pricesOption(options->prices),
      {.name = "--price-table",
       .help = "Print the prices in use and nothing else",
       .target = &options->priceTable,
       .conflictsWith = {"SESSION", "--by", "--watch", "--breakdown"}},
      {.name = "--utc",
       .help = "Use days in UTC, also in --since and --until; default: local time",
       .target = &options->utc}};
  for (Option& each : options->filter.definitions()) definitions.push_back(std::move(each));
  definitions.push_back(
      {.name = "--agents",
       .help = "Sum up sessions of other agents on this machine instead: all, or names separated by commas",
       .target = &options->agents,
       .value = "LIST",
       .valueWhenBare = "all"});
  return {
      .name = "usage",
      .summary = "Sum up tokens and their cost",
      .details =
          "Every answer counts once: a fork adds nothing for the history it shares. By branch, the shared part "
          "of two branches belongs to the older one. A block is five hours long, as in the limits of providers. The "
          "first answer after the end of a block starts the next block, at the full hour. On a terminal, bars show "
          "what each "
          "row cost. Costs come from the list prices of the providers in 2026 "
          "(docs/prices.md), or from the file that --prices or $BOUGH_PRICES names. That file has lines of "
          "`model input output cacheRead cacheWrite`, in dollars per million tokens; a * at the end of a name "
          "matches every name that begins with it, and # begins a comment. A + after a cost means that the "
          "price of a model is unknown.",
      .examples =
          "  bough usage\n"
          "  bough usage --by block --breakdown\n"
          "  bough usage --since 7d --order desc --watch\n"
          "  bough usage --price-table > my-prices.txt\n"
          "  bough usage --by month --prices my-prices.txt\n"
          "  bough usage SESSION --by branch\n"
          "  bough usage . --by model",
      .options = std::move(definitions),
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::usage_command
