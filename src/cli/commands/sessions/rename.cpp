#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"

namespace bough::cli::rename_command {
namespace {

struct Options {
  std::string session;
  std::vector<std::string> words;  // the words of the title
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto session, openSessionToChange(context, options.session));
  const std::string words = fmt::format("{}", fmt::join(options.words, " "));
  const std::string title(text::trimmed(words));
  BOUGH_TRY(session.store->setTitle(session.sessionId, title));
  if (!context.json) {
    printMessage(
        title.empty()
            ? fmt::format("{} has no title of its own now; lists show its first message", shortId(session.sessionId))
            : fmt::format("{} is now \"{}\"", shortId(session.sessionId), text::excerpt(title, 200)));
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", session.sessionId);
  title.empty() ? writer.key("title").null() : writer.member("title", title);
  printJsonLine(writer.endObject().text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "rename",
      .summary = "Give a session another title",
      .details =
          "The old title stays in the log. A title that you give is never replaced by a generated one.\n"
          "An empty title (\"\") takes the title away.",
      .examples = "  bough rename SESSION \"Refactor the parser\"",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "TITLE",
                   .help = "The new title; several words need no quotes",
                   .target = &options->words,
                   .required = true,
                   .mayBeEmpty = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::rename_command
