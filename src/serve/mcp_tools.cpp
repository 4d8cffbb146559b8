#include "serve/mcp_tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <vector>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/out_of_date.h"
#include "base/model/payloads.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/tree.h"
#include "serve/mcp_resources.h"
#include "serve/session_text.h"

namespace bough::serve {
namespace {

// Updates the catalog. Returns why it could not be updated, if it can still answer; otherwise empty.
Result<std::string> updateCatalog(ToolContext context, bool search = false) {
  CatchUpOptions options;
  options.search = search;
  auto done = context.catalog.catchUp(options);
  if (done) return std::string();
  if (!canAnswerDespite(done.error())) return std::unexpected(std::move(done.error()));
  return std::move(done.error().message);
}

// Finds a session; one that the catalog has not read yet is found by its id.
Result<std::string> namedSession(ToolContext context, const std::string& name, bool outOfDate) {
  auto found = findSession(context.catalog, name);
  if (!found && outOfDate && context.store.sessionState(name)) found = name;
  if (found) context.used.push_back(*found);
  return found;
}

Result<std::string> foundSession(ToolContext context, const ToolArguments& arguments,
                                 std::string_view argument = "session") {
  BOUGH_TRY(const auto name, arguments.text(argument));
  BOUGH_TRY(const auto outOfDate, updateCatalog(context));
  return namedSession(context, name, !outOfDate.empty());
}

void endResult(json::Writer& writer, const std::string& outOfDate) {
  if (!outOfDate.empty()) writer.member("outOfDate", outOfDate);
  writer.endObject();
}

// Limits titles, folders and names, which may have any length.
std::string_view shortText(std::string_view text) {
  return textPart(text, 0, 200);
}

// Writes where the next page starts, or null.
void writeNext(json::Writer& writer, std::string_view name, std::uint64_t place, std::uint64_t end) {
  writer.key(name);
  place < end ? writer.number(place) : writer.null();
}

// Names the sessions that could not be read completely, because the answer lacks their content.
void writeUnreadableSessions(json::Writer& writer, Catalog& catalog, SessionFilter filter) {
  constexpr std::size_t kMaxSessions = 20;
  filter.withProblem = true;
  const auto rows = catalog.list({.filter = std::move(filter), .limit = kMaxSessions, .models = false});
  if (!rows || rows->empty()) return;
  writer.key("notRead").beginArray();
  for (const SessionSummary& row : *rows) {
    writer.beginObject().member("sessionId", row.sessionId).member("problem", shortText(row.problem)).endObject();
  }
  writer.endArray();
}

constexpr std::uint64_t kMaxSkippedHits = 10'000;
constexpr std::size_t kMaxExcerpt = 600;

Result<std::string> searchSessions(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(const auto query, arguments.text("query"));
  SearchOptions options;
  BOUGH_TRY(const auto limit, arguments.count("limit", 10, 50));
  BOUGH_TRY(const auto skip, arguments.number("skip", 0, kMaxSkippedHits));
  options.limit = skip + limit + 1;  // one extra row tells whether there is another page
  BOUGH_TRY(const auto role, arguments.text("role", ""));
  if (!role.empty()) options.roles.push_back(role);
  BOUGH_TRY(options.filter.sinceMs, arguments.time("since"));
  BOUGH_TRY(const auto outOfDate, updateCatalog(context, true));
  BOUGH_TRY(const auto session, arguments.text("session", ""));
  if (!session.empty()) {
    BOUGH_TRY(options.filter.session, namedSession(context, session, !outOfDate.empty()));
  }
  BOUGH_TRY(auto hits, context.catalog.search(query, options));
  json::Writer writer;
  writer.beginObject().key("hits").beginArray();
  const std::size_t end = std::min<std::size_t>(hits.size(), skip + limit);
  std::size_t next = skip;
  for (; next < end && writer.text().size() < kMaxResultBytes; ++next) {
    SearchHit& hit = hits[next];
    std::erase_if(hit.excerpt, [](char c) { return c == kMarkBegin || c == kMarkEnd; });
    writer.beginObject().member("sessionId", hit.sessionId).member("title", shortText(hit.title));
    writer.member("entryId", hit.entryId).member("role", hit.role);
    writer.member("timestamp", formatTimestamp(hit.timeMs)).member("excerpt", textPart(hit.excerpt, 0, kMaxExcerpt));
    writer.endObject();
  }
  writer.endArray();
  writeNext(writer, "nextSkip", next, hits.size());
  writeUnreadableSessions(writer, context.catalog, std::move(options.filter));
  endResult(writer, outOfDate);
  return writer.take();
}

Result<std::string> listSessions(ToolContext context, const ToolArguments& arguments) {
  ListOptions options;
  options.models = false;
  BOUGH_TRY(options.limit, arguments.count("limit", 20, 200));
  BOUGH_TRY(options.skip, arguments.number("skip", 0, UINT32_MAX));
  BOUGH_TRY(const auto after, arguments.text("after", ""));
  if (!after.empty() && !(options.after = parsePlace(after))) {
    return fail(ErrorCode::InvalidArgument, "the argument \"after\" is not one that this server gave");
  }
  if (options.after && options.skip > 0) {
    return fail(ErrorCode::InvalidArgument, "\"after\" and \"skip\" do not go together", "leave \"skip\" out");
  }
  BOUGH_TRY(options.filter.cwd, arguments.text("folder", ""));
  BOUGH_TRY(options.filter.title, arguments.text("title", ""));
  BOUGH_TRY(options.filter.sinceMs, arguments.time("since"));
  BOUGH_TRY(const auto outOfDate, updateCatalog(context));
  ++options.limit;  // one extra row tells whether there is another page
  BOUGH_TRY(const auto rows, context.catalog.list(options));
  BOUGH_TRY(const auto total, context.catalog.count(options.filter));
  json::Writer writer;
  writer.beginObject().member("total", total).key("sessions").beginArray();
  std::size_t written = 0;
  for (; written < std::min(rows.size(), options.limit - 1) && writer.text().size() <= kMaxResultBytes; ++written) {
    const SessionSummary& row = rows[written];
    writer.beginObject().member("sessionId", row.sessionId).member("title", shortText(row.title));
    writer.member("folder", shortText(row.cwd)).member("lastActive", formatTimestamp(row.activeMs));
    writer.member("messages", row.userMessages + row.assistantMessages).member("branches", row.branches);
    if (!row.problem.empty()) writer.member("problem", shortText(row.problem));
    writer.endObject();
  }
  writer.endArray();
  writer.key("nextAfter");
  written < rows.size() ? writer.string(formatPlace(rows[written - 1])) : writer.null();
  if (!options.after)
    writeNext(writer, "nextSkip", options.skip + written, written == 0 ? 0 : options.skip + rows.size());
  endResult(writer, outOfDate);
  return writer.take();
}

Result<std::string> readSession(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(const auto session, foundSession(context, arguments));
  BOUGH_TRY(const auto entryId, arguments.text("entry", ""));
  BOUGH_TRY(const auto offset, arguments.number("offset", 0, UINT32_MAX));
  BranchSection section;
  BOUGH_TRY(section.branch, arguments.text("branch", ""));
  BOUGH_TRY(section.from, arguments.number("from", 0, UINT32_MAX));
  BOUGH_TRY(section.last, arguments.number("last", 0, 200));
  BOUGH_TRY(section.limit, arguments.count("limit", 50, 200));
  if (!entryId.empty()) {
    if (section.from > 0 || section.last > 0) {
      return fail(ErrorCode::InvalidArgument, "\"from\" and \"last\" are places in a conversation",
                  "an entry is read on with \"offset\"");
    }
    BOUGH_TRY(const auto entry, context.store.loadEntry(session, entryId));
    json::Writer writer;
    writeEntry(writer, entry, offset, kMaxResultBytes);
    return writer.take();
  }
  if (offset > 0)
    return fail(ErrorCode::InvalidArgument, "\"offset\" is a place in an entry", "name the \"entry\", too");
  if (section.from > 0 && section.last > 0) {
    return fail(ErrorCode::InvalidArgument, "\"last\" begins at the same place again", "leave \"last\" out to read on");
  }
  return readSection(context.store, session, section);
}

Result<std::string> sessionTree(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(const auto session, foundSession(context, arguments));
  BOUGH_TRY(const auto from, arguments.number("fromLine", 0, UINT32_MAX));
  BOUGH_TRY(const auto tree, context.store.loadTree(session));
  std::string out;
  std::uint64_t number = 0;
  bool cut = false;
  BOUGH_TRY(
      drawTree(tree, describeEntries(context.store, session), {.width = 160, .ids = true}, [&](std::string_view line) {
        if (number++ < from) return true;
        out.append(line) += '\n';
        cut = out.size() > kMaxResultBytes;
        return !cut;
      }));
  if (out.empty()) return number == 0 ? "the session has no messages" : fmt::format("the tree has {} lines", number);
  if (cut) out += fmt::format("… more: fromLine {}\n", number);
  return out;
}

Result<std::string> listSessionBranches(ToolContext context, const ToolArguments& arguments) {
  constexpr std::size_t kMaxBranches = 200;
  constexpr std::size_t kMaxNames = 20;
  BOUGH_TRY(const auto session, foundSession(context, arguments));
  BOUGH_TRY(const auto from, arguments.number("from", 0, UINT32_MAX));
  BOUGH_TRY(const auto branches, listBranches(context.store, session));
  json::Writer writer;
  writer.beginObject().member("total", branches.size()).key("branches").beginArray();
  const std::size_t begin = std::min<std::size_t>(from, branches.size());
  std::size_t next = begin;
  for (; next < branches.size() && next - begin < kMaxBranches && writer.text().size() < kMaxResultBytes; ++next) {
    const BranchListing& branch = branches[next];
    writer.beginObject().member("leafEntryId", branch.leafId).member("length", branch.length);
    writer.member("timestamp", branch.timestamp).member("role", branch.speaker);
    writer.member("lastMessage", branch.lastMessage).member("isHead", branch.isHead).key("labels").beginArray();
    for (const std::string& name : branch.names | std::views::take(kMaxNames)) writer.string(shortText(name));
    writer.endArray().endObject();
  }
  writer.endArray();
  writeNext(writer, "next", next, branches.size());
  return writer.endObject().take();
}

// Writes one side of a comparison, cut when it exceeds `maxBytes`. `common` entries come before it on its branch, so
// read_session can continue after the cut.
Result<void> writeSide(json::Writer& writer, SessionStore& store, const std::string& sessionId,
                       const std::vector<Sequence>& nodes, std::size_t common, std::size_t maxBytes) {
  writer.beginObject().member("count", nodes.size()).key("entries").beginArray();
  std::size_t written = 0;
  BOUGH_TRY(const auto session, store.session(sessionId));
  BOUGH_TRY(forEachEntryAt(session, nodes, [&](const Entry& entry) {
    if (writer.text().size() >= maxBytes) return false;
    writeEntry(writer, entry, 0, kMaxListedBytes / 4);
    ++written;
    return writer.text().size() < maxBytes;
  }));
  writer.endArray();
  if (written < nodes.size()) {
    BOUGH_TRY(const auto last, store.loadEntriesAt(sessionId, {nodes.back()}));
    writer.key("readOn").beginObject().member("session", sessionId).member("branch", last.front().id);
    writer.member("from", common + written).endObject();
  }
  writer.endObject();
  return {};
}

Result<std::string> diffBranches(ToolContext context, const ToolArguments& arguments) {
  BranchEnd left;
  BOUGH_TRY(left.sessionId, foundSession(context, arguments));
  BranchEnd right = left;
  BOUGH_TRY(left.entryId, arguments.text("left", ""));
  BOUGH_TRY(right.entryId, arguments.text("right", ""));
  BOUGH_TRY(const auto other, arguments.text("otherSession", ""));
  if (!other.empty()) {
    BOUGH_TRY(right.sessionId, foundSession(context, arguments, "otherSession"));
  }
  BOUGH_TRY(const auto diff, context.store.diffBranches(left, right));
  json::Writer writer;
  writer.beginObject().member("commonEntries", diff.common.size()).key("left");
  BOUGH_TRY(writeSide(writer, context.store, left.sessionId, diff.left, diff.common.size(), kMaxResultBytes / 2));
  writer.key("right");
  BOUGH_TRY(writeSide(writer, context.store, right.sessionId, diff.right, diff.common.size(), kMaxResultBytes));
  return writer.endObject().take();
}

void writeUsage(json::Writer& writer, const UsageRow& row) {
  writer.beginObject().member("name", shortText(row.name)).member("answers", row.messages);
  writer.member("withoutUsage", row.withoutUsage);
  const bool isUnknown = row.withoutUsage > 0 && row.withoutUsage == row.messages;
  writeTokens(writer, row.tokens).key("costUsd").raw(isUnknown ? "null" : fmt::format("{:.4f}", row.costUsd));
  writer.member("costKnown", row.costKnown).endObject();
}

Result<std::string> showUsage(ToolContext context, const ToolArguments& arguments) {
  static constexpr std::array<std::pair<std::string_view, UsageBy>, 6> kGroupings = {{{"day", UsageBy::Day},
                                                                                      {"week", UsageBy::Week},
                                                                                      {"month", UsageBy::Month},
                                                                                      {"session", UsageBy::Session},
                                                                                      {"key", UsageBy::Key},
                                                                                      {"model", UsageBy::Model}}};
  BOUGH_TRY(const auto by, arguments.text("by", "day"));
  const auto grouping = std::ranges::find(kGroupings, by, &std::pair<std::string_view, UsageBy>::first);
  if (grouping == kGroupings.end()) {
    return fail(ErrorCode::InvalidArgument, "the argument \"by\" is not day, week, month, session, key or model");
  }
  UsageOptions options;
  options.by = grouping->second;
  BOUGH_TRY(options.sinceMs, arguments.time("since"));
  BOUGH_TRY(options.untilMs, arguments.time("until"));
  BOUGH_TRY(const auto skip, arguments.number("skip", 0, UINT32_MAX));
  BOUGH_TRY(const auto outOfDate, updateCatalog(context));
  BOUGH_TRY(auto report, context.catalog.usage(options));
  // Put the most interesting rows first: the newest days, and otherwise the most expensive rows.
  const bool byTime = options.by == UsageBy::Day || options.by == UsageBy::Week || options.by == UsageBy::Month;
  if (byTime) std::ranges::reverse(report.rows);
  json::Writer writer;
  writer.beginObject().member("rowCount", report.rows.size()).key("rows").beginArray();
  std::size_t next = std::min<std::size_t>(skip, report.rows.size());
  for (; next < report.rows.size() && writer.text().size() < kMaxResultBytes; ++next)
    writeUsage(writer, report.rows[next]);
  writer.endArray();
  writeNext(writer, "nextSkip", next, report.rows.size());
  writer.key("total");
  writeUsage(writer, report.total);
  writeUnreadableSessions(writer, context.catalog, {});
  endResult(writer, outOfDate);
  return writer.take();
}

// Tools that change a session require its whole id, because a similar name must not change another session.
Result<std::string> exactSession(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(auto session, arguments.text("session"));
  context.used.push_back(session);
  return session;
}

Result<std::string> appendMessage(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(const auto session, exactSession(context, arguments));
  BOUGH_TRY(const auto role, arguments.text("role"));
  BOUGH_TRY(const auto text, arguments.text("text"));
  if (role != "user" && role != "assistant") {
    return fail(ErrorCode::InvalidArgument, "the argument \"role\" is not user or assistant");
  }
  Entry entry = role == "user" ? userText(text) : assistantText(text);
  BOUGH_TRY(const auto appended, context.store.appendSessionEntries(session, {std::move(entry)}));
  return fmt::format(R"({{"entryId":{}}})", json::quoted(appended.lastAppendedEntryId));
}

Result<std::string> labelEntry(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(const auto session, exactSession(context, arguments));
  BOUGH_TRY(const auto entry, arguments.text("entry"));
  BOUGH_TRY(const auto label, arguments.text("label"));
  BOUGH_TRY(context.store.labelEntry(session, entry, label));
  return fmt::format(R"({{"entryId":{},"label":{}}})", json::quoted(entry), json::quoted(label));
}

Result<std::string> forkSession(ToolContext context, const ToolArguments& arguments) {
  BOUGH_TRY(const auto session, exactSession(context, arguments));
  BOUGH_TRY(auto entry, arguments.text("entry", ""));
  NewSession newSession;
  BOUGH_TRY(newSession.title, arguments.text("title", ""));
  if (entry.empty()) {
    BOUGH_TRY(const auto state, context.store.sessionState(session));
    if (state.headId.empty()) return fail(ErrorCode::NotFound, "the session has no entry to fork from");
    entry = state.headId;
  }
  BOUGH_TRY(const auto fork, context.store.branchFromEntry(session, entry, newSession));
  return fmt::format(R"({{"sessionId":{}}})", json::quoted(fork.sessionId));
}

constexpr std::string_view kSession = R"("session":{"type":"string","description":"id, key or title"})";
constexpr std::string_view kExactSession = R"("session":{"type":"string","description":"whole id"})";

const std::array kTools = {
    McpTool{
        "search_sessions", "Find what was said in any session. All words must match; \"a phrase\", begin*, -not, OR.",
        R"("query":{"type":"string"},"session":{"type":"string"},"role":{"type":"string","enum":["user","assistant","tool","system","summary"]},"since":{"type":"string","description":"date"},"limit":{"type":"integer"},"skip":{"type":"integer"})",
        R"("query")", false, searchSessions},
    McpTool{
        "list_sessions",
        "List sessions, most recent first; after=nextAfter gives the next page, in other tools skip=nextSkip.",
        R"("folder":{"type":"string"},"title":{"type":"string"},"since":{"type":"string","description":"date"},"limit":{"type":"integer"},"after":{"type":"string"},"skip":{"type":"integer"})",
        "", false, listSessions},
    McpTool{
        "read_session",
        "Read a session's conversation in parts: go on with from=next. A long entry is cut: read it with entry and "
        "offset=nextOffset.",
        R"(SESSION,"branch":{"type":"string","description":"its last entry; default: the head"},"from":{"type":"integer"},"last":{"type":"integer","description":"the last n messages instead"},"limit":{"type":"integer"},"entry":{"type":"string"},"offset":{"type":"integer"})",
        R"("session")", false, readSession},
    McpTool{"session_tree", "Draw a session as a tree with entry ids.", R"(SESSION,"fromLine":{"type":"integer"})",
            R"("session")", false, sessionTree},
    McpTool{"list_branches", "List the branches of a session and what was said last in each.",
            R"(SESSION,"from":{"type":"integer"})", R"("session")", false, listSessionBranches},
    McpTool{"diff_branches",
            "Compare two branches, of one session or two. A branch is named by its last entry. readOn: arguments of "
            "read_session for the rest.",
            R"(SESSION,"left":{"type":"string"},"right":{"type":"string"},"otherSession":{"type":"string"})",
            R"("session")", false, diffBranches},
    McpTool{
        "usage", "Tokens and cost.",
        R"("by":{"type":"string","enum":["day","week","month","session","key","model"]},"since":{"type":"string"},"until":{"type":"string"},"skip":{"type":"integer"})",
        "", false, showUsage},
    McpTool{"append_message", "Append a message after the head of a session.",
            R"(EXACT,"role":{"type":"string","enum":["user","assistant"]},"text":{"type":"string"})",
            R"("session","role","text")", true, appendMessage},
    McpTool{"label_entry", "Give an entry a name to come back to.",
            R"(EXACT,"entry":{"type":"string"},"label":{"type":"string"})", R"("session","entry","label")", true,
            labelEntry},
    McpTool{"fork_session", "Make a new session that continues from an entry (default: the head).",
            R"(EXACT,"entry":{"type":"string"},"title":{"type":"string"})", R"("session")", true, forkSession},
};

// Returns the properties of a tool, with the arguments that several tools share written out.
std::string propertiesOf(const McpTool& tool) {
  std::string_view properties = tool.properties;
  for (const auto& [name, meaning] : {std::pair{std::string_view("SESSION"), kSession}, {"EXACT", kExactSession}}) {
    if (properties.starts_with(name)) return std::string(meaning).append(properties.substr(name.size()));
  }
  return std::string(properties);
}

std::vector<std::string> namesIn(std::string_view object) {
  std::vector<std::string> names;
  json::ObjectReader reader(object);
  while (const auto member = reader.next()) json::appendDecoded(names.emplace_back(), member->key);
  return names;
}

}  // namespace

const McpTool* findTool(std::string_view name, bool write) {
  const auto tool = std::ranges::find(kTools, name, &McpTool::name);
  return tool == kTools.end() || (tool->writes && !write) ? nullptr : &*tool;
}

Result<std::string> runTool(const McpTool& tool, SessionStore& store, Catalog& catalog, std::string_view arguments) {
  if (json::kindOf(arguments) != json::Kind::Object) {
    return fail(ErrorCode::InvalidArgument, "the arguments are not an object");
  }
  const auto known = namesIn(fmt::format("{{{}}}", propertiesOf(tool)));
  for (const std::string& name : namesIn(arguments)) {
    if (std::ranges::find(known, name) != known.end()) continue;
    // If a wrong name were ignored, a model that asks for the next page would receive the first page again.
    return fail(ErrorCode::InvalidArgument, fmt::format("there is no argument \"{}\"", shortText(name)),
                fmt::format("{} takes {}", tool.name, fmt::join(known, ", ")));
  }
  std::vector<std::string> used;
  BOUGH_TRY(auto result, tool.run({.store = store, .catalog = catalog, .used = used}, ToolArguments(arguments)));
  return addUnreadableNotes(store, std::move(result), std::move(used));
}

std::string listTools(bool write) {
  json::Writer writer;
  writer.beginObject().key("tools").beginArray();
  for (const McpTool& tool : kTools) {
    if (tool.writes && !write) continue;
    writer.beginObject().member("name", tool.name).member("description", tool.description);
    writer.key("inputSchema")
        .raw(fmt::format(R"({{"type":"object","properties":{{{}}},"required":[{}]}})", propertiesOf(tool),
                         tool.required));
    writer.key("annotations").beginObject().member("readOnlyHint", !tool.writes).endObject().endObject();
  }
  return writer.endArray().endObject().take();
}

}  // namespace bough::serve
