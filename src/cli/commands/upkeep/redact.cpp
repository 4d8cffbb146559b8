#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"

namespace bough::cli::redact_command {
namespace {

struct Options {
  std::string session;
  std::string entry;
  std::string by;
  std::string reason;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto session, openSessionToChange(context, options.session));
  BOUGH_TRY(auto entry, resolveEntryToChange(*session.store, session.sessionId, options.entry));
  const std::string by = options.by.empty() ? userName() : options.by;
  BOUGH_TRY(auto redacted, session.store->redactEntry(session.sessionId, entry, by, options.reason));
  if (!context.json) {
    const std::size_t others = redacted.appendedCount - std::min<std::size_t>(redacted.appendedCount, 1);
    printMessage(
        fmt::format("entry {} of {} is hidden from every view{}; the log keeps it", entry,
                    idAndTitle(*session.store, session.sessionId),
                    others == 0 ? "" : ", with " + counted(others, "line that repeats it", "lines that repeat it")));
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", session.sessionId).member("entryId", entry);
  writer.member("redactionId", redacted.lastAppendedEntryId).member("by", by).member("reason", options.reason);
  printJsonLine(writer.endObject().text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "redact",
      .summary = "Hide the content of an entry from every view, with a reason",
      .details =
          "The log keeps its order, its ids and the entry itself. No view, search or model context shows the "
          "content any more, and the catalog erases its words the next time it is brought up to date. The cost "
          "of the entry still counts. In an imported session, lines that repeat the content are hidden, too.",
      .examples = "  bough redact SESSION ENTRY --reason \"a password\"",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "ENTRY", .help = kExactEntryHelp, .target = &options->entry, .required = true},
                  {.name = "--reason", .help = "The reason", .target = &options->reason, .required = true},
                  {.name = "--by", .help = "Who redacts it; default: $USER", .target = &options->by, .value = "NAME"}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::redact_command
