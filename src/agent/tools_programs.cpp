// The tools that run a program: grep and bash.
#include <fmt/format.h>

#include <algorithm>

#include "agent/json_parts.h"
#include "agent/tools.h"

namespace bough::agent {
namespace {

ToolOutcome failed(std::string text) {
  return {.text = std::move(text), .isError = true};
}

Result<Place> searchPlace(const std::string& arguments, const ToolEnvironment& environment) {
  return environment.folder.resolve(json::findString(arguments, "path").value_or("."));
}

std::optional<std::string> askGrep(const std::string& arguments, const ToolEnvironment& environment) {
  const auto place = searchPlace(arguments, environment);
  if (!place || place->inside) return std::nullopt;
  return fmt::format("search {}, which is outside of {}", place->path, environment.folder.path());
}

// The system's grep does not follow links it meets below the folder, and can be stopped.
ToolOutcome runGrep(const std::string& arguments, const ToolEnvironment& environment, const CancelToken& cancel) {
  const auto pattern = json::findString(arguments, "pattern");
  if (!pattern) return failed("the argument pattern is missing or no string; nothing was done");
  const auto place = searchPlace(arguments, environment);
  if (!place) return failed(place.error().message);
  const bool beside = place->inside && place->path != environment.folder.path();
  const std::string where = place->path == environment.folder.path() ? "."
                            : beside ? place->path.substr(environment.folder.path().size() + 1)
                                     : place->path;
  std::vector<std::string> words = {"grep", "-rnHIE", "--color=never", "--exclude-dir=.git", "-m", "200"};
  if (const auto files = json::findString(arguments, "files")) words.push_back("--include=" + *files);
  words.insert(words.end(), {"-e", *pattern, "--", where});
  auto outcome =
      runProcess(words, environment.folder.path(),
                 {.time = std::chrono::milliseconds(60'000), .outputBytes = environment.limits.outputBytes}, cancel);
  if (!outcome) return failed(outcome.error().message);
  if (outcome->cancelled) return failed("stopped by the user");
  if (outcome->timedOut) return failed("stopped after 60 s:\n" + outcome->output);
  if (outcome->exitCode == 1 && outcome->output.empty()) return {.text = "[nothing found]"};
  return {.text = std::move(outcome->output), .isError = outcome->exitCode > 1};
}

std::optional<std::string> askBash(const std::string& arguments, const ToolEnvironment& environment) {
  const auto command = json::findString(arguments, "command");
  if (!command || isAllowedCommand(*command, environment.allowedCommands)) return std::nullopt;
  return fmt::format("run: {}", *command);
}

ToolOutcome runBash(const std::string& arguments, const ToolEnvironment& environment, const CancelToken& cancel) {
  const auto command = json::findString(arguments, "command");
  if (!command) return failed("the argument command is missing or no string; nothing was done");
  if (command->find('\0') != std::string::npos) return failed("the command holds a zero byte; nothing was done");
  const std::uint64_t asked = json::findUnsigned(arguments, "timeoutMs")
                                  .value_or(static_cast<std::uint64_t>(environment.limits.defaultTimeoutMs));
  const std::uint64_t time = std::min(asked, static_cast<std::uint64_t>(environment.limits.longestTimeoutMs));
  auto outcome =
      runProcess({"bash", "-c", *command}, environment.folder.path(),
                 {.time = std::chrono::milliseconds(time), .outputBytes = environment.limits.outputBytes}, cancel);
  if (!outcome) return failed(outcome.error().message);
  std::string text = asText(outcome->output, environment.limits.outputBytes * 2);
  if (outcome->cancelled) return failed(text + "\n[stopped by the user]");
  if (outcome->timedOut) return failed(fmt::format("{}\n[stopped after {} ms]", text, time));
  if (outcome->exitCode != 0) return failed(fmt::format("{}\n[exit code {}]", text, outcome->exitCode));
  return {.text = text.empty() ? "[no output]" : std::move(text)};
}

}  // namespace

Tool grepTool() {
  return {.name = "grep",
          .description = "Search files for an extended regular expression. Gives file, line number and line.",
          .parameters = R"({"type":"object","properties":{"pattern":{"type":"string","description":"The expression"},)"
                        R"("path":{"type":"string","description":"A file or folder; left out: the working folder"},)"
                        R"("files":{"type":"string","description":"Only files of such names, as *.cpp"}},)"
                        R"("required":["pattern"]})",
          .safeToRepeat = true,
          .question = askGrep,
          .run = runGrep};
}

Tool bashTool() {
  return {.name = "bash",
          .description = "Run a command with bash in the working folder. Gives what it prints and how it ended.",
          .parameters = R"({"type":"object","properties":{"command":{"type":"string","description":"The command"},)"
                        R"("timeoutMs":{"type":"integer","description":"The longest it may take"}},)"
                        R"("required":["command"]})",
          .safeToRepeat = false,
          .question = askBash,
          .run = runBash};
}

}  // namespace bough::agent
