#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"
#include "base/text.h"
#include "bough/entry_summary.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/session_name.h"
#include "cli/terminal.h"
#include "cli/times.h"

namespace bough::cli {
namespace {

struct Options {
  std::string session;
};

void printJson(const std::string& sessionId, const std::vector<SessionLabel>& labels) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("sessionId", sessionId).key("labels").beginArray();
  for (const SessionLabel& label : labels) {
    writer.beginObject().member("name", label.name).member("entryId", label.entryId);
    writer.member("timestamp", label.timestamp).member("sessionId", label.sessionId).endObject();
  }
  writer.endArray().endObject();
  printLine(out);
}

Result<ExitCode> run(const Context& context, const Options& options) {
  auto store = context.openStore();
  if (!store) return std::unexpected(store.error());
  auto session = resolveSession(**store, options.session);
  if (!session) return std::unexpected(session.error());
  auto labels = (*store)->labels(*session);
  if (!labels) return std::unexpected(labels.error());
  if (context.json) {
    printJson(*session, *labels);
    return kDone;
  }
  if (labels->empty()) {
    printMessage(fmt::format("{} has no labels", *session));
    printMessage(fmt::format("  → bough label {} NAME gives the head one", *session));
    return kDone;
  }
  std::size_t width = 0;
  std::size_t idWidth = 0;
  for (const SessionLabel& label : *labels) {
    width = std::max(width, text::displayWidth(text::printable(label.name)));
    idWidth = std::max(idWidth, label.entryId.size());
  }
  for (const SessionLabel& label : *labels) {
    const std::string name = text::printable(label.name);
    auto entry = (*store)->loadEntry(*session, label.entryId);
    const EntrySummary summary = entry ? summarizeEntry(*entry, 50) : EntrySummary{.speaker = "missing"};
    printLine(fmt::format("{}{}  {}  {:>10}  [{}] {}", styled(Style::Bold, name),
                          std::string(width - text::displayWidth(name), ' '),
                          styled(Style::Dim, fmt::format("{:<{}}", label.entryId, idWidth)), formatAge(label.timestamp),
                          summary.speaker, summary.text));
  }
  return kDone;
}

}  // namespace

Command labelsCommand() {
  auto options = std::make_shared<Options>();
  return {
      .name = "labels",
      .summary = "List a session's labels, with the entries they name and when they were given",
      .details = {},
      .examples = "  bough labels @last",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
