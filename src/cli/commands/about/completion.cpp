// What the shells need to complete a command line. The scripts only pass on what was typed: what can follow it is found
// here, from the commands' definitions and the sessions of the store.

#include <algorithm>

#include "base/json/json_write.h"
#include "cli/commands/about/completion_values.h"
#include "cli/commands/commands.h"
#include "cli/definition/help.h"
#include "cli/terminal/output.h"

namespace bough::cli::completion_command {
namespace {

// A candidate may hold blanks, quotes or dollars, as labels do: each shell quotes what it inserts. A word that was
// begun with a quote is completed inside the quotes.
constexpr std::string_view kBash = R"(_bough() {
  local line word part quote="" typed=() before=""
  COMPREPLY=()
  # Bash takes --name=a:b for five words, and completes the last of them.
  for part in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#typed[@]})) && [[ $part == [:=]* || ${typed[-1]} == --*= || ${typed[-1]} == *: ]]
    then typed[-1]+=$part; else typed+=("$part"); fi
  done
  word=${typed[-1]}
  case $word in --*=*|*:*) before=${word%"${word##*[:=]}"} ;; esac
  case $word in \"*|\'*) quote=${word:0:1}; typed[-1]=${word:1} ;; *) typed[-1]=${word//\\/} ;; esac
  while IFS= read -r line; do
    line=${line#"$before"}
    [[ -n $quote ]] || { printf -v line %q "$line"; line=${line//\\,/,}; }
    COMPREPLY+=("$line")
  done < <(bough completion bash -- "${typed[@]}" 2>/dev/null)
}
complete -o default -F _bough bough
)";

constexpr std::string_view kZsh = R"(#compdef bough
_bough() {
  local -a lines found shown
  local -i width=0 i
  local note
  lines=("${(@f)$(bough completion zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  found=("${(@)lines%%$'\t'*}")
  for i in {1..$#found}; do (($#found[i] > width)) && width=$#found[i]; done
  for i in {1..$#found}; do
    if [[ $lines[i] == *$'\t'* ]]; then note=${lines[i]#*$'\t'}; else note=""; fi
    shown+=("${(mr:COLUMNS-1:)${:-${(r:width+2:)found[i]}$note}}")
  done
  if [[ -z "$lines" ]]; then _files
  elif [[ "$lines" == *$'\t'* ]]; then compadd -V sessions -l -d shown -a found
  else compadd -a found; fi
}
# The first Tab loads this file as the function itself; sourced, it only registers it.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _bough "$@"; else compdef _bough bough; fi
)";

// Fish would add files to every list.
constexpr std::string_view kFish = R"(function __bough_complete
  set -l typed (commandline -opc)
  set -l word (string replace -r '^["\']' '' -- (commandline -ct) | string unescape)
  set -l found (bough completion fish -- $typed[2..-1] "$word" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path "$word"
  end
end
complete -c bough -k -f -a '(__bough_complete)'
)";

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

// The option that wants the next word as its value; null when `word` is none.
const Option* taking(const Definitions& options, const std::string& word) {
  const auto found = std::ranges::find_if(
      options, [&](const Option& option) { return !option.isArgument() && !option.isFlag() && option.isCalled(word); });
  return found == options.end() ? nullptr : &*found;
}

// What can be in place of the last of `words`, which come after the command's name.
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

// What can be in place of the last of `words`. Options that every command has may come before the command.
Words candidates(Context context, Words words, bool notes) {
  Context given;
  const Definitions everywhere = globalOptions(given);
  while (words.size() > 1 && words.front().starts_with('-')) {
    const Option* const option = taking(everywhere, words.front());
    if (option != nullptr && words.size() == 2)
      return valuesOf(*option, context, {.word = words.back(), .notes = notes});
    if (option != nullptr && option->isCalled("--store")) context.storeLocation = words[1];
    words.erase(words.begin(), words.begin() + (option == nullptr ? 1 : 2));
  }
  if (words.size() == 1) return words.front().starts_with('-') ? optionNames(everywhere, notes) : commandNames(notes);
  const auto command = findCommand(commandGroups(), words.front());
  if (!command) return {};
  words.erase(words.begin());
  return candidatesOf(context, *command, everywhere, words, notes);
}

void printScript(const std::string& shell, bool json) {
  const std::string_view script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
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
  Words found = candidates(context, options.words, options.shell != "bash" && !context.json);
  std::erase_if(found, [&](const std::string& candidate) { return !candidate.starts_with(options.words.back()); });
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
