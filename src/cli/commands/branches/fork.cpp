#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/damage.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"

namespace bough::cli::fork_command {
namespace {

struct Options {
  std::string session;
  std::string entry;
  NewSession made;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openSession(context, options.session));
  BOUGH_TRY(named.damage, reportDamage(context, *named.store, named.sessionId));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  BOUGH_TRY(auto entry, resolveEntry(store, session, options.entry.empty() ? "@head" : options.entry));
  NewSession made = options.made;
  BOUGH_TRY(made.cwd, folderOf(store, session));
  BOUGH_TRY(auto fork, store.branchFromEntry(session, entry, made));
  if (!context.json) {
    printLine(fork.sessionId);
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", fork.sessionId).key("parentSession");
  writer.beginObject().member("sessionId", session).member("entryId", entry).endObject().endObject();
  printJsonLine(writer.text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "fork",
      .summary = "Make a new session that continues from an entry of another",
      .details =
          "Prints the id of the fork. The fork shares the history up to that entry instead of copying it, so forking a "
          "large session costs no more than forking a small one. Neither session sees what is appended to the other "
          "afterwards.",
      .examples =
          "  bough fork @last\n"
          "  FORK=$(bough fork SESSION @head~2 --title \"Another try\")",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "ENTRY",
                   .help = "The entry to continue from; default: @head. See `bough help switch` for how to name one",
                   .target = &options->entry},
                  {.name = "--id",
                   .help = "The id of the fork: 1 to 100 characters of [A-Za-z0-9._-]; default: a new UUID",
                   .target = &options->made.sessionId},
                  {.name = "--key", .help = "Its key: agent:channel:peer", .target = &options->made.key},
                  {.name = "--title", .help = "A title", .target = &options->made.title}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::fork_command
