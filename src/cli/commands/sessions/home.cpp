// `bough` without a command: where the store is, the recent sessions, what needs attention, and what to type next.

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/store.h"
#include "cli/commands/commands.h"
#include "cli/names/catalog_view.h"
#include "cli/names/listing.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/when.h"
#include "cli/repl/session_picker.h"
#include "cli/repl/start_chat.h"
#include "cli/terminal/output.h"
#include "cli/terminal/picker.h"
#include "cli/terminal/table.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"

namespace bough::cli {
namespace {

constexpr std::size_t kSessionsShown = 8;

struct Home {
  std::string location;
  bool hasStore = false;    // whether there is a store
  bool isNumbered = false;  // whether @N refers to the shown list
  std::uint64_t total = 0;
  std::vector<SessionSummary> recent;
  std::vector<SessionSummary> attention;  // missing, damaged or unfinished
};

Result<void> readHome(SessionStore& store, Catalog& catalog, bool json, Home& home) {
  BOUGH_TRY(auto total, catalog.count());
  home.total = total;
  BOUGH_TRY(auto recent, catalog.list({.filter = {}, .limit = kSessionsShown, .models = false}));
  home.recent = std::move(recent);
  for (const SessionCondition condition :
       {SessionCondition::Missing, SessionCondition::Damaged, SessionCondition::Unfinished}) {
    BOUGH_TRY(auto found, catalog.list({.filter = {.condition = condition}, .limit = kSessionsShown, .models = false}));
    std::ranges::move(found, std::back_inserter(home.attention));
  }
  if (!json) {
    titleForks(catalog, home.recent);
    titleForks(catalog, home.attention);
  }
  std::vector<std::string> shown;
  for (const SessionSummary& row : home.recent) shown.push_back(row.sessionId);
  // Numbers are a convenience: if they cannot be stored, the page is shown anyway. Programs do not see them.
  home.isNumbered = !json && rememberListing(store, shown).has_value();
  return {};
}

// Returns a session's number if it has one, because that is shorter than its id.
std::string shortName(const Home& home, const SessionSummary& row) {
  for (std::size_t i = 0; i < home.recent.size(); ++i) {
    if (home.isNumbered && home.recent[i].sessionId == row.sessionId) return fmt::format("@{}", i + 1);
  }
  return exactName(row.sessionId);
}

std::string adviceFor(const Home& home, const SessionSummary& row) {
  if (row.condition == SessionCondition::Missing)
    return fmt::format("bough doctor  {}: {}", idAndTitle(row), row.problem);
  const std::string name = shortName(home, row);
  if (row.condition == SessionCondition::Damaged) {
    return fmt::format("bough verify {}  {}", name, row.problem.empty() ? "is partly unreadable" : row.problem);
  }
  return fmt::format("bough show {} --last 3  a tool call has no result", name);
}

void printJson(const Home& home) {
  const auto rows = [](json::Writer& writer, const std::vector<SessionSummary>& sessions) {
    writer.beginArray();
    for (const SessionSummary& row : sessions) {
      writer.beginObject().member("sessionId", row.sessionId).memberOrNull("title", row.title);
      writer.memberOrNull("key", row.key);
      writer.member("lastActive", formatTimestamp(row.activeMs)).member("entries", row.entries);
      writer.member("bytes", row.bytes).member("state", toString(row.condition)).endObject();
    }
    writer.endArray();
  };
  json::Writer writer;
  writer.beginObject().member("schema", 2).member("store", home.location);
  writer.member("sessionCount", home.total).key("sessions");
  rows(writer, home.recent);
  writer.key("attention");
  rows(writer, home.attention);
  printJsonLine(writer.endObject().text());
}

void printRecent(const Home& home) {
  Table table({{.title = ""}, {.title = "session", .cuttable = true}, {.title = "active"}, {.title = "title"}});
  const std::uint64_t now = nowMs();
  const std::vector<std::string> ids = shortIds(home.recent);
  for (std::size_t i = 0; i < home.recent.size(); ++i) {
    const SessionSummary& row = home.recent[i];
    table.add({fmt::format("@{}", i + 1), ids[i], formatAge(row.activeMs, now), displayTitle(row)});
  }
  table.print();
}

void printForPeople(const Home& home) {
  printWrapped("bough keeps the conversations of AI agents: durable, branching, portable.\n");
  printWrapped(fmt::format("Store: {}  ({})", text::printable(home.location),
                           home.hasStore ? counted(home.total, "session") : "not created yet"));
  if (!home.recent.empty()) {
    printLine("");
    printRecent(home);
  }
  if (!home.attention.empty()) {
    printLine("\nNeeds attention");
    for (const SessionSummary& row : home.attention) {
      printWrapped("  " + text::printable(adviceFor(home, row)), 4);
    }
  }
  printLine("\nNext");
  if (home.recent.empty()) {
    constexpr std::size_t kHang = 35;
    printWrapped("  bough chat                       talk; without a key the built-in model answers", kHang);
    printWrapped("  bough new --title \"My session\"   make a session of your own", kHang);
    printWrapped("  bough help                       all commands", kHang);
  } else {
    constexpr std::size_t kHang = 23;
    printWrapped("  bough show @1        read the most recent session", kHang);
    printWrapped("  bough search WORDS   find what was said", kHang);
    printWrapped("  bough chat           talk; `bough help` lists all commands", kHang);
  }
}

}  // namespace

Result<ExitCode> showHome(const Context& context) {
  Home home{.location = shownLocation(context.resolvedLocation()), .recent = {}, .attention = {}};
  auto view = openCatalogView(context);
  if (view) {
    home.hasStore = true;
    BOUGH_TRY(readHome(*view->store, *view->catalog, context.json, home));
    if (!context.json && !home.recent.empty() && canPick()) {
      BOUGH_TRY(const auto chosen, pickSession(*view->store, *view->catalog, ""));
      if (!chosen) return kDone;
      view = std::unexpected(Error{});  // the chat opens the store itself
      return startChat(context, {.choice = {.session = *chosen}});
    }
  } else if (view.error().code != ErrorCode::NotFound) {
    return std::unexpected(view.error());
  }
  context.json ? printJson(home) : printForPeople(home);
  return kDone;
}

}  // namespace bough::cli
