#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/catalog_view.h"
#include "cli/names/damage.h"
#include "cli/names/foreign.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

struct Options {
  std::string agents;
  FilterOptions filter;
  std::vector<std::string> words;
  std::string session;
  std::vector<std::string> roles;
  std::vector<std::string> dashWords;
  std::uint64_t limit = 20;
};

// The excerpt's pieces, told apart by whether they were found.
template <typename Use>
void forEachPiece(std::string_view excerpt, Use use) {
  bool found = false;
  while (!excerpt.empty()) {
    const std::size_t end = std::min(excerpt.find(found ? kMarkEnd : kMarkBegin), excerpt.size());
    if (end > 0) use(excerpt.substr(0, end), found);
    excerpt.remove_prefix(std::min(end + 1, excerpt.size()));
    found = !found;
  }
}

std::string forTerminal(std::string_view excerpt) {
  std::string line;
  forEachPiece(excerpt, [&](std::string_view piece, bool found) {
    const std::string safe = text::printable(piece);
    // Without colours what was found still shows.
    const std::string marked = styled(Style::Yellow, safe);
    line += !found ? safe : marked != safe ? marked : "[" + safe + "]";
  });
  return line;
}

void printJson(const std::vector<SearchHit>& hits, bool more) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("more", more).key("hits").beginArray();
  for (const SearchHit& hit : hits) {
    writer.beginObject().member("sessionId", hit.sessionId).member("title", hit.title).member("entryId", hit.entryId);
    writer.member("role", hit.role).member("time", formatTimestamp(hit.timeMs));
    writer.key("score").raw(fmt::format("{:.4f}", hit.score)).key("excerpt").beginArray();
    forEachPiece(hit.excerpt, [&](std::string_view piece, bool found) {
      writer.beginObject().member("text", piece).member("found", found).endObject();
    });
    writer.endArray().endObject();
  }
  writer.endArray().endObject();
  printJsonLine(out);
}

void printHits(const std::vector<SearchHit>& hits) {
  const std::uint64_t now = nowMs();
  for (const SearchHit& hit : hits) {
    printLine(fmt::format("{}  {}", styled(Style::Bold, shortId(hit.sessionId)), shortId(hit.entryId)));
    const std::string title = hit.title.empty() ? "" : "  " + styled(Style::Dim, text::printable(hit.title));
    printLine(fmt::format("  [{}]  {}{}", hit.role, formatAge(hit.timeMs, now), title));
    printLine("  " + forTerminal(hit.excerpt));
  }
}

// What the shell took out of quotation marks is a phrase; so is what follows a dash.
std::string queryOf(const Options& options) {
  const auto quoted = [](const std::string& word, bool alone) {
    const bool phrase = word.find(' ') != std::string::npos && word.find('"') == std::string::npos;
    return phrase && !alone ? "\"" + word + "\"" : word;
  };
  std::string query;
  for (const std::string& word : options.words) {
    query += (query.empty() ? "" : " ") + quoted(word, options.words.size() == 1 && options.dashWords.empty());
  }
  for (const std::string& word : options.dashWords) query += " -" + quoted(word.substr(1), false);
  return query;
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto filter, options.filter.filter());
  const std::string query = queryOf(options);
  Context shown = context;
  if (!options.agents.empty()) {
    BOUGH_TRY(shown, agentsContext(context, options.agents));
    BOUGH_TRY(filter.writtenBy, parseAgents(options.agents));
  }
  BOUGH_TRY(auto view, openCatalogView(shown, /*search=*/true));
  if (!options.session.empty()) {
    BOUGH_TRY(auto session, resolveSession(*view.store, options.session));
    filter.session = std::move(session);
  }
  BOUGH_TRY(tellOfDamage(context, *view.catalog,
                         {.agent = filter.agent, .key = filter.key, .cwd = filter.cwd, .session = filter.session}));
  BOUGH_TRY(auto hits, view.catalog->search(query, {.filter = filter,
                                                    .roles = options.roles,
                                                    .limit = static_cast<std::size_t>(options.limit) + 1}));
  const bool more = hits.size() > options.limit;
  if (more) hits.pop_back();
  if (context.json) {
    printJson(hits, more);
  } else if (hits.empty()) {
    printMessage("nothing found");
  } else {
    {
      const Pager pager;
      printHits(hits);
    }
    if (more) printMessage(fmt::format("showing the best {}; --limit N shows more", hits.size()));
  }
  return hits.empty() ? kProblem : kDone;
}

}  // namespace

Command searchCommand() {
  auto options = std::make_shared<Options>();
  std::vector<Option> definitions = {
      {.name = "WORDS", .help = "What to look for", .target = &options->words, .required = true}};
  for (Option& each : options->filter.definitions()) definitions.push_back(std::move(each));
  definitions.push_back(
      {.name = "--session", .help = "Only in this session", .target = &options->session, .value = "SESSION"});
  definitions.push_back({.name = "--role",
                         .help = "Only messages of this role; may be repeated",
                         .target = &options->roles,
                         .choices = {"user", "assistant", "tool", "system", "summary"},
                         .value = "ROLE"});
  definitions.push_back(
      {.name = "--limit", .help = "Show at most N entries; default: 20", .target = &options->limit, .value = "N"});
  definitions.push_back(
      {.name = "--agents",
       .help = "Show sessions of other agents on this machine instead: all, or a list of names with commas",
       .target = &options->agents,
       .value = "LIST",
       .alone = "all"});
  return {
      .name = "search",
      .summary = "Find entries by the words in them, best match first",
      .details =
          "Searches messages, thinking, tool calls and their results. All words must occur in the entry. \"two "
          "words\" is a phrase, begin* matches every word that begins with begin, -word excludes entries that "
          "contain word, and one OR other matches either. Letter case and accents do not matter. Chinese and "
          "Japanese are found by one character or more.",
      .examples =
          "  bough search parse error\n"
          "  bough search '\"connection refused\" -test*' --role tool --since 7d\n"
          "  bough search 東京 --json",
      .options = std::move(definitions),
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
      .dashWords = &options->dashWords,
  };
}

}  // namespace bough::cli
