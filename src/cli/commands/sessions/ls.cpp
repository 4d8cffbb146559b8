#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/json/json_write.h"
#include "base/model/usage_counts.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/store.h"
#include "bough/torn.h"
#include "bough/transcript.h"
#include "cli/commands/commands.h"
#include "cli/names/agents_view.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"
#include "cli/names/listing.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/views/entry_view.h"
#include "cli/views/next_turn.h"
#include "cli/views/price_file.h"
#include "cli/views/usage_view.h"

namespace bough::cli::ls_command {
namespace {

struct Options {
  std::string agents;
  FilterOptions filter;
  std::string title;
  std::string state;
  std::uint64_t limit = 50;
  bool all = false;
  bool longForm = false;
  std::string sort = "active";
  bool reverse = false;
  std::string prices;
};

// Returns the agent to which a session belongs, not the agent's subagent that wrote it. If a session is in files of
// several agents, returns those that were asked for.
std::string agentOf(const SessionSummary& row, const std::vector<std::string>& wanted) {
  std::string named;
  for (std::string_view rest = row.writtenBy; !rest.empty();) {
    const std::string_view agent = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(agent.size() + 1, rest.size()));
    if (!wanted.empty() && std::ranges::find(wanted, agent) == wanted.end()) continue;
    named += (named.empty() ? "" : ", ") + std::string(agent);
  }
  return named;
}

struct Cost {
  double usd = 0;
  bool known = true;
};

Cost costOf(const SessionSummary& row) {
  Cost sum;
  for (const ModelUsage& each : row.models) {
    sum.usd += each.costUsd.value_or(0);
    sum.known = sum.known && each.costUsd.has_value();
  }
  return sum;
}

// Missing figures mean unknown usage, not zero.
bool hasFigures(const SessionSummary& row) {
  return !isUsageUnknown(row.tokens);
}

void writeModels(json::Writer& writer, const SessionSummary& row) {
  const Cost sum = costOf(row);
  writer.key("costUsd").raw(!hasFigures(row) ? "null" : fmt::format("{:.6f}", sum.usd));
  writer.member("costKnown", sum.known).key("models").beginArray();
  for (const ModelUsage& each : row.models) {
    writer.beginObject().member("model", each.model).member("messages", each.messages);
    writeAllTokens(writer, each.tokens);
    writer.key("costUsd").raw(each.costUsd ? fmt::format("{:.6f}", *each.costUsd) : "null").endObject();
  }
  writer.endArray();
}

// Returns true when the session's folder no longer exists.
bool isFolderGone(const SessionSummary& row) {
  std::error_code error;
  return row.cwd.starts_with('/') && !std::filesystem::is_directory(row.cwd, error) &&
         (!error || error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory);
}

// Returns what the agent's own list says about an imported session: a JSON object, or an empty string.
std::string metadataOf(SessionStore& store, const std::string& sessionId) {
  constexpr std::size_t kMostFacts = 1'000;
  auto facts = store.loadSessionEntries(sessionId, {.last = kMostFacts, .type = std::string(entry_type::kSessionInfo)});
  if (!facts) return {};
  std::erase_if(*facts, [](const Entry& entry) { return !entry.id.starts_with("facts:"); });
  return facts->empty() ? "" : importedFacts(*facts).metadata;
}

// Facts that are read from the session itself, not from its row.
struct SessionDetails {
  std::string metadata{};
  std::optional<NextTurn> next{};
};

void writeUsd(json::Writer& writer, std::string_view name, std::optional<double> usd) {
  writer.key(name).raw(usd ? fmt::format("{:.6f}", *usd) : "null");
}

void writeNextTurn(json::Writer& writer, const std::optional<NextTurn>& next) {
  writer.key("nextTurn");
  if (!next) {
    writer.null();
    return;
  }
  writer.beginObject().member("contextTokens", next->contextTokens).memberOrNull("model", next->model);
  writer.member("isWarm", next->warm);
  writeUsd(writer, "warmUsd", next->warmUsd);
  writeUsd(writer, "coldUsd", next->coldUsd);
  writer.endObject();
}

void writeRow(json::Writer& writer, const SessionSummary& row, const SessionDetails& details, bool longForm) {
  writer.beginObject().member("sessionId", row.sessionId).memberOrNull("key", row.key).memberOrNull("agent", row.agent);
  writer.memberOrNull("cwd", row.cwd).memberOrNull("title", row.title).member("titleSource", toString(row.titleSource));
  writer.member("created", formatTimestamp(row.createdMs)).member("lastActive", formatTimestamp(row.activeMs));
  writer.member("durationMs", row.durationMs).key("messages").beginObject();
  writer.member("user", row.userMessages).member("assistant", row.assistantMessages);
  writer.member("tool", row.toolMessages).member("system", row.systemMessages).endObject();
  writer.member("toolCalls", row.toolCalls).member("toolFailures", row.toolFailures).key("tokens");
  if (!hasFigures(row)) {
    writer.null();
  } else {
    writer.beginObject();
    writeAllTokens(writer, row.tokens);
    writer.endObject();
  }
  writeModels(writer, row);
  writer.member("entries", row.entries).member("branches", row.branches).member("bytes", row.bytes);
  writer.member("state", toString(row.condition)).member("pinned", row.pinned).key("timeToLiveMs");
  row.timeToLiveMs ? writer.number(*row.timeToLiveMs) : writer.null();
  writer.memberOrNull("problem", row.problem).key("origin");
  if (row.origin) {
    writer.beginObject().member("sessionId", row.origin->sessionId).member("entryId", row.origin->entryId).endObject();
  } else {
    writer.null();
  }
  writer.member("cwdMissing", isFolderGone(row));
  if (longForm) writeNextTurn(writer, details.next);
  if (!details.metadata.empty()) writer.key("metadata").raw(details.metadata);
  writer.endObject();
}

SessionDetails readDetails(SessionStore& store, const SessionSummary& row, const PriceTable& prices,
                           std::uint64_t now) {
  SessionDetails details{.metadata = metadataOf(store, row.sessionId), .next = {}};
  if (!row.models.empty() || row.origin) details.next = nextTurnOf(store, row.sessionId, row.headId, prices, now);
  return details;
}

// Reads the first rows only: reading very many takes too long.
std::vector<SessionDetails> readDetails(SessionStore& store, const std::vector<SessionSummary>& rows,
                                        const Options& options, const PriceTable& prices) {
  constexpr std::size_t kMost = 1'000;
  std::vector<SessionDetails> found(rows.size());
  const std::uint64_t now = nowMs();
  for (std::size_t i = 0; options.longForm && i < std::min(rows.size(), kMost); ++i) {
    if (options.agents.empty()) {
      found[i] = readDetails(store, rows[i], prices, now);
    } else if (const auto session = openListedSession(rows[i].sessionId)) {
      found[i] = readDetails(*session->store, rows[i], prices, now);
    } else {
      printMessage(fmt::format("note: session {} could not be read: {}", idAndTitle(rows[i]),
                               text::printable(session.error().message)));
    }
  }
  return found;
}

void printJson(const std::string& location, std::uint64_t total, const std::vector<SessionSummary>& rows,
               const std::vector<SessionDetails>& details, bool longForm) {
  json::Writer writer;
  writer.beginObject().member("schema", 2).memberOrNull("store", location).member("sessionCount", total);
  writer.key("sessions").beginArray();
  for (std::size_t i = 0; i < rows.size(); ++i) writeRow(writer, rows[i], details[i], longForm);
  printJsonLine(writer.endArray().endObject().text());
}

// Returns what a fork has lost with a session that it continues, directly or indirectly. Reads a log only when that
// session is damaged.
std::string lostOrigin(Catalog& catalog, SessionStore& store, const SessionSummary& fork) {
  std::set<std::string> seen{fork.sessionId};
  for (auto origin = fork.origin; origin && seen.insert(origin->sessionId).second;) {
    const auto stamp = store.sessionStamp(origin->sessionId);
    if (!stamp && stamp.error().code == ErrorCode::NotFound) {
      return fmt::format("it continues session {}, which is not in the store", origin->sessionId);
    }
    const auto row = catalog.session(origin->sessionId);
    if (!row) return {};
    if (row->condition == SessionCondition::Damaged) {
      const auto state = store.sessionState(fork.sessionId);
      const auto lost = state ? lostHistoryOf(store, *state) : std::nullopt;
      if (lost) return "it continues " + lost->what;
    }
    origin = row->origin;
  }
  return {};
}

void nameLostOrigin(Catalog& catalog, SessionStore& store, SessionSummary& row) {
  if (!row.origin || row.condition == SessionCondition::Missing) return;
  const std::string lost = lostOrigin(catalog, store, row);
  if (lost.empty()) return;
  row.condition = SessionCondition::Damaged;
  row.problem += (row.problem.empty() ? "" : "; ") + lost;
}

// Names sessions with damage or with bytes that were set aside, each time: the user has to decide about them.
bool reportDamagedRows(SessionStore& store, std::vector<SessionSummary>& rows) {
  for (SessionSummary& row : rows) {
    if (row.condition == SessionCondition::Missing) {
      printMessage(fmt::format("session {}: {}; `bough doctor` says more", idAndTitle(row), row.problem));
    } else if (!row.problem.empty()) {
      printMessage(fmt::format("session {}: {}; `bough verify {}` says more", idAndTitle(row),
                               text::printable(row.problem), exactName(row.sessionId)));
    }
    const std::uint64_t bytes = tornBytes(store, row.sessionId);
    if (bytes == 0) continue;
    row.condition = SessionCondition::Damaged;
    row.problem += fmt::format("{}{} set aside; `bough torn {}` lists them", row.problem.empty() ? "" : "; ",
                               counted(bytes, "byte was", "bytes were"), row.sessionId);
    printMessage(fmt::format("part of session {} was set aside as torn; `bough torn {}` lists it", idAndTitle(row),
                             exactName(row.sessionId)));
  }
  return std::ranges::any_of(rows, [](const SessionSummary& row) { return !row.problem.empty(); });
}

std::uint64_t messagesOf(const SessionSummary& row) {
  return row.userMessages + row.assistantMessages + row.toolMessages + row.systemMessages;
}

// For a fork, counts only the messages added to the shared history, which belongs to another session.
std::string messagesText(const SessionSummary& row) {
  return fmt::format("{}{}", row.origin ? "+" : "", messagesOf(row));
}

std::string stateText(const SessionSummary& row, bool looksAtFolder) {
  return fmt::format("{}{}{}", toString(row.condition), row.pinned ? ", pinned" : "",
                     looksAtFolder && isFolderGone(row) ? ", folder gone" : "");
}

void printTable(Catalog& catalog, const std::vector<SessionSummary>& rows, const std::vector<SessionDetails>& details,
                const Options& options) {
  const bool longForm = options.longForm;
  const bool isOfAgents = !options.agents.empty();
  // Sessions of other agents are named by the beginning of their id.
  const auto paintWhole = [](const std::string& id) { return styled(Style::Bold, id); };
  using enum Table::Align;
  std::vector<Table::Column> columns = {
      {.title = ""},
      {.title = "session", .cuttable = true, .paint = isOfAgents ? paintWhole : sessionIdPainter(catalog)},
      {.title = "active"},
      {.title = "messages", .align = Right, .spare = 5},
      {.title = "size", .align = Right, .spare = 6},
      {.title = "state", .spare = isOfAgents ? 2 : 1},
      {.title = "title"}};
  if (longForm) {
    columns.insert(columns.begin() + 4, {{.title = "branches", .align = Right, .spare = 8},
                                         {.title = "tokens", .align = Right, .spare = 3},
                                         {.title = "cost", .align = Right},
                                         {.title = "context", .align = Right, .spare = 2},
                                         {.title = "next turn", .align = Right, .spare = 2},
                                         {.title = "otherwise", .align = Right, .spare = 4},
                                         {.title = "models", .spare = 7}});
  }
  if (isOfAgents) {
    columns.insert(columns.end() - 1,
                   {{.title = "agent", .spare = 1}, {.title = "project", .spare = 2, .cuttable = true}});
    if (!longForm) columns.insert(columns.begin() + 4, Table::Column{.title = "tokens", .align = Right, .spare = 3});
  }
  // Its own column, before the cost of the next turn: as part of the state it would push that cost out.
  const bool hasGone = longForm && !isOfAgents && std::ranges::any_of(rows, isFolderGone);
  if (hasGone) columns.insert(columns.end() - 1, Table::Column{.title = "folder", .spare = 3});
  const bool hasMetadata =
      std::ranges::any_of(details, [](const SessionDetails& each) { return !each.metadata.empty(); });
  if (hasMetadata) columns.insert(columns.end() - 1, Table::Column{.title = "metadata", .spare = 8, .cuttable = true});
  Table table(std::move(columns));
  const std::uint64_t now = nowMs();
  const std::vector<std::string> ids = shortIds(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SessionSummary& row = rows[i];
    std::vector<std::string> cells = {fmt::format("@{}", i + 1),
                                      ids[i],
                                      formatAge(row.activeMs, now),
                                      messagesText(row),
                                      formatBytes(row.bytes),
                                      stateText(row, isOfAgents),
                                      displayTitle(row)};
    const std::string tokens = hasFigures(row) ? grouped(totalTokens(row.tokens)) : "-";
    if (isOfAgents) cells.insert(cells.end() - 1, {row.agent, row.cwd});
    if (isOfAgents && !longForm) cells.insert(cells.begin() + 4, tokens);
    if (longForm) {
      const Cost cost = costOf(row);
      const auto& next = details[i].next;
      std::string models;
      for (const ModelUsage& each : row.models) models += (models.empty() ? "" : ", ") + each.model;
      cells.insert(cells.begin() + 4,
                   {fmt::format("{}", row.branches), tokens, hasFigures(row) ? formatCost(cost.usd, cost.known) : "-",
                    next ? thousands(next->contextTokens) : "-", next ? nextTurnPrice(*next, next->warm) : "-",
                    next ? nextTurnPrice(*next, !next->warm) : "-", row.models.empty() ? "-" : models});
    }
    if (hasGone) cells.insert(cells.end() - 1, isFolderGone(row) ? "gone" : "-");
    if (hasMetadata) cells.insert(cells.end() - 1, details[i].metadata.empty() ? "-" : details[i].metadata);
    table.add(std::move(cells));
  }
  table.print();
}

constexpr std::array<std::pair<std::string_view, ListOrder>, 8> kOrders = {{{"active", ListOrder::Active},
                                                                            {"created", ListOrder::Created},
                                                                            {"title", ListOrder::Title},
                                                                            {"messages", ListOrder::Messages},
                                                                            {"size", ListOrder::Size},
                                                                            {"branches", ListOrder::Branches},
                                                                            {"tokens", ListOrder::Tokens},
                                                                            {"cost", ListOrder::Cost}}};

ListOrder orderOf(std::string_view name) {
  const auto found = std::ranges::find(kOrders, name, &std::pair<std::string_view, ListOrder>::first);
  return found == kOrders.end() ? ListOrder::Active : found->second;
}

std::vector<std::string> orderNames() {
  std::vector<std::string> names;
  for (const auto& [name, order] : kOrders) names.emplace_back(name);
  return names;
}

// Makes @N refer to the list shown to a person. An empty list changes nothing.
void remember(const Context& context, SessionStore& store, const std::vector<SessionSummary>& rows, bool isOfAgents) {
  constexpr std::size_t kMost = 1000;
  std::vector<std::string> shown;
  for (const SessionSummary& row : rows) {
    if (shown.size() < kMost) shown.push_back(row.sessionId);
  }
  if (shown.empty() || context.json) return;
  const auto kept = isOfAgents ? rememberAgents(context, shown) : rememberListing(store, shown);
  if (!kept) {
    printMessage(fmt::format("note: @N does not name the sessions of this list: {}", kept.error().message));
  }
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto filter, options.filter.filter());
  filter.title = options.title;
  for (const SessionCondition each : {SessionCondition::Live, SessionCondition::Archived, SessionCondition::Unfinished,
                                      SessionCondition::Damaged, SessionCondition::Missing}) {
    if (options.state == toString(each)) filter.condition = each;
  }
  // Compute costs only where they are shown; most lists show none.
  const bool models = context.json || options.longForm || options.sort == "cost" || !options.agents.empty();
  if (!models && !options.prices.empty()) {
    return fail(ErrorCode::InvalidArgument, "--prices needs a list with costs",
                "add --long, --sort cost, --agents or --json");
  }
  BOUGH_TRY(auto prices, models ? readPrices(options.prices) : Result<PriceTable>());
  const bool isOfAgents = !options.agents.empty();
  if (isOfAgents) {
    BOUGH_TRY(filter.writtenBy, parseAgents(options.agents));
  }
  // One row more than is shown tells whether there are more; counting all would take longer than the list.
  constexpr std::uint64_t kMost = 1'000'000'000;
  const std::size_t limit = options.all ? kMost : std::min(options.limit, kMost);
  const catalog::NewestRows newest{.filter = filter, .limit = limit + 1};
  // JSON output contains the total number.
  const bool isOfNewest = options.sort == "active" && !options.reverse && !options.all && !context.json;
  BOUGH_TRY(auto view,
            isOfAgents ? openAgentsView(options.agents, isOfNewest ? &newest : nullptr) : openCatalogView(context));
  BOUGH_TRY(auto rows, view.catalog->list({.filter = filter,
                                           .limit = limit + 1,
                                           .order = orderOf(options.sort),
                                           .reverse = options.reverse,
                                           .models = models,
                                           .prices = &prices}));
  for (SessionSummary& row : rows) row.agent = isOfAgents ? agentOf(row, filter.writtenBy) : row.agent;
  const bool more = rows.size() > limit;
  if (more) rows.resize(limit);
  remember(context, *view.store, rows, isOfAgents);
  // The session that another agent's session continues may be in a file that was not read.
  for (SessionSummary& row : rows) {
    if (!isOfAgents) nameLostOrigin(*view.catalog, *view.store, row);
  }
  if (!context.json) titleForks(*view.catalog, rows);
  const bool damaged = reportDamagedRows(*view.store, rows);
  const ExitCode code = damaged && context.strict ? kProblem : kDone;
  if (context.json) {
    BOUGH_TRY(auto total, view.catalog->count(filter));
    const std::string location = isOfAgents ? view.store->folder() : context.resolvedLocation();
    printJson(shownLocation(location), total, rows, readDetails(*view.store, rows, options, prices), options.longForm);
    return code;
  }
  if (rows.empty()) {
    BOUGH_TRY(auto any, view.catalog->count());
    if (any == 0) {
      BOUGH_TRY(const auto stored, view.store->listSessions());  // an outdated catalog may know none of them
      printMessage(isOfAgents ? "no sessions of other agents are on this machine"
                   : stored.empty()
                       ? "no sessions yet; `bough new` makes one"
                       : fmt::format("the catalog knows none of the store's {} yet; `bough show ID` reads one",
                                     counted(stored.size(), "session")));
    } else {
      printMessage(fmt::format("no sessions match; `bough ls{}` lists all of them", isOfAgents ? " --agents" : ""));
    }
    return code;
  }
  printTable(*view.catalog, rows, readDetails(*view.store, rows, options, prices), options);
  if (more)
    printMessage(fmt::format("showing the first {}; --all shows every session, --limit N another number", limit));
  return code;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  std::vector<Option> definitions{options->filter.folderArgument()};
  for (Option& each : options->filter.definitions()) definitions.push_back(std::move(each));
  definitions.push_back({.name = "--title",
                         .help = "Only sessions with this in their title",
                         .target = &options->title,
                         .value = "TEXT"});
  definitions.push_back({.name = "--state",
                         .help = "Only sessions in this state",
                         .target = &options->state,
                         .choices = {"live", "archived", "unfinished", "damaged", "missing"},
                         .value = "STATE"});
  definitions.push_back(
      {.name = "-n,--limit", .help = "Show at most N sessions; default: 50", .target = &options->limit, .value = "N"});
  definitions.push_back(
      {.name = "--all", .help = "Show all sessions", .target = &options->all, .conflictsWith = {"--limit"}});
  definitions.push_back({.name = "--sort",
                         .help = "What to sort by; default: active",
                         .target = &options->sort,
                         .choices = orderNames(),
                         .value = "BY"});
  definitions.push_back({.name = "--reverse", .help = "Reverse the order", .target = &options->reverse});
  definitions.push_back(
      {.name = "-l,--long",
       .help =
           "Also show branches, tokens, cost, what the next turn will cost, models, and what an agent's own list says",
       .target = &options->longForm});
  definitions.push_back(
      {.name = "--agents",
       .help = "Show sessions of other agents on this machine instead: all, or names separated by commas",
       .target = &options->agents,
       .value = "LIST",
       .valueWhenBare = "all"});
  definitions.push_back(pricesOption(options->prices));
  return {
      .name = "ls",
      .summary = "List sessions, most recent first",
      .details =
          "Each line begins with a number: @1 names the first session of the last list wherever a command takes "
          "a session. A session is unfinished when its last message is a tool call without a result. For a fork, +3 "
          "means 3 messages added to the history that the fork shares.",
      .examples =
          "  bough ls\n"
          "  bough ls . --since 7d --long\n"
          "  bough ls --sort cost --long\n"
          "  bough ls --state unfinished --json",
      .options = std::move(definitions),
      .run = [options](const Context& context) { return run(context, *options); },
      .aliases = {"list"},
  };
}

}  // namespace bough::cli::ls_command
