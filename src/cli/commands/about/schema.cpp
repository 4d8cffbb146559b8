#include <algorithm>

#include "base/json/json_write.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/definition/json_shapes.h"
#include "cli/terminal/output.h"

namespace bough::cli::schema_command {
namespace {

struct Options {
  std::string command;
  std::string format;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  if (!options.command.empty()) {
    const bool isShape = std::ranges::count(commandShapes(), options.command, &JsonShape::name) > 0;
    std::string name = options.command;
    if (!isShape) {
      BOUGH_TRY(const Command command, findCommand(commandGroups(), name));
      name = command.name;
    }
    BOUGH_TRY(const auto schema, jsonSchema(name));
    printJsonLine(schema);
    return kDone;
  }
  if (options.format == "markdown") {
    printText(shapesAsMarkdown());
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).key("commands").beginArray();
  for (const JsonShape& each : commandShapes()) {
    writer.string(each.name);
    if (!context.json) printLine(each.name);
  }
  if (context.json) printJsonLine(writer.endArray().endObject().text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {.name = "schema",
          .summary = "Print the JSON Schema of what a command prints with --json",
          .details =
              "Without a command, lists those that have one. `bough` is the answer of bough alone, `error` that of "
              "every command "
              "that fails. docs/json.md shows all of them.",
          .examples =
              "  bough schema ls\n"
              "  bough schema --format markdown > json.md",
          .options = {{.name = "COMMAND", .help = "The command", .target = &options->command},
                      {.name = "--format",
                       .help = "Print a page with all shapes instead",
                       .target = &options->format,
                       .choices = {"markdown"},
                       .value = "FORMAT",
                       .conflictsWith = {"COMMAND", "--json"}}},
          .run = [options](const Context& context) { return run(context, *options); }};
}

}  // namespace bough::cli::schema_command
