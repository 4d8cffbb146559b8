#include "cli/definition/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <span>

#include "bough/version.h"
#include "cli/definition/help.h"

namespace bough::cli {
namespace {

constexpr std::string_view kNames =
    "SESSION is the id of a session, the beginning or end of one when that is unique, a key, a part of a title when "
    "that "
    "is unique, `@last` (the most recent one), `@3` (the third of the last `bough ls`), or the path of a session file. "
    "Commands that change a session take its whole id, at least 8 characters of an id that bough made, its key or its "
    "path. ENTRY is the id of an entry, the beginning or end of one (where something is changed, at least 8 characters "
    "of it), a label, `@head`, `@root`, or one of these with `~3` for the third entry before it.";

constexpr std::string_view kExits =
    "0 done, 1 a problem in the data, 2 wrong use, 130 stopped by Ctrl-C. Data goes to stdout, messages to stderr. "
    "With `--json` the output "
    "has a "
    "stable shape with a `schema` number, and an error is `{\"error\":{\"code\",\"message\",\"hint\",\"retryable\"}}` "
    "on "
    "stderr.";

struct ManualRow {
  std::string_view name;
  std::string_view text;
};

constexpr auto kEnvironment = std::to_array<ManualRow>({
    {"BOUGH_STORE", "The store, when --store does not name one."},
    {"PGPASSWORD", "The password of a store in PostgreSQL."},
    {"XDG_DATA_HOME", "The store is in its folder bough, when neither --store nor BOUGH_STORE names one."},
    {"XDG_CONFIG_HOME", "The settings are in its folder bough. Default: ~/.config."},
    {"XDG_CACHE_HOME",
     "What can be rebuilt, such as the list of other agents' sessions, is in its folder bough. "
     "Default: ~/.cache."},
    {"BOUGH_MODEL", "The model of sessions that have not used one yet: PROVIDER/MODEL."},
    {"BOUGH_MODELS", "A table of models to use instead of the built-in one, which bough chat --model-table prints."},
    {"BOUGH_PRICES", "A file with prices of models, for costs; bough help usage says more."},
    {"ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, OPENROUTER_API_KEY",
     "Keys of the providers that bough chat can use."},
    {"ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL, OPENROUTER_BASE_URL, OLLAMA_HOST, "
     "BOUGH_LOCAL_BASE_URL",
     "Other servers of these providers."},
    {"https_proxy, http_proxy, all_proxy, no_proxy", "Proxies for the connections to providers."},
    {"SSL_CERT_FILE, SSL_CERT_DIR", "Certificates to trust."},
    {"GIT_DIR, GIT_COMMON_DIR, GIT_CONFIG_SYSTEM, GIT_CONFIG_GLOBAL, GIT_CONFIG_COUNT, GIT_CONFIG_PARAMETERS",
     "What git obeys; the agent asks before it writes to what they name."},
    {"HGRCPATH", "Where Mercurial's settings are; the agent asks before it writes there."},
    {"CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, OPENCLAW_STATE_DIR, PI_CODING_AGENT_DIR, "
     "PI_CODING_AGENT_SESSION_DIR",
     "Where other agents keep their sessions, as those agents read them."},
    {"PGCONNECT_TIMEOUT",
     "How many seconds to wait for each host of a store in PostgreSQL. Default: 5. Other variables of libpq work, "
     "too."},
    {"PAGER", "The program that shows long texts page by page on a terminal; empty or cat: none. Default: less -FRX."},
    {"LESS", "Options of less. Where it is not set, the pager gets FRX: colors, and short texts stay on the screen."},
    {"NO_COLOR", "When it is set and not empty, no colors are used."},
    {"CLICOLOR", "When it is 0, no colors are used."},
    {"CLICOLOR_FORCE", "When it is set and not 0, colors are used even without a terminal."},
    {"TERM", "dumb: show lists instead of pickers."},
    {"COLUMNS", "The width to use instead of the terminal's own."},
    {"TZ", "The time zone of the times that are shown."},
});

constexpr auto kFiles = std::to_array<ManualRow>({
    {"~/.config/bough/config.json", "The settings: model, providers, permissions, prices."},
    {"~/.config/bough/AGENTS.md", "Instructions for the model in every folder."},
    {"~/.local/share/bough", "The default store."},
    {"STORE/sessions/ID.jsonl",
     "The log of a session: one JSON object per line. Indexes and the catalog are built from the logs."},
    {"STORE/sessions/ID.idx", "Where each entry is in the log. It can be deleted; bough rebuilds it."},
    {"STORE/sessions/ID.torn", "What a crash left after the last complete entry, set aside."},
    {"STORE/attachments", "Large payloads, by their content."},
    {"STORE/archive", "Compressed sessions."},
    {"STORE/trash", "Removed sessions, until bough trash removes them for good."},
    {"STORE/catalog.db", "Titles, usage and the search index. It can be deleted; bough rebuilds it."},
    {"STORE/chat_history", "Lines that were typed in the chat."},
    {"STORE/listings", "What @1, @2 and so on mean in each terminal."},
    {"STORE/changes, STORE/turns.lock", "How processes tell each other what has changed, and who is in a turn."},
});

constexpr auto kExamples = std::to_array<ManualRow>({
    {"bough", "Choose a session and continue it; without a terminal, list the most recent ones."},
    {"bough chat", "Talk with a model. Without a key the built-in model answers."},
    {"git diff | bough chat -p \"Review this\"", "One turn, with what is piped to it."},
    {"bough resume SESSION", "Continue a session in the chat."},
    {"bough import claude-code", "Bring the sessions of another agent into the store."},
    {"bough search '\"exact words\" -without'", "Find what was said."},
    {"bough tree @last", "Show the branches of the most recent session."},
    {"bough switch SESSION @head~2", "Take the last two entries back; they stay as another branch."},
    {"bough show SESSION --format html > session.html", "Write a session as a page."},
    {"bough usage --by week", "Show what was used, and what it cost."},
});

std::string withChoices(const Option& option) {
  return option.choices.empty() ? option.help : fmt::format("{} ({})", option.help, fmt::join(option.choices, ", "));
}

// A bar would end a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char character : text) out += character == '|' ? std::string("\\|") : std::string(1, character);
  return out;
}

std::string markdownOptions(const std::vector<Option>& options) {
  if (options.empty()) return {};
  std::string out = "\n| | |\n|---|---|\n";
  for (const Option& option : options) {
    out += fmt::format("| `{}` | {} |\n", cell(optionSyntax(option)), cell(withChoices(option)));
  }
  return out;
}

// Escapes text for troff: a leading dot would be a request, a backslash an escape, a bare minus a hyphen; quotes would
// be lost or become curly and could not be copied into a shell.
std::string troff(std::string_view text) {
  std::string out;
  bool lineStart = true;
  for (const char character : text) {
    if (lineStart && character == '.') out += "\\&";
    lineStart = character == '\n';
    switch (character) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '"': out += "\\(dq"; break;
      case '\'': out += "\\(aq"; break;
      case '~': out += "\\(ti"; break;
      case '^': out += "\\(ha"; break;
      case '`': break;
      default: out += character;
    }
  }
  return out;
}

