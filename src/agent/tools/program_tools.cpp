// The tools that run a program: grep and bash.
#include <fmt/format.h>

#include <algorithm>

#include "agent/parts/json_parts.h"
#include "agent/rules/command_rules.h"
#include "agent/tools/builtin.h"
#include "agent/tools/process.h"

namespace bough::agent {
namespace {

// Returns the prefix for the names that grep prints: the path as the model named it, when it is inside the working
// folder.
std::string prefixOf(const Place& place, const WorkingFolder& folder) {
  if (!place.inside || !place.path.starts_with(folder.path())) return place.path;
  if (place.path == folder.path()) return ".";
  return place.path.substr(folder.path() == "/" ? 1 : folder.path().size() + 1);
}

// grep runs in the folder it searches and names files `./…`; replaces that with the names that the model knows.
std::string withPrefix(std::string_view output, const std::string& prefix) {
  std::string out;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size() - 1) + 1;
    std::string_view line = output.substr(0, end);
    output.remove_prefix(end);
    if (line.starts_with("./")) {
      out += prefix;
      line.remove_prefix(1);
    }
    out += line;
  }
  return out;
}

// Returns an argument that becomes a word of a command line; std::nullopt when the call does not give it.
Result<std::optional<std::string>> wordArgument(const std::string& arguments, const char* name) {
  if (!json::findMember(arguments, name)) return std::nullopt;
  auto value = json::findString(arguments, name);
  if (value && value->find('\0') == std::string::npos) return value;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("the argument {} is not a string or holds a zero byte; nothing was done", name));
}

