#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"

namespace bough::cli::label_command {
namespace {

struct Options {
  std::string session;
  std::string name;
  std::string entry;
  bool remove = false;
};

void print(const Context& context, const std::string& sessionId, const std::string& name, const std::string& entryId) {
  if (!context.json) {
    const std::string shown = text::printable(name);
    printMessage(entryId.empty() ? fmt::format("label {} removed", shown)
                                 : fmt::format("label {} is now on {}", shown, shortId(entryId)));
    return;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", sessionId).member("name", name);
  printJsonLine(writer.memberOrNull("entryId", entryId).endObject().text());
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.remove && !options.entry.empty()) {
    return fail(ErrorCode::InvalidArgument, "--remove takes only the name of the label", "leave ENTRY out");
  }
  BOUGH_TRY(auto named, openSessionToChange(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  std::string entryId;
  if (options.remove) {
    if (auto removed = store.removeLabel(session, options.name); !removed) {
      return std::unexpected(withNearestLabel(store, session, options.name, std::move(removed.error())));
    }
  } else {
    BOUGH_TRY(auto entry, resolveEntryToChange(store, session, options.entry.empty() ? "@head" : options.entry));
    entryId = std::move(entry);
    BOUGH_TRY(auto labelled, store.labelEntry(session, entryId, options.name));
  }
  print(context, session, options.name, entryId);
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "label",
      .summary = "Name an entry, so that you can come back to it",
      .details =
          "If the label exists, it moves. Labels are kept in the session; a fork has the labels of the history "
          "it shares. A label on the last entry of a branch is the name of that branch.",
      .examples =
          "  bough label SESSION before-refactoring\n"
          "  bough label SESSION good-idea @head~3\n"
          "  bough label SESSION good-idea --remove",
      .options = {{.name = "SESSION", .help = kExactSessionHelp, .target = &options->session, .required = true},
                  {.name = "NAME",
                   .help = "1 to 128 bytes of printable text without ~, not beginning with @",
                   .target = &options->name,
                   .required = true},
                  {.name = "ENTRY", .help = std::string(kExactEntryHelp) + ". Default: @head", .target = &options->entry},
                  {.name = "--remove", .help = "Remove the label", .target = &options->remove}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::label_command
