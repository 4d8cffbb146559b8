#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/model/unreadable.h"
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
#include "cli/views/session_head.h"

namespace bough::cli::labels_command {
namespace {

struct Options {
  std::string session;
};

void printJson(const std::string& sessionId, const std::vector<SessionLabel>& labels) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", sessionId).key("labels").beginArray();
  for (const SessionLabel& label : labels) {
    writer.beginObject().member("name", label.name).member("entryId", label.entryId);
    writer.member("timestamp", label.timestamp).member("sessionId", label.sessionId).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

// Returns the text of an entry; for bookkeeping entries, such as turn totals, the message before it.
EntrySummary summaryAt(SessionStore& store, const std::string& session, const std::string& entryId) {
  const std::size_t graphemes = textGraphemes(50);
  const auto entry = store.loadEntry(session, entryId);
  if (!entry) return {.speaker = "missing"};
  const bool said = entry->type == entry_type::kMessage || entry->type == entry_type::kCompactionSummary ||
                    entry->type == entry_type::kBranchSummary || isUnreadable(*entry);
  if (!said) {
    const auto before =
        store.loadSessionEntries(session, {.last = 1, .branch = entryId, .types = {std::string(entry_type::kMessage)}});
    if (before && !before->empty()) return summarizeEntry(before->front(), graphemes);
  }
  return summarizeEntry(*entry, graphemes);
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  BOUGH_TRY(const auto labels, store.labels(session));
  if (context.json) {
    printJson(session, labels);
    return kDone;
  }
  if (labels.empty()) {
    BOUGH_TRY(const auto head, readSessionHead(store, session, ""));
    printMessage(fmt::format("{} has no labels", nameWithTitle({.sessionId = session, .title = head.title})));
    if (!named.isCopy) printMessage(fmt::format("  → bough label {} NAME labels the head", exactName(session)));
    return kDone;
  }
  Table table({{.title = "label", .cuttable = true},
               {.title = "entry", .spare = 1, .paint = entryIdPainter(store, session)},
               {.title = "given", .spare = 2},
               {.title = "says"}});
  for (const SessionLabel& label : labels) {
    const EntrySummary summary = summaryAt(store, session, label.entryId);
    const auto given = parseTimestamp(label.timestamp);
    table.add({shownLabel(label.name), shortId(label.entryId), given ? formatAge(*given, nowMs()) : "-",
               speakerLine(summary.speaker, summary.text)});
  }
  table.print();
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "labels",
      .summary = "List the labels of a session, with their entries and ages",
      .details = {},
      .examples = "  bough labels @last",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::labels_command
