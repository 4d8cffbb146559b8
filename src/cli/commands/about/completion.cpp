// Completes command lines for shells. The scripts only pass on the typed words; the candidates are found here, from the
// commands' definitions and the sessions of the store.

#include <algorithm>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/user_folders.h"
#include "cli/commands/about/completion_scripts.h"
#include "cli/commands/about/completion_values.h"
#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/terminal/output.h"

namespace bough::cli::completion_command {
namespace {

struct Options {
  std::string shell;
  std::vector<std::string> words;
};

using Definitions = std::vector<Option>;

Words optionNames(const Definitions& options, bool notes) {
  Words names;
  for (const Option& option : options) {
    if (option.isArgument()) continue;
    for (const std::string& name : option.names()) names.push_back(noted(name, helpNote(option.help, notes)));
  }
  return names;
}

// Returns the option that takes the next word as its value; null when `word` is not such an option.
const Option* taking(const Definitions& options, const std::string& word) {
  const auto found = std::ranges::find_if(
      options, [&](const Option& option) { return !option.isArgument() && !option.isFlag() && option.isCalled(word); });
  return found == options.end() ? nullptr : &*found;
}

// Returns candidates for the last of `words`, which follow the command's name.
Words candidatesOf(const Context& context, const Command& command, const Definitions& everywhere, const Words& words,
                   bool notes) {
  Definitions options = everywhere;
  options.insert(options.end(), command.options.begin(), command.options.end());
  std::size_t place = 0;
  Typed typed{.command = command.name, .word = words.back(), .notes = notes};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (const Option* const option = taking(options, words[i])) {
      ++i;
      if (option->value == "SESSION") typed.given = words[i];
    } else if (!words[i].starts_with('-') && place++ == 0) {
      typed.session = words[i];
    }
  }
  const Option* const before = words.size() < 2 ? nullptr : taking(options, words[words.size() - 2]);
  if (before != nullptr) return valuesOf(*before, context, typed);
  if (const std::size_t equals = words.back().find('=');
      words.back().starts_with("--") && equals < words.back().size()) {
    const Option* const given = taking(options, words.back().substr(0, equals));
    typed.word = words.back().substr(equals + 1);
    Words values = given == nullptr ? Words() : valuesOf(*given, context, typed);
    for (std::string& value : values) value.insert(0, words.back(), 0, equals + 1);
    return values;
  }
  if (words.back().starts_with('-')) return optionNames(options, notes);
  for (const Option& option : command.options) {
    if (!option.isArgument()) continue;
    if (place == 0 || option.takesSeveral()) return valuesOf(option, context, typed);
    --place;
  }
  return {};
}

// Returns the store that the words before the last one name. The shell has not expanded ~ yet.
std::string namedStore(const Words& words) {
  constexpr std::string_view kAssigned = "--store=";
  std::string named;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].starts_with(kAssigned)) named = words[i].substr(kAssigned.size());
    if (words[i] == "--store" && i + 2 < words.size()) {
      named = words[++i];
      named = withHome(named).value_or("");
    }
  }
  return named;
}

// Returns candidates for the last of `words`. Global options may come before the command.
Words candidates(Context context, Words words, bool notes) {
  if (const std::string store = namedStore(words); !store.empty()) context.storeLocation = store;
  Context given;
  const Definitions everywhere = globalOptions(given);
  while (words.size() > 1 && words.front().starts_with('-')) {
    const Option* const option = taking(everywhere, words.front());
    if (option != nullptr && words.size() == 2)
      return valuesOf(*option, context, {.word = words.back(), .notes = notes});
    words.erase(words.begin(), words.begin() + (option == nullptr ? 1 : 2));
  }
  if (words.size() == 1) return words.front().starts_with('-') ? optionNames(everywhere, notes) : commandNames(notes);
  const auto command = findCommand(commandGroups(), words.front());
  if (!command) return {};
  words.erase(words.begin());
  return candidatesOf(context, *command, everywhere, words, notes);
}

void printScript(const std::string& shell, bool json) {
  const std::string_view script = scriptFor(shell);
  if (!json) return printText(script);
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("shell", shell).member("script", script).endObject();
  printJsonLine(writer.text());
}

void printCandidates(const Words& found, bool json) {
  if (!json) {
    for (const std::string& candidate : found) printLine(candidate);
    return;
  }
  printJsonLine(json::Writer().beginObject().member("schema", 1).list("candidates", found).endObject().text());
}

Result<ExitCode> run(const Context& context, const Options& options) {
  if (options.words.empty()) {
    printScript(options.shell, context.json);
    return kDone;
  }
  const bool notes = options.shell != "bash" && !context.json;
  Words found = candidates(context, options.words, notes);
  // Leave out candidates with line breaks or escape sequences, as keys and agents' names may have them: they must not
  // get onto a command line.
  std::erase_if(found, [&](const std::string& candidate) {
    const std::string_view word = std::string_view(candidate).substr(0, notes ? candidate.find('\t') : SIZE_MAX);
    return !candidate.starts_with(options.words.back()) || text::printable(word) != word;
  });
  printCandidates(found, context.json);
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "completion",
      .summary = "Print the script that completes bough on a shell",
      .details = {},
      .examples =
          "  mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions\n"
          "  bough completion bash > ~/.local/share/bash-completion/completions/bough\n"
          "  bough completion zsh  > \"${fpath[1]}/_bough\"\n"
          "  bough completion fish > ~/.config/fish/completions/bough.fish",
      .options = {{.name = "SHELL",
                   .help = "The shell",
                   .target = &options->shell,
                   .required = true,
                   .choices = {"bash", "zsh", "fish"}},
                  {.name = "WORD",
                   .help = "The words typed so far, after `--`: prints what can follow. Used by the scripts",
                   .target = &options->words,
                   .mayBeEmpty = true}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::completion_command
