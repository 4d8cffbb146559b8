#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "bough/context.h"
#include "cli/commands/commands.h"
#include "cli/names/damage.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/output.h"
#include "cli/views/compatibility_text.h"

namespace bough::cli::migrate_provider_command {
namespace {

struct Options {
  std::string session;
  std::string to;
  std::string at;
  std::string id;
};

void printJson(const ProviderMigration& done) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", done.sessionId);
  writer.member("sourceSessionId", done.sourceSessionId).member("sourceEntryId", done.sourceEntryId);
  writer.member("migratedFrom", toString(done.from)).member("migratedTo", toString(done.to));
  writer.member("migratedAt", done.migratedAt).member("nodes", done.nodes).member("verbatim", done.verbatim);
  printJsonLine(writer.member("synthetic", done.synthetic).key("report").raw(done.report.toJson()).endObject().text());
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto target, parseDialect(options.to));
  BOUGH_TRY(auto store, openStoreWith(context, {options.session}));
  BOUGH_TRY(auto session, resolveSession(*store, options.session));
  BOUGH_TRY(const auto damage, reportDamage(context, *store, session));
  MigrateOptions wanted;
  wanted.session.sessionId = options.id;
  BOUGH_TRY(wanted.session.cwd, folderOf(*store, session));
  wanted.strict = context.strict;
  if (!options.at.empty()) {
    BOUGH_TRY(auto entry, resolveEntry(*store, session, options.at));
    wanted.at = entry;
  }
  BOUGH_TRY(auto done, migrate(*store, session, target, wanted));
  if (context.json) {
    printJson(done);
    return kDone;
  }
  printLine(done.sessionId);
  printMessage(fmt::format("{}, {} to {}: {} unchanged, {} added because the API requires them",
                           counted(done.nodes, "message"), toString(done.from), toString(done.to), done.verbatim,
                           done.synthetic));
  printLosses(done.report);
  if (!done.report.lossyFields.empty()) {
    printMessage(fmt::format("  → nothing is lost: `bough migrate-provider {} --to {}` restores it",
                             exactName(done.sessionId), toString(done.from)));
  }
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "migrate-provider",
      .summary = "Fork a session for another provider; the way back is exact",
      .details =
          "Makes a new session whose messages are in the dialect of the target, and prints its id. The source "
          "does not change. The meta of each message says where the message came from. Migrated back, every "
          "message that was not edited has exactly the bytes that its author wrote.",
      .examples =
          "  bough migrate-provider SESSION --to gemini\n"
          "  bough migrate-provider FORK --to anthropic",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--to",
                   .help = "The dialect of the other provider",
                   .target = &options->to,
                   .required = true,
                   .choices = {"anthropic", "openai-chat", "openai-responses", "gemini"}},
                  {.name = "--at",
                   .help = "Use the branch that ends in this entry; default: @head",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "--id", .help = "The new session's id; default: a new UUID", .target = &options->id}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::migrate_provider_command
