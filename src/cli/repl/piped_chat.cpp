#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/typed_text.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "cli/repl/chat_listener.h"
#include "cli/repl/repl_commands.h"
#include "cli/repl/start_chat.h"
#include "cli/repl/typed_line.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

void printOpened(const OpenedChat& opened, bool json) {
  if (json) {
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("event", "session");
    writer.member("sessionId", opened.chat->sessionId()).member("model", opened.chat->model());
    printJsonLine(writer.member("restoredTurns", opened.restoredTurns).endObject().text());
  } else if (opened.restoredTurns > 0) {
    printMessage("Restored: " + counted(opened.restoredTurns, "turn"));
  }
}

// Asks on the terminal, if stdin is one, even when the answer goes elsewhere.
std::optional<std::string> askOnTerminal(Input& input, const std::string& question) {
  if (!stdinIsTerminal()) return std::nullopt;
  printQuestion(question);
  const auto line = input.nextLine();
  if (!line || !*line) return std::nullopt;
  return std::string((*line)->text);
}

// Reads one line, and the following lines as long as each ends in a backslash. Returns std::nullopt at the end of the
// input.
Result<std::optional<std::string>> nextPrompt(Input& input) {
  std::optional<std::string> prompt;
  for (;;) {
    BOUGH_TRY(const auto line, input.nextLine());
    if (!line) return prompt;
    prompt = prompt.value_or("").append(line->text);
    if (!prompt->ends_with('\\')) return prompt;
    prompt->back() = '\n';
  }
}

// Reads piped input as the context of the prompt.
Result<std::string> pipedContext(Input& input) {
  struct stat info{};
  const bool piped =
      ::fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode));
  if (!piped) return std::string();
  // Many programs leave a pipe open without ever writing to it.
  constexpr int kFirstMs = 3'000;
  constexpr int kLastMs = 27'000;
  pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, kFirstMs) == 0) {
    printMessage("waiting for stdin, which is sent with the prompt; `< /dev/null` sends nothing");
    if (::poll(&ready, 1, kLastMs) == 0) {
      printMessage("nothing came on stdin for 30 s; the prompt is sent without it");
      return std::string();
    }
  }
  BOUGH_TRY(std::string text, input.rest());
  if (!json::check(json::quoted(text))) {
    return fail(ErrorCode::InvalidArgument, "what was piped to the chat is not valid UTF-8",
                "nothing was sent; `iconv -t UTF-8` converts a text");
  }
  return text;
}

Result<ExitCode> runPrompt(OpenedChat& opened, Input& input, const std::string& prompt) {
  BOUGH_TRY(auto message, opened.chat->readPrompt(prompt, agent::PromptFiles::Anywhere));
  BOUGH_TRY(const std::string piped, pipedContext(input));
  if (piped.find_first_not_of(" \t\r\n") != std::string::npos) {
    message.blocks.push_back(agent::textBlock(stdinBlock(piped)));
  }
  BOUGH_TRY(auto report, opened.chat->say(message));
  if (report.aborted) return CancelOnSignal::exitCode();
  return report.problem.empty() ? kDone : kProblem;
}

// Processes the lines of stdin: commands of the chat, and messages.
class PipedLines {
 public:
  PipedLines(const Context& context, const ChatRequest& request, OpenedChat& opened)
      : context_(context), allowAll_(request.options.askNothing), opened_(opened), commands_(context, opened) {}

  [[nodiscard]] bool hasQuit() const { return commands_.hasQuit(); }

  Result<agent::TurnReport> handle(const std::string& line) {
    const TypedLine typed = readTypedLine(line);
    if (typed.kind == TypedLine::Kind::Empty) return agent::TurnReport{};
    if (typed.kind != TypedLine::Kind::Message) {
      BOUGH_TRY(runCommand(typed, line));
      return agent::TurnReport{};
    }
    BOUGH_TRY(const auto message, opened_.chat->readPrompt(typed.text, allowAll_ ? agent::PromptFiles::Anywhere
                                                                                 : agent::PromptFiles::InFolder));
    return opened_.chat->say(message);
  }

 private:
  // With --json, the output of a command is one event.
  Result<void> runCommand(const TypedLine& typed, const std::string& line) {
    if (!context_.json) return dispatch(typed);
    Result<void> done;
    json::Writer writer;
    writer.beginObject().member("schema", 1).member("event", "command");
    writer.member("name", opened_.chat->withoutKeys(line));
    {
      const OutputCapture output;
      done = dispatch(typed);
      writer.member("text", output.text()).member("isError", !done.has_value()).endObject();
    }
    printJsonLine(writer.text());
    return done;
  }

  // Piped input may come from anywhere, so a `!` in it does not run programs without permission.
  Result<void> dispatch(const TypedLine& typed) {
    if (typed.kind == TypedLine::Kind::Command) return commands_.run(typed.text);
    if (allowAll_) return commands_.runShell(typed.text);
    return fail(ErrorCode::InvalidArgument,
                fmt::format("a piped line cannot run the command {}", opened_.chat->withoutKeys(typed.text)),
                "pass --yes to allow it; begin a line with !! to send a message that begins with !");
  }

  const Context& context_;
  bool allowAll_;
  OpenedChat& opened_;
  ReplCommands commands_;
};

Result<ExitCode> runLines(const Context& context, PipedLines& lines, Input& input) {
  for (ExitCode code = kDone;;) {
    auto prompt = lines.hasQuit() ? Result<std::optional<std::string>>() : nextPrompt(input);
    if (!prompt) return refuseData(prompt.error(), context.json);
    if (!*prompt) return code;
    auto report = lines.handle(**prompt);
    if (report && report->aborted) return CancelOnSignal::exitCode();
    if (report && !report->problem.empty()) code = kProblem;
    if (report) continue;
    if (report.error().retryable) return std::unexpected(report.error());
    printError(forChat(report.error()), context.json);
    code = kProblem;
  }
}

Result<ExitCode> runOpened(const Context& context, const ChatRequest& request, OpenedChat& opened, Input& input) {
  printOpened(opened, context.json);
  auto resumed = opened.chat->resume(request.finishOnly ? agent::ResumeWhat::AlsoMessages : agent::ResumeWhat::Own);
  if (!resumed && request.finishOnly) return std::unexpected(resumed.error());
  // An old turn that cannot be finished is thereby closed, so that it does not block the new prompt.
  if (!resumed) printError(resumed.error(), context.json);
  if (resumed && resumed->aborted) return CancelOnSignal::exitCode();
  if (request.finishOnly) return kDone;
  if (!request.prompt.empty()) {
    auto said = runPrompt(opened, input, request.prompt);
    // The cause that blocked the old turn may block this one as well, and was reported already.
    if (!said && !resumed && said.error().message == resumed.error().message) return kProblem;
    return said;
  }
  PipedLines lines(context, request, opened);
  return runLines(context, lines, input);
}

}  // namespace

Result<ExitCode> runPipedChat(const Context& context, const ChatRequest& request) {
  JsonListener jsonListener;
  const CancelOnSignal signals;
  Input input(UINT64_MAX, [&] { return signals.token().requested(); });
  TextListener textListener([&](const std::string& question) { return askOnTerminal(input, question); }, request.folder,
                            request.allowed);
  agent::Listener& listener = context.json ? static_cast<agent::Listener&>(jsonListener) : textListener;
  BOUGH_TRY(auto opened, openChat(context, request.options, request.choice, listener, signals.token()));
  auto code = runOpened(context, request, opened, input);
  removeUnusedSession(opened);
  return code;
}

}  // namespace bough::cli
