#include "cli/repl/start_chat.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/system/named_file.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/agent/tools.h"
#include "bough/agent/working_folder.h"
#include "cli/definition/settings.h"
#include "cli/names/catalog_view.h"
#include "cli/repl/repl.h"
#include "cli/repl/session_picker.h"
#include "cli/terminal/output.h"
#include "cli/terminal/picker.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

// The command line has precedence. The model of the settings applies only to sessions that have used none; so does
// BOUGH_MODEL, which has precedence over the settings.
Result<void> applySettings(const Settings& settings, ChatRequest& request) {
  agent::ChatOptions& options = request.options;
  if (environmentVariable("BOUGH_MODEL").empty()) options.defaultModel = settings.model;
  options.defaultThinking = settings.thinking;
  if (!options.systemPrompt && !settings.system.empty()) {
    // The path of a file is relative to the settings, wherever the chat begins.
    const std::string_view name = std::string_view(settings.system).substr(1);
    const bool isBeside = settings.system.starts_with('@') && !name.starts_with('/') && !name.starts_with("~/");
    const auto folder = std::filesystem::path(settingsPath()).parent_path();
    BOUGH_TRY(options.defaultSystemPrompt,
              textOrFile(isBeside ? "@" + (folder / name).string() : settings.system, "the setting system"));
  }
  options.http.providers = settings.providers;
  BOUGH_TRY(options.folder, withHome(options.folder));
  auto opened = agent::WorkingFolder::open(options.folder.empty() ? "." : options.folder);
  if (!opened) {
    opened.error().hint = options.folder.empty() ? "the tools work in the current folder; cd to a folder that exists"
                                                 : "--folder names the folder in which the tools work";
    return std::unexpected(opened.error());
  }
  const agent::WorkingFolder& folder = *opened;
  request.folder = folder.path();
  for (const std::string& each : settings.commands) options.allowedCommands.push_back(each);
  for (const auto& [name, permissions] : settings.folders) {
    std::error_code problem;
    if (name == folder.path() || std::filesystem::weakly_canonical(name, problem) != folder.path()) continue;
    printMessage(
        fmt::format("note: the permissions in the settings for {} have no effect: the real path of this folder is {}",
                    name, folder.path()));
  }
  const auto here = settings.folders.find(folder.path());
  if (here == settings.folders.end()) return {};
  for (const std::string& each : here->second.commands) options.allowedCommands.push_back(each);
  request.allowed.insert(here->second.exactly.begin(), here->second.exactly.end());
  return {};
}

}  // namespace

// `@FILE` stands for the content of that file.
Result<std::string> textOrFile(const std::string& given, const std::string& name) {
  if (!given.starts_with('@')) return given;
  constexpr std::size_t kMost = std::size_t{1} << 20;
  BOUGH_TRY(const std::string path, withHome(given.substr(1)));
  auto text = readNamedFile(path, kMost);
  if (!text) {
    text.error().hint = text.error().message.contains("is larger")
                            ? "name a shorter file"
                            : fmt::format("{} takes a text, or @ and a file", name);
  }
  return text;
}

Result<ExitCode> startChat(const Context& context, ChatRequest request) {
  const std::string location = context.resolvedLocation();
  request.options.storeAddress = location;
  if (!context.backend && !isPostgresLocation(location)) request.options.storeFolder = location;
  request.options.userInstructions = userInstructions();
  BOUGH_TRY(const Settings settings, readSettings());
  for (const agent::OwnProvider& each : settings.providers) agent::Secrets::addVariable(each.keyVariable);
  agent::Secrets::hideFromTools();
  BOUGH_TRY(applySettings(settings, request));
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
  request.options.askBeforeChanges = interactive && !request.allowed.contains(std::string(agent::kChangeFiles));
  if (interactive) return runRepl(context, request);
  request.choice.exact = true;
  request.choice.existing = request.finishOnly;
  return runPipedChat(context, request);
}

}  // namespace bough::cli
