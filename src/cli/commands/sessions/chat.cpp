#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "agent/rules/command_rules.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/commands/commands.h"
#include "cli/names/session_name.h"
#include "cli/repl/start_chat.h"
#include "cli/terminal/output.h"

namespace bough::cli::chat_command {
namespace {

constexpr const char* kPick = "?";  // the value of --resume without a session

struct Options {
  ChatRequest request;
  std::vector<std::string> words;  // a prompt without -p
  std::string resume;
  std::string system;
  std::string onConflict = "refuse";
  std::string compactAt = "80";
  bool modelTable = false;
};

Result<double> compactShare(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && percent >= 0 && percent <= 100) return percent / 100;
  return fail(ErrorCode::InvalidArgument, fmt::format("--compact-at {} is not a number from 0 to 100", text),
              "give a percentage of the context window of the model; 0 means never");
}

Result<void> chooseSession(Options& options) {
  ChatChoice& choice = options.request.choice;
  const int ways = (choice.session.empty() ? 0 : 1) + (options.resume.empty() ? 0 : 1) + (choice.last ? 1 : 0) +
                   (choice.fresh ? 1 : 0);
  if (ways > 1) {
    return fail(ErrorCode::InvalidArgument, "--session, --resume, --continue and --new cannot be given together",
                "give one of them");
  }
  choice.pick = options.resume == kPick;
  if (!choice.pick && !options.resume.empty()) choice.session = options.resume;
  return {};
}

Result<ExitCode> run(const Context& context, Options& options) {
  if (options.modelTable) {
    printText(std::string(agent::modelTableText()));
    return kDone;
  }
  ChatRequest& request = options.request;
  request.options.onConflict = options.onConflict == "branch" ? agent::OnConflict::Branch : agent::OnConflict::Refuse;
  BOUGH_TRY(request.options.compactShare, compactShare(options.compactAt));
  for (const std::string& each : request.options.allowedCommands) {
    if (const std::string why = agent::whyAllowsNothing(each); !why.empty()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("--allow {} allows nothing", text::excerpt(each, 60)), why);
    }
  }
  if (!options.system.empty()) {
    BOUGH_TRY(request.options.systemPrompt, textOrFile(options.system, "--system"));
  }
  request.promptOnly = !request.prompt.empty();
  if (request.promptOnly && !options.words.empty()) {
    return fail(ErrorCode::InvalidArgument, "the prompt is given twice", "give it with -p or as an argument");
  }
  if (!request.promptOnly) request.prompt = fmt::format("{}", fmt::join(options.words, " "));
  BOUGH_TRY(chooseSession(options));
  return startChat(context, request);
}

}  // namespace

Command define() {
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
          "is a prompt, or one of these commands. AGENTS.md and CLAUDE.md of the folder, its parents and your own "
          "(~/.config/bough/AGENTS.md) are part of the system prompt. In a prompt, @FILE sends a file, an image or a "
          "PDF. With -p, -c or -r the word chat may be left out: bough -c.",
      .examples =
          "  bough chat\n"
          "  bough chat --continue\n"
          "  git diff | bough chat -p \"Review this change\"\n"
          "  bough chat -p \"What is in this folder?\" --yes\n"
          "  bough chat --model anthropic/claude-sonnet-5-5 --key work:cli:me\n"
          "  bough chat -p \"hello\" --json",
      .options =
          {{.name = "PROMPT",
            .help = "The first prompt; without a terminal, the same as -p",
            .target = &options->words},
           {.name = "-p,--prompt",
            .help = "Send this prompt, with stdin as its context, print the answer, and end",
            .target = &options->request.prompt,
            .value = "TEXT"},
           {.name = "--model",
            .help =
                "PROVIDER/MODEL; default: the model of the session, else $BOUGH_MODEL, else a model whose key is set",
            .target = &options->request.options.model,
            .value = "NAME"},
           {.name = "--key",
            .help = "Continue the current session of this key; default: the session of this folder",
            .target = &options->request.options.key,
            .value = "KEY",
            .conflictsWith = {"--session", "--resume", "--continue"}},
           {.name = "--session", .help = kSessionHelp, .target = &options->request.choice.session, .value = "SESSION"},
           {.name = "--new",
            .help = "Start a new session, with the key of --key if given",
            .target = &options->request.choice.fresh},
           {.name = "-c,--continue",
            .help = "Continue the most recent session of this folder",
            .target = &options->request.choice.last},
           {.name = "-r,--resume",
            .help = "Continue this session, as --session does; without SESSION, pick one on the terminal",
            .target = &options->resume,
            .value = "SESSION",
            .valueWhenBare = kPick},
           {.name = "--finish",
            .help = "Only finish a turn that was interrupted, or answer a message that another program appended",
            .target = &options->request.finishOnly,
            .conflictsWith = {"--prompt", "PROMPT"}},
           {.name = "--system",
            .help = "A system prompt of your own, or @FILE; default: what the session has recorded",
            .target = &options->system,
            .value = "TEXT"},
           {.name = "--folder,--cwd",
            .help = "Where the tools work; default: the current folder",
            .target = &options->request.options.folder,
            .value = "FOLDER"},
           {.name = "--yes",
            .help = "Do not ask: allow every tool call",
            .target = &options->request.options.askNothing},
           {.name = "--allow",
            .help = "A command that bash may run without asking, such as `git status`, with harmless arguments; may be "
                    "repeated",
            .target = &options->request.options.allowedCommands,
            .value = "COMMAND"},
           {.name = "--thinking",
            .help = "How much the model thinks",
            .target = &options->request.options.thinkingLevel,
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
            .help = "Print the built-in table of models and end; BOUGH_MODELS names a file to use in its place",
            .target = &options->modelTable,
            .conflictsWith = {"--prompt", "PROMPT", "--json"}},
           {.name = "--window",
            .help = "The window of the model in tokens; default: known from its name",
            .target = &options->request.options.windowTokens,
            .value = "N"}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::chat_command
