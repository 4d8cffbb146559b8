#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "bough/context.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/views/compatibility_text.h"

namespace bough::cli::compat_command {
namespace {

struct Options {
  std::string session;
  std::string to;
  std::string at;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto target, parseDialect(options.to));
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  std::string at;
  if (!options.at.empty()) {
    BOUGH_TRY(auto entry, resolveEntry(store, session, options.at));
    at = entry;
  }
  auto report = checkCompatibility(store, session, target, at);
  if (!report) return std::unexpected(report.error());
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("sessionId", session);
    printJsonLine(writer.member("to", options.to).key("report").raw(report->toJson()).endObject().text());
  } else {
    printEntries(*report);
    printMessage(
        fmt::format("{} to {}: {}", counted(report->messages, "message"), options.to, lossText(*report, "it")));
    printLosses(*report);
  }
  return report->compatible ? kDone : kProblem;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "compat",
      .summary = "Report what a session would lose with another provider",
      .details =
          "Lists every entry that loses something, what is only renamed, what is kept for the way back, and "
          "whether each thinking signature stays valid. Changes nothing. The exit code is 1 if the model would "
          "miss something.",
      .examples =
          "  bough compat SESSION --to gemini\n"
          "  bough compat SESSION --to openai-chat --json",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--to",
                   .help = "The dialect of the other provider",
                   .target = &options->to,
                   .required = true,
                   .choices = {"anthropic", "openai-chat", "openai-responses", "gemini"}},
                  {.name = "--at",
                   .help = "Use the branch that ends in this entry; default: @head",
                   .target = &options->at,
                   .value = "ENTRY"}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::compat_command
