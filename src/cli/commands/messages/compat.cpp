#include <fmt/format.h>

#include "base/json_write.h"
#include "base/try.h"
#include "bough/context.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/views/compatibility_text.h"

namespace bough::cli {
namespace {

struct Options {
  std::string session;
  std::string to;
  std::string at;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto target, parseDialect(options.to));
  BOUGH_TRY(auto store, context.openStore());
  BOUGH_TRY(auto session, resolveSession(*store, options.session));
  std::string at;
  if (!options.at.empty()) {
    BOUGH_TRY(auto entry, resolveEntry(*store, session, options.at));
    at = entry;
  }
  auto report = checkCompatibility(*store, session, target, at);
  if (!report) return std::unexpected(report.error());
  if (context.json) {
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("schema", std::uint64_t{1}).member("sessionId", session);
    writer.member("to", options.to).key("report").raw(report->toJson()).endObject();
    printLine(out);
  } else {
    printEntries(*report);
    printMessage(fmt::format("{} messages to {}: {}", report->messages, options.to,
                             report->lossyMessages == 0
                                 ? std::string(report->compatible ? "nothing is lost" : "not all could be read")
                                 : fmt::format("{} hold something that it cannot", report->lossyMessages)));
    printLosses(*report);
  }
  return report->compatible ? kDone : kProblem;
}

}  // namespace

Command compatCommand() {
  auto options = std::make_shared<Options>();
  return {
      .name = "compat",
      .summary = "Say what a session would lose at another provider",
      .details =
          "Names every entry that loses something, what is only renamed, what is carried and comes back, and whether\n"
          "each thinking signature stays valid. Nothing is changed. Exit code 1 when the model would miss something.",
      .examples =
          "  bough compat SESSION --to gemini\n"
          "  bough compat SESSION --to openai-chat --json",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--to",
                   .help = "The other provider's dialect",
                   .target = &options->to,
                   .required = true,
                   .choices = {"anthropic", "openai-chat", "openai-responses", "gemini"}},
                  {.name = "--at",
                   .help = "The branch that ends in this entry; default: the head's",
                   .target = &options->at,
                   .value = "ENTRY"}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
