// Inserts candidates safely. A candidate may hold blanks, quotes, dollars, or anything else that people write into a
// label. It is inserted so that the shell reads it as that one word, also within open quotes, and never as a command.

#include "cli/commands/about/completion_scripts.h"

namespace bough::cli::completion_command {
namespace {

// Bash inserts candidates unchanged. It expects only the text after the last : or =, or after the last opened quote, so
// the script parses the line as bash will parse it. A ! is a history event even in double quotes.
constexpr std::string_view kBash = R"(_bough() {
  local line=${COMP_LINE:0:COMP_POINT} word="" quote="" before="" inside="" found char quoted
  local -i i start=${#line}-${#2} begun=0
  local -a typed=()
  COMPREPLY=()
  for ((i = 0; i <= ${#line}; ++i)); do
    ((i == start)) && before=$word inside=$quote
    char=${line:i:1}
    if [[ $char == \\ && $quote != \' ]]; then
      char=${line:(++i):1} begun=1
      [[ -z $quote || $char == [\"\$\`\\] ]] || word+=\\
      word+=$char
    elif [[ -z $char ]] || [[ -z $quote && $char == [[:blank:]] ]]; then
      ((begun)) || [[ -z $char ]] && typed+=("$word") word="" begun=0
    elif [[ -n $quote && $char == "$quote" ]]; then quote=""
    elif [[ -z $quote && $char == [\"\'] ]]; then quote=$char begun=1
    else word+=$char begun=1; fi
  done
  while IFS= read -r found; do
    found=${found#"$before"} quoted=""
    if [[ -z $inside && -n $found ]]; then printf -v quoted %q "$found"; quoted=${quoted//\\,/,}; fi
    for ((i = 0; i < ${#found} && ${#inside}; ++i)); do
      char=${found:i:1}
      case $inside$char in
        \"[\"\$\`\\]) quoted+=\\$char ;;
        \"!) quoted+='"\!"' ;;
        \'\') quoted+="'\\''" ;;
        *) quoted+=$char ;;
      esac
    done
    COMPREPLY+=("$quoted")
  done < <(bough completion bash -- "${typed[@]:1}" 2>/dev/null)
  ((${#COMPREPLY[@]} == 1)) && COMPREPLY[0]+=$inside
}
complete -o default -F _bough bough
)";

constexpr std::string_view kZsh = R"(#compdef bough
_bough() {
  local -a lines found shown
  local -i width=0 i
  local note assigned=${(Q)${${(M)${(z)LBUFFER}:#BOUGH_STORE=*}[-1]#*=}}
  [[ -n $assigned ]] && local -x BOUGH_STORE=$assigned
  lines=("${(@f)$(bough completion zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)${:-$QIPREFIX$PREFIX$compstate[quote]}}" 2>/dev/null)}")
  found=("${(@)lines%%$'\t'*}")
  for i in {1..$#found}; do (($#found[i] > width)) && width=$#found[i]; done
  for i in {1..$#found}; do
    if [[ $lines[i] == *$'\t'* ]]; then note=${lines[i]#*$'\t'}; else note=""; fi
    shown+=("${(mr:COLUMNS-1:)${:-${(r:width+2:)found[i]}$note}}")
  done
  if [[ -z "$lines" ]]; then compset -P '--*='; _files
  elif [[ "$lines" == *$'\t'* ]]; then compadd -V sessions -l -d shown -a found
  else compadd -a found; fi
}
# The first Tab loads this file as the function itself; sourced, it only registers it.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _bough "$@"; else compdef _bough bough; fi
)";

// Without this, fish would add files to every list.
constexpr std::string_view kFish = R"(function __bough_complete
  set -l typed (commandline -opc)
  set -l word
  for quote in '' '"' \'
    set word (string unescape -- (commandline -ct)$quote) && break
  end
  set -l found (bough completion fish -- $typed[2..-1] "$word" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path "$word"
  end
end
complete -c bough -k -f -a '(__bough_complete)'
)";

}  // namespace

std::string_view scriptFor(std::string_view shell) {
  return shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
}

}  // namespace bough::cli::completion_command
