#include "cli/repl/start_chat.h"

#include "base/try.h"
#include "cli/names/catalog_view.h"
#include "cli/repl/repl.h"
#include "cli/repl/session_picker.h"
#include "cli/terminal/picker.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

std::string variable(const char* name) {
  return agent::environmentVariable(name);
}

// What the user tells every model: in bough's own folder, and where Claude Code has it.
std::vector<std::string> userInstructions() {
  const std::string home = variable("HOME");
  const std::string config = variable("XDG_CONFIG_HOME");
  std::vector<std::string> files;
  if (config.starts_with('/')) {
    files.push_back(config + "/bough/AGENTS.md");
  } else if (!home.empty()) {
    files.push_back(home + "/.config/bough/AGENTS.md");
  }
  if (!home.empty()) files.push_back(home + "/.claude/CLAUDE.md");
  return files;
}

}  // namespace

Result<ExitCode> startChat(const Context& context, ChatRequest request) {
  const std::string location = context.resolvedLocation();
  if (!context.backend && !isPostgresLocation(location)) request.options.storeFolder = location;
  request.options.userInstructions = userInstructions();
  const bool interactive =
      !request.promptOnly && !request.finishOnly && !context.json && stdinIsTerminal() && stdoutIsTerminal();
  if (request.choice.pick) {
    if (!interactive || !canPick()) {
      return fail(ErrorCode::InvalidArgument, "cannot pick a session without a terminal",
                  "name the session: --resume SESSION; `bough ls` lists the sessions");
    }
    BOUGH_TRY(auto view, openCatalogView(context));
    BOUGH_TRY(auto chosen, pickSession(*view.store, *view.catalog, ""));
    if (!chosen) return kDone;
    request.choice.session = std::move(*chosen);
  }
  if (interactive) return runRepl(context, request.options, request.choice, request.prompt);
  request.choice.exact = true;
  return runPipedChat(context, request);
}

}  // namespace bough::cli
