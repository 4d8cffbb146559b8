// `bough` alone: where the store is, what is in it, and what to type next.

#include <fmt/format.h>

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace bough::cli {
namespace {

constexpr std::size_t kShown = 10;

struct Row {
  std::string id;
  std::string title;
  SessionState state;
  std::optional<Error> error;
};

std::string titleOf(SessionStore& store, const std::string& id) {
  auto info = store.loadSessionEntries(id, {.last = 1, .type = std::string(entry_type::kSessionInfo)});
  if (info && !info->empty()) {
    if (auto title = json::findString(info->back().payload, "title")) return *title;
  }
  auto header = store.loadSessionEntries(id, {.limit = 1});
  return header && !header->empty() ? json::findString(header->front().payload, "key").value_or("") : "";
}

// The sessions made last. Ids that bough makes are ordered by time.
std::vector<Row> newestRows(SessionStore& store, std::vector<std::string> ids) {
  std::ranges::reverse(ids);
  ids.resize(std::min(ids.size(), kShown));
  std::vector<Row> rows;
  for (std::string& id : ids) {
    Row row{.id = std::move(id), .title = {}, .state = {}, .error = {}};
    auto state = store.sessionState(row.id);
    if (state) {
      row.state = std::move(*state);
      row.title = titleOf(store, row.id);
    } else {
      row.error = state.error();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void printJson(const std::string& location, std::size_t total, const std::vector<Row>& rows) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("store", location);
  writer.member("sessionCount", std::uint64_t{total}).key("sessions").beginArray();
  for (const Row& row : rows) {
    writer.beginObject().member("sessionId", row.id);
    if (row.error) {
      writer.member("error", row.error->message);
    } else {
      writer.member("title", row.title).member("entries", row.state.entryCount).member("bytes", row.state.bytes);
      writer.member("headId", row.state.headId).member("tailId", row.state.tailId);
      writer.member("archived", row.state.archived).member("problemCount", row.state.problemCount);
    }
    writer.endObject();
  }
  writer.endArray().endObject();
  printLine(out);
}

void printRows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.error) {
      printLine(fmt::format("  {:<36}  cannot be read: {}", row.id, text::printable(row.error->message)));
      continue;
    }
    printLine(fmt::format("  {:<36}  {:>6} entries  {:>9}  {}{}", row.id, row.state.entryCount,
                          formatBytes(row.state.bytes), text::excerpt(row.title, 40),
                          row.state.problemCount > 0 ? "  (needs `bough verify`)" : ""));
  }
}

void printNextSteps(const std::vector<Row>& rows) {
  const std::string session = rows.empty() ? "SESSION" : rows.front().id;
  printLine("");
  printLine("Next:");
  printLine("  bough new --title \"My session\"                 make a session");
  printLine(fmt::format("  bough append {} --role user --text \"Hello\"", session));
  printLine(rows.empty() ? "  bough help                                      all commands"
                         : fmt::format("  bough cat {}", session));
}

}  // namespace

Result<ExitCode> showHome(const Context& context) {
  const std::string location = context.resolvedLocation();
  auto store = context.openStore();
  std::vector<std::string> ids;
  std::vector<Row> rows;
  if (store) {
    auto all = (*store)->listSessions();
    if (!all) return std::unexpected(all.error());
    ids = std::move(*all);
    rows = newestRows(**store, ids);
  } else if (store.error().code != ErrorCode::NotFound) {
    return std::unexpected(store.error());
  }
  if (context.json) {
    printJson(location, ids.size(), rows);
    return kDone;
  }
  printLine("bough keeps the conversations of AI agents: durable, branching, portable.");
  printLine("");
  printLine(fmt::format("Store: {}{}", text::printable(location), store ? "" : "  (not made yet)"));
  printLine(ids.empty() ? "No sessions yet."
                        : fmt::format("{} session{}{}:", ids.size(), ids.size() == 1 ? "" : "s",
                                      ids.size() > rows.size() ? fmt::format(", the newest {}", rows.size()) : ""));
  printRows(rows);
  printNextSteps(rows);
  return kDone;
}

}  // namespace bough::cli
