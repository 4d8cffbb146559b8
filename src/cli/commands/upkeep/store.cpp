#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/try.h"
#include "bough/store.h"
#include "cli/commands/commands.h"
#include "cli/terminal/output.h"

namespace bough::cli::store_command {
namespace {

struct Options {
  std::string action;
  std::vector<std::string> readers;
  std::vector<std::string> writers;
  std::vector<std::string> keepers;
};

Result<void> grant(const std::string& url, const std::vector<std::string>& roles, const std::string& rights) {
  for (const std::string& role : roles) BOUGH_TRY(grantPostgresStore(url, role, rights));
  return {};
}

Result<ExitCode> run(const Context& context, const Options& options) {
  const std::string location = context.resolvedLocation();
  if (!isPostgresLocation(location)) {
    if (!options.readers.empty() || !options.writers.empty() || !options.keepers.empty()) {
      return fail(
          ErrorCode::InvalidArgument, fmt::format("{} is a folder, which has no roles", location),
          "--reader, --writer and --keeper are for a store in PostgreSQL; a folder has the rights of its files");
    }
    // A folder needs no tables; it is created if it is missing.
    BOUGH_TRY(context.openStore(/*create=*/true));
    if (context.json) {
      json::Writer writer;
      writer.beginObject().member("schema", 1).member("store", location);
      printJsonLine(writer.key("versionBefore").null().key("version").null().endObject().text());
    } else {
      printMessage(fmt::format("the store {} is ready", location));
    }
    return kDone;
  }
  BOUGH_TRY(const PostgresSchema schema, initPostgresStore(location));
  BOUGH_TRY(grant(location, options.readers, "reader"));
  BOUGH_TRY(grant(location, options.writers, "writer"));
  BOUGH_TRY(grant(location, options.keepers, "keeper"));
  if (context.json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("store", shownLocation(location));
    writer.member("versionBefore", schema.versionBefore);
    printJsonLine(writer.member("version", schema.version).endObject().text());
    return kDone;
  }
  const bool same = schema.versionBefore == schema.version;
  printMessage(
      same ? fmt::format("the store {} is up to date (schema version {})", shownLocation(location), schema.version)
      : schema.versionBefore == 0
          ? fmt::format("created the store {} (schema version {})", shownLocation(location), schema.version)
          : fmt::format("upgraded the store {} from schema version {} to {}", shownLocation(location),
                        schema.versionBefore, schema.version));
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "store",
      .summary = "Create the store, or bring its database up to date",
      .details =
          "A store in PostgreSQL needs its tables and functions before anybody can use it. `bough store init` creates "
          "them, and upgrades them after a new version of bough was installed; it can be repeated. The options give "
          "roles of the database the rights that they need, and no more.",
      .examples =
          "  bough store init --store postgresql://admin@db.example/sessions\n"
          "  bough store init --writer agents --reader analysts",
      .options =
          {{.name = "ACTION", .help = "What to do", .target = &options->action, .required = true, .choices = {"init"}},
           {.name = "--reader",
            .help = "Let this role of the database read; may be repeated",
            .target = &options->readers,
            .value = "ROLE"},
           {.name = "--writer", .help = "Let this role read and append", .target = &options->writers, .value = "ROLE"},
           {.name = "--keeper",
            .help = "Let this role also remove and erase",
            .target = &options->keepers,
            .value = "ROLE"}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::store_command
