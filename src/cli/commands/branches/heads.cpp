#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/message.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/names/short_id.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/views/entry_view.h"
#include "cli/views/head_history.h"

namespace bough::cli::heads_command {
namespace {

struct Options {
  std::string session;
};

// Returns the last message at a head, because a head is usually after the totals of a turn, which have no text.
EntrySummary summaryOf(SessionStore& store, const std::string& session, const std::string& entryId,
                       std::size_t graphemes) {
  constexpr int kMostSteps = 8;
  if (entryId.empty()) return {.text = "before the first entry"};
  auto entry = store.loadEntry(session, entryId);
  for (int i = 0; i < kMostSteps && entry && entry->type == entry_type::kCustom && entry->parentId; ++i) {
    entry = store.loadEntry(session, *entry->parentId);
  }
  return entry ? summarizeEntry(*entry, graphemes) : EntrySummary{.text = "(cannot be read)"};
}

void writeHead(json::Writer& writer, const HeadMove& head, const EntrySummary& summary) {
  writer.beginObject().memberOrNull("entryId", head.entryId).memberOrNull("timestamp", head.timestamp);
  writer.memberOrNull("role", summary.speaker).member("text", summary.text).endObject();
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  BOUGH_TRY(const auto state, store.sessionState(named.sessionId));
  BOUGH_TRY(auto heads, headHistory(store, named.sessionId));
  heads.insert(heads.begin(), {.entryId = state.headId});
  constexpr std::size_t kUsual = 72;
  const std::size_t graphemes = context.json ? kUsual : textGraphemes(kUsual);
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", named.sessionId).key("heads").beginArray();
  const IdPainter paintId = context.json ? IdPainter() : entryIdPainter(store, named.sessionId);
  Table table({{.title = ""}, {.title = "entry", .paint = paintId}, {.title = "until"}, {.title = "says"}});
  for (const HeadMove& head : heads) {
    const EntrySummary summary = summaryOf(store, named.sessionId, head.entryId, graphemes);
    writeHead(writer, head, summary);
    const auto until = parseTimestamp(head.timestamp);
    table.add({head.timestamp.empty() ? "*" : "", head.entryId.empty() ? "@start" : shortId(head.entryId),
               until ? formatAge(*until, nowMs()) : "", speakerLine(summary.speaker, summary.text)});
  }
  writer.endArray().endObject();
  if (context.json) {
    printJsonLine(writer.text());
    return kDone;
  }
  const Pager pager;
  table.print();
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "heads",
      .summary = "List the earlier places of a session's head, the most recent first",
      .details =
          "The first line is the current head. `bough switch SESSION -` goes back to the place on the second line.",
      .examples =
          "  bough heads @last\n"
          "  bough switch SESSION -         # go back to where the head was before",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::heads_command