// The system's grep follows no links below its folder, and can be stopped. It gets the place as an open folder or file,
// so that it cannot be redirected.
ToolOutcome grepAt(const std::string& arguments, const Place& place, const ToolEnvironment& environment,
                   const CancelToken& cancel) {
  const auto pattern = wordArgument(arguments, "pattern");
  const auto files = wordArgument(arguments, "files");
  if (!pattern || !files) return failed((pattern ? files : pattern).error());
  if (!*pattern) return failed("the argument pattern is missing; nothing was done");
  const std::string prefix = prefixOf(place, environment.folder);
  std::vector<std::string> words = {"grep", "-nHIE", "--color=never", "-m", "200"};
  Result<Descriptor> folder = WorkingFolder::openFolder(place);
  Result<Descriptor> file = folder ? Descriptor() : WorkingFolder::openFile(place);
  if (!file) return failed(file.error().message);
  if (folder) {
    words.insert(words.end(), {"-r", "--exclude-dir=.git"});
    if (*files) words.push_back("--include=" + **files);
  } else {
    words.push_back("--label=" + prefix);
  }
  words.insert(words.end(), {"-e", **pattern, "--", folder ? "." : "-"});
  auto outcome = runProcess({.arguments = words,
                             .folder = folder ? folder->get() : environment.folder.descriptor(),
                             .input = file->get(),
                             .time = std::chrono::milliseconds(60'000),
                             .outputBytes = environment.limits.outputBytes},
                            cancel);
  if (!outcome) return failed(outcome.error().message);
  if (outcome->cancelled) return failed("stopped by the user");
  if (folder) outcome->output = withPrefix(outcome->output, prefix);
  if (outcome->timedOut) return failed("stopped after 60 s:\n" + outcome->output);
  if (outcome->exitCode == 1 && outcome->output.empty()) return {.text = "[nothing found]"};
  return {.text = std::move(outcome->output), .isError = outcome->exitCode > 1};
}

PreparedCall prepareGrep(const std::string& arguments, const ToolEnvironment& environment) {
  const auto path = wordArgument(arguments, "path");
  if (!path) return failedCall(path.error());
  auto place = givenPlace(path->value_or("."), environment.folder);
  if (!place) return failedCall(place.error());
  PreparedCall prepared;
  if (!place->inside) {
    prepared.question =
        fmt::format("search {}, which is outside of {}", visibleText(place->path), environment.folder.path());
    prepared.permission = *prepared.question;
    prepared.allows = "exactly this";
  }
  prepared.run = [arguments, &environment, place = std::move(*place)](const CancelToken& cancel) {
    return grepAt(arguments, place, environment, cancel);
  };
  return prepared;
}

// Passes on a command's output in whole lines, and a very long line in parts, none of which ends within a key.
class OutputLines {
 public:
  explicit OutputLines(const ToolEnvironment& environment) : environment_(environment) {}

  void add(std::string_view bytes) {
    constexpr std::size_t kLongestLine = std::size_t{64} << 10;
    waiting_ += bytes;
    const std::size_t end = waiting_.rfind('\n');
    const bool isLong = end == std::string::npos && waiting_.size() > kLongestLine;
    forward(isLong ? waiting_.size() - environment_.secrets.openBytes(waiting_) : end + 1);
  }
  void forwardAll() { forward(waiting_.size()); }

 private:
  void forward(std::size_t bytes) {
    if (bytes == 0) return;
    environment_.output(environment_.secrets.redact(asText(std::string_view(waiting_).substr(0, bytes), bytes)));
    waiting_.erase(0, bytes);
  }

  const ToolEnvironment& environment_;
  std::string waiting_;
};

ToolOutcome runBash(const std::string& command, std::uint64_t timeMs, const ToolEnvironment& environment,
                    const CancelToken& cancel) {
  ProcessRequest request{.arguments = {"bash", "-c", command},
                         .folder = environment.folder.descriptor(),
                         .time = std::chrono::milliseconds(timeMs),
                         .outputBytes = environment.limits.outputBytes};
  OutputLines lines(environment);
  if (environment.output) request.output = [&](std::string_view bytes) { lines.add(bytes); };
  auto outcome = runProcess(request, cancel);
  lines.forwardAll();
  if (!outcome) return failed(outcome.error().message);
  std::string text = asText(outcome->output, environment.limits.outputBytes * 2, outcome->outputBytes);
  if (outcome->cancelled) return failed(text + "\n[stopped by the user]");
  if (outcome->timedOut) return failed(fmt::format("{}\n[stopped after {} ms]", text, timeMs));
  if (text.empty() && outcome->exitCode == 0) text = "[no output]";
  if (outcome->leftOthers) text += "\n[the command left processes running in the background; they were ended with it]";
  if (outcome->exitCode != 0) return failed(fmt::format("{}\n[exit code {}]", text, outcome->exitCode));
  return {.text = std::move(text)};
}

PreparedCall prepareBash(const std::string& arguments, const ToolEnvironment& environment) {
  const auto command = json::findString(arguments, "command");
  if (!command) return failedCall("the argument command is missing or not a string; nothing was done");
  if (command->find('\0') != std::string::npos) return failedCall("the command holds a zero byte; nothing was done");
  const auto asked =
      numberArgument(arguments, "timeoutMs", static_cast<std::uint64_t>(environment.limits.defaultTimeoutMs));
  if (!asked) return failedCall(asked.error());
  const std::uint64_t time = std::min(*asked, static_cast<std::uint64_t>(environment.limits.longestTimeoutMs));
  PreparedCall prepared;
  const WorkingFolder* const folder = &environment.folder;
  if (!isAllowedCommand(*command, environment.allowedCommands, folder)) {
    prepared.question = commandQuestion(*command, environment.allowedCommands, folder);
    prepared.permission = "run " + *command;
    prepared.allows = "this command";
  }
  prepared.run = [command = *command, time, &environment](const CancelToken& cancel) {
    return runBash(command, time, environment, cancel);
  };
  return prepared;
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
          .prepare = prepareGrep};
}

Tool bashTool() {
  return {.name = "bash",
          .description = "Run a command with bash in the working folder. Gives what it prints and how it ended.",
          .parameters = R"({"type":"object","properties":{"command":{"type":"string","description":"The command"},)"
                        R"("timeoutMs":{"type":"integer","description":"The longest it may take"}},)"
                        R"("required":["command"]})",
          .safeToRepeat = false,
          .prepare = prepareBash};
}

}  // namespace bough::agent
