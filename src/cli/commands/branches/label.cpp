#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"

namespace bough::cli {
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
    printMessage(entryId.empty() ? fmt::format("the label {} is removed", shown)
                                 : fmt::format("the label {} is now on {}", shown, entryId));
    return;
  }
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).member("sessionId", sessionId).member("name", name);
  writer.key("entryId");
  entryId.empty() ? writer.null() : writer.string(entryId);
  writer.endObject();
  printLine(out);
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.remove && !options.entry.empty()) {
    return fail(ErrorCode::InvalidArgument, "a label is removed by its name alone", "leave ENTRY out");
  }
  BOUGH_TRY(auto named, openSession(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  std::string entryId;
  if (options.remove) {
    BOUGH_TRY(store.removeLabel(session, options.name));
  } else {
    BOUGH_TRY(auto entry, resolveEntry(store, session, options.entry.empty() ? "@head" : options.entry));
    entryId = std::move(entry);
    BOUGH_TRY(auto labelled, store.labelEntry(session, entryId, options.name));
  }
  print(context, session, options.name, entryId);
  return kDone;
}

}  // namespace

Command labelCommand() {
  auto options = std::make_shared<Options>();
  return {
      .name = "label",
      .summary = "Give an entry a name, to come back to it: a snapshot that costs one line",
      .details =
          "A label of that name moves. Labels are kept in the session; forks have those of the history they share.\n"
          "On the last entry of a branch a label is the branch's name.",
      .examples =
          "  bough label SESSION before-refactoring\n"
          "  bough label SESSION good-idea @head~3\n"
          "  bough label SESSION good-idea --remove",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "NAME",
                   .help = "1 to 128 bytes of printable text without ~, not beginning with @",
                   .target = &options->name,
                   .required = true},
                  {.name = "ENTRY", .help = std::string(kEntryHelp) + ". Default: @head", .target = &options->entry},
                  {.name = "--remove", .help = "Take the label away", .target = &options->remove}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