std::string manualOptions(const std::vector<Option>& options) {
  std::string out;
  for (const Option& option : options) {
    out += fmt::format(".TP\n.B {}\n{}\n", troff(optionSyntax(option)), troff(withChoices(option)));
  }
  return out;
}

std::string manualRows(std::span<const ManualRow> rows) {
  std::string out;
  for (const ManualRow& row : rows) out += fmt::format(".TP\n.B {}\n{}\n", troff(row.name), troff(row.text));
  return out;
}

}  // namespace

std::string markdownReference(const std::vector<CommandGroup>& groups) {
  std::string out = fmt::format(
      "# The `bough` command\n\nMade by `bough help --format markdown` from the definitions that `--help` "
      "shows.\n\n{}\n\n"
      "Exit codes: {}\n\n## For every command\n",
      kNames, kExits);
  Context context;
  out += markdownOptions(globalOptions(context));
  for (const CommandGroup& group : groups) {
    out += fmt::format("\n## {}\n", group.title);
    for (const Command& command : group.commands) {
      out += fmt::format("\n### `{}`\n\n{}.", usageLine(command), command.summary);
      if (!command.details.empty()) out += " " + command.details;
      out += "\n" + markdownOptions(command.options);
      if (!command.examples.empty()) out += fmt::format("\n```\n{}\n```\n", command.examples);
    }
  }
  return out;
}

std::string manualPage(const std::vector<CommandGroup>& groups) {
  std::string out = fmt::format(
      ".TH BOUGH 1 \"\" \"bough {}\" \"User Commands\"\n.SH NAME\nbough \\- durable, branching, portable sessions of "
      "AI "
      "agents\n.SH SYNOPSIS\n.B bough\n[COMMAND] [ARGUMENTS] [OPTIONS]\n.SH DESCRIPTION\n{}\n.SH OPTIONS\n",
      kVersion, troff(kNames));
  Context context;
  out += manualOptions(globalOptions(context));
  for (const CommandGroup& group : groups) {
    out += fmt::format(".SH {}\n", group.title == "bough" ? "ABOUT BOUGH" : group.title);
    for (const Command& command : group.commands) {
      out += fmt::format(".SS {}\n{}.", troff(usageLine(command)), troff(command.summary));
      if (!command.details.empty()) out += "\n" + troff(command.details);
      out += "\n" + manualOptions(command.options);
      if (!command.examples.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", troff(command.examples));
    }
  }
  out += ".SH ENVIRONMENT\n" + manualRows(kEnvironment) + ".SH FILES\n" + manualRows(kFiles);
  out += ".SH EXAMPLES\n" + manualRows(kExamples);
  out += fmt::format(".SH EXIT STATUS\n{}\n", troff(kExits));
  return out;
}

}  // namespace bough::cli
