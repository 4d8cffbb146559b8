#include "base/try.h"
#include "bough/catalog.h"
#include "cli/commands/commands.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "serve/mcp_server.h"

namespace bough::cli::mcp_command {
namespace {

struct Options {
  bool write = false;
};

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(const auto store, context.openStore(options.write));
  BOUGH_TRY(const auto catalog, Catalog::open(*store));
  serve::McpServer server(*store, *catalog, {.write = options.write});
  Input input;
  while (!outputClosed()) {
    const auto line = input.nextLine();
    if (!line && line.error().code == ErrorCode::InvalidArgument) {  // the line is too long
      printJsonLine(serve::McpServer::refusalAnswer(line.error()));
      BOUGH_TRY(const auto more, input.skipLine());
      if (!more) break;
      continue;
    }
    if (!line) return std::unexpected(line.error());
    if (!*line) break;
    const std::string answer = server.handle((*line)->text);
    if (!answer.empty()) printJsonLine(answer);
  }
  BOUGH_TRY(store->close());
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "mcp",
      .summary = "Serve the sessions to a model over the Model Context Protocol (stdin and stdout)",
      .details =
          "An agent starts this command and talks to it in JSON lines. It can search, list and read sessions, draw "
          "their trees, compare branches and sum up usage. It changes nothing unless --write is given. docs/mcp.md "
          "says how to add it to an agent.",
      .examples =
          "  claude mcp add bough -- bough mcp\n"
          "  bough mcp --write",
      .options = {{.name = "--write",
                   .help = "Also offer tools that append messages, label entries and fork sessions",
                   .target = &options->write}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::mcp_command
