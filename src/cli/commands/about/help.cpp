#include "cli/definition/help.h"

#include "base/json/json_write.h"
#include "cli/commands/commands.h"
#include "cli/definition/reference.h"
#include "cli/terminal/output.h"

namespace bough::cli::help_command {
namespace {

struct Options {
  std::string command;
  std::string format;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  const auto groups = commandGroups();
  if (options.format.empty()) return printHelp(groups, options.command, context.json);
  const std::string text = options.format == "markdown" ? markdownReference(groups) : manualPage(groups);
  if (!context.json) {
    printText(text);
    return kDone;
  }
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("format", options.format).member("text", text).endObject();
  printJsonLine(writer.text());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {.name = "help",
          .summary = "Explain a command",
          .details = {},
          .examples =
              "  bough help append\n"
              "  bough help --format man | man -l -",
          .options = {{.name = "COMMAND", .help = "The command; without one, all of them", .target = &options->command},
                      {.name = "--format",
                       .help = "Print the whole reference instead",
                       .target = &options->format,
                       .choices = {"markdown", "man"},
                       .value = "FORMAT",
                       .conflictsWith = {"COMMAND"}}},
          .run = [options](const Context& context) { return run(context, *options); }};
}

}  // namespace bough::cli::help_command
