#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/agent/chat.h"
#include "bough/catalog.h"
#include "bough/store.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/repl/chat_listener.h"
#include "cli/repl/chat_session.h"
#include "cli/repl/repl.h"
#include "cli/terminal/input.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

struct Options {
  agent::ChatOptions chat;
  std::string session;
  std::string prompt;
  std::string onConflict = "refuse";
  std::string compactAt = "80";
  bool fresh = false;
  bool resumeOnly = false;
  bool modelTable = false;
};

Result<void> applyTexts(Options& options, const Context& context) {
  options.chat.onConflict = options.onConflict == "branch" ? agent::OnConflict::Branch : agent::OnConflict::Refuse;
  const std::string location = context.resolvedLocation();
  if (!context.backend && !isPostgresLocation(location)) options.chat.storeFolder = location;
  char* end = nullptr;
  const double percent = std::strtod(options.compactAt.c_str(), &end);
  if (end == options.compactAt.c_str() || *end != '\0' || !(percent >= 0) || percent > 100) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--compact-at {} is not a number from 0 to 100", options.compactAt),
                "give a percentage of the context window of the model; 0 means never");
  }
  options.chat.compactShare = percent / 100;
  return {};
}

void printOpened(const OpenedChat& opened, bool json) {
  if (json) {
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("schema", std::uint64_t{1}).member("event", "session");
    writer.member("sessionId", opened.chat->sessionId()).member("model", opened.chat->model());
    writer.member("restoredTurns", opened.restoredTurns).endObject();
    printJsonLine(out);
  } else if (opened.restoredTurns > 0) {
    printMessage(fmt::format("Restored: {} turn{}", opened.restoredTurns, opened.restoredTurns == 1 ? "" : "s"));
  }
}

// Asks on the terminal, if there is one, though the answer goes elsewhere.
std::optional<std::string> askOnTerminal(Input& input, const std::string& question) {
  if (!stdinIsTerminal()) return std::nullopt;
  printQuestion(question);
  const auto line = input.nextLine();
  if (!line || !*line) return std::nullopt;
  return std::string((*line)->text);
}

// One line, and those that follow while a backslash stands at the end. None at the end of the input.
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

Result<ExitCode> runPrompts(const Context& context, Options& options) {
  JsonListener jsonListener;
  const CancelOnSignal signals;
  Input input(UINT64_MAX, [&] { return signals.token().requested(); });
  TextListener textListener([&](const std::string& question) { return askOnTerminal(input, question); });
  agent::Listener& listener = context.json ? static_cast<agent::Listener&>(jsonListener) : textListener;
  BOUGH_TRY(auto opened,
            openChat(context, options.chat, options.session, options.fresh, listener, signals.token(), /*exact=*/true));
  printOpened(opened, context.json);
  auto resumed = opened.chat->resume(options.resumeOnly ? agent::ResumeWhat::AlsoMessages : agent::ResumeWhat::Own);
  if (!resumed && options.resumeOnly) return std::unexpected(resumed.error());
  // An old turn that cannot be finished is closed by that: it does not keep back what is to be said now.
  if (!resumed) printError(resumed.error(), context.json);
  if (resumed && resumed->aborted) return kProblem;
  if (options.resumeOnly) return kDone;
  if (!options.prompt.empty()) {
    BOUGH_TRY(auto report, opened.chat->say(options.prompt));
    return report.aborted || !report.problem.empty() ? kProblem : kDone;
  }
  for (ExitCode code = kDone;;) {
    auto prompt = nextPrompt(input);
    if (!prompt) return refuseData(prompt.error(), context.json);
    if (!*prompt) return code;
    if ((*prompt)->find_first_not_of(" \t\r\n") == std::string::npos) continue;
    auto report = opened.chat->say(**prompt);
    if (report && report->aborted) return kProblem;
    if (report && !report->problem.empty()) code = kProblem;
    if (report) continue;
    if (report.error().retryable) return std::unexpected(report.error());
    printError(report.error(), context.json);
    code = kProblem;
  }
}

Result<ExitCode> run(const Context& context, Options& options) {
  BOUGH_TRY(applyTexts(options, context));
  const bool interactive =
      options.prompt.empty() && !options.resumeOnly && !context.json && stdinIsTerminal() && stdoutIsTerminal();
  if (options.modelTable) {
    printText(std::string(agent::modelTableText()));
    return kDone;
  }
  if (interactive) return runRepl(context, options.chat, options.session, options.fresh);
  return runPrompts(context, options);
}

}  // namespace

Command chatCommand() {
  auto options = std::make_shared<Options>();
  return {
      .name = "chat",
      .summary = "Talk with a model that can use tools",
      .details =
          "Continues the session of the working folder, or makes one. Every step is stored before it takes effect, "
          "so a turn that was interrupted is finished on the next start. A model is named PROVIDER/MODEL. Keys "
          "come from the usual variables (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, "
          "OPENROUTER_API_KEY). Without a key, the built-in model offline/echo answers; it needs neither a key "
          "nor a network. On a terminal this is a REPL; /help lists its commands. Otherwise every line of stdin "
          "is a prompt.",
      .examples =
          "  bough chat\n"
          "  bough chat -p \"What is in this folder?\" --yes\n"
          "  bough chat --model anthropic/claude-sonnet-5-5 --key work:cli:me\n"
          "  bough chat -p \"hello\" --json",
      .options =
          {{.name = "-p,--prompt",
            .help = "Send this prompt, print the answer, and end",
            .target = &options->prompt,
            .value = "TEXT"},
           {.name = "--model",
            .help =
                "PROVIDER/MODEL; default: the model of the session, else $BOUGH_MODEL, else a model whose key is set",
            .target = &options->chat.model,
            .value = "NAME"},
           {.name = "--key",
            .help = "Continue the current session of this key; default: main:cli:user",
            .target = &options->chat.key,
            .value = "KEY"},
           {.name = "--session", .help = kSessionHelp, .target = &options->session, .value = "SESSION"},
           {.name = "--new", .help = "Begin a new session under the key", .target = &options->fresh},
           {.name = "--continue",
            .help = "Only finish a turn that was interrupted, or answer a message that another program appended",
            .target = &options->resumeOnly},
           {.name = "--folder",
            .help = "Where the tools work; default: the current folder",
            .target = &options->chat.folder,
            .value = "FOLDER"},
           {.name = "--yes", .help = "Do not ask: allow every tool call", .target = &options->chat.askNothing},
           {.name = "--allow",
            .help = "A command that bash may run without asking, such as `git status`, with harmless arguments; may be "
                    "repeated",
            .target = &options->chat.allowedCommands,
            .value = "COMMAND"},
           {.name = "--thinking",
            .help = "How much the model thinks",
            .target = &options->chat.thinkingLevel,
            .choices = {"off", "low", "medium", "high"}},
           {.name = "--on-conflict",
            .help = "What to do when another chat has continued the session",
            .target = &options->onConflict,
            .choices = {"refuse", "branch"}},
           {.name = "--compact-at",
            .help = "Compact when the context fills this share of the window of the model; default: 80, 0: never",
            .target = &options->compactAt,
            .value = "PERCENT"},
           {.name = "--model-table",
            .help = "Print what is known about models and end; BOUGH_MODELS names a file to use in its place",
            .target = &options->modelTable},
           {.name = "--window",
            .help = "The window of the model in tokens; default: known from its name",
            .target = &options->chat.windowTokens,
            .value = "N"}},
      .values = options,
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli
