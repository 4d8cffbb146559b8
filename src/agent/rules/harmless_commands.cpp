#include "agent/rules/harmless_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/rules/option_words.h"
#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

struct CommandsOf {
  std::string_view names;
  std::string_view commands;
};

// Any command that is not listed needs a question, also a command that runs a file given to it (`zig test x`). Some
// listed commands run what the project itself configures (`npm test`, `cargo build`).
constexpr CommandsOf kHarmlessCommands[] = {
    {"git",
     "add am annotate apply archive blame branch cat-file check-attr check-ignore checkout cherry cherry-pick clean "
     "clone commit count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc "
     "grep help init log ls-files ls-remote ls-tree merge merge-base mv name-rev notes pull push range-diff rebase "
     "reflog remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout "
     "stash "
     "status switch symbolic-ref tag verify-commit verify-tag version whatchanged worktree"},
    {"cargo",
     "b bench build c check clean clippy d doc fetch fix fmt generate-lockfile help info locate-project metadata "
     "nextest "
     "package pkgid r remove rm run search t test tree update vendor version"},
    {"npm",
     "audit ci dedupe diff explain find-dupes fund help la list ll ls outdated ping prefix prune query r remove "
     "restart "
     "rm root run run-script search show start stop t test tst un uninstall unlink v version view whoami why"},
    {"pnpm yarn", "audit help la list ll ls outdated prune remove rm root start test why"},
    {"go", "build clean doc env fix fmt generate help list mod test version vet work"},
    {"docker podman",
     "diff events history images info inspect kill logs network pause port ps pull push restart rm rmi search start "
     "stats stop tag top unpause version volume wait"},
    {"kubectl oc",
     "annotate api-resources api-versions auth cluster-info delete describe events explain get help label logs options "
     "rollout scale top version wait"},
    {"gh", "browse help issue label pr project release repo run search status version workflow"},
    {"pip", "check debug freeze help index inspect list show uninstall"},
    {"bundle hatch pdm pipenv poetry rye uv", "check help info list lock outdated show sync tree version"},
    {"composer dotnet", "audit build clean help info licenses list outdated show test validate"},
    {"asdf conda direnv mamba micromamba mise nix nodenv pyenv rbenv rustup volta",
     "current help info list ls outdated search show status version versions where which"},
    {"bun deno", "check doc fmt help info lint outdated types"},
    {"7z 7za 7zr 7zz", "b h i l t"},
    {"rar unrar", "l lb lt lta t v vb vt vta"},
    {"hg",
     "add annotate blame branch branches cat commit copy diff files forget grep heads help id identify incoming locate "
     "log manifest merge move mv outgoing parents paths pull push remove rename resolve revert root status summary "
     "tags "
     "tip update verify version"},
    {"jj",
     "abandon absorb bookmark commit desc describe diff duplicate edit evolog file git help interdiff log new next op "
     "operation parallelize prev rebase restore revert root show simplify-parents sparse split squash st status tag "
     "undo "
     "version workspace"},
    {"svn",
     "add ann annotate blame cat ci cleanup commit cp copy del delete diff export help info list lock log ls merge "
     "mergeinfo mkdir move mv pg pl praise propget proplist resolve resolved revert rm st stat status unlock up "
     "update"},
    {"sl",
     "add amend annotate blame bookmark cat commit copy diff files forget go goto grep help hide id identify log mv "
     "next prev "
     "rebase remove rename resolve revert root show smartlog status uncommit version"},
    {"mvn mvnw", "clean compile integration-test package site test test-compile validate verify"},
    {"rails", "about notes routes stats version"},
    {"gem", "contents dependency environment help info list outdated query search specification which"},
    {"brew", "config deps desc doctor help info list ls outdated search uses"},
    {"apt apt-cache apt-get aptitude dnf microdnf yum zypper apk",
     "check check-update depends help info list policy provides rdepends repolist search show version"},
    {"bazel bazelisk", "aquery build clean cquery help info query test version"},
    {"ip", "a addr address help l link maddr maddress n neigh neighbor neighbour ntable r ro route ru rule"},
    {"terraform tofu", "fmt graph help output providers show state validate version workspace"},
    {"zig", "ast-check build env fmt help targets version zen"},
    {"cabal stack", "bench build check clean haddock help info list path test"},
    {"mix", "compile format help xref"},
    {"swift", "build help package test"},
    {"dart flutter", "analyze build clean devices doc doctor format help info"},
    {"crystal", "build docs env help version"},
    {"lerna", "changed diff info la list ll ls"},
    {"adb", "devices get-state help logcat version"},
    {"flatpak snap", "help info list search version"},
    {"systemctl",
     "cat get-default help is-active is-enabled is-failed list-timers list-unit-files list-units show status"},
};

// Programs that run the script or program in their first argument.
constexpr std::string_view kInterpreters =
    "python pypy ipython bpython perl raku ruby irb node nodejs ts-node tsx zx qjs d8 jsc gjs cjs rhino php php-cgi "
    "phpdbg "
    "lua luajit tclsh wish Rscript R java jshell groovy groovysh kotlin kscript scala scala-cli amm julia elixir iex "
    "escript erl guile csi racket sbcl clisp ecl mit-scheme gosh clojure clj bb janet fennel swipl gprolog ocaml "
    "runghc "
    "runhaskell ghci osascript octave octave-cli matlab maxima gnuplot sage gforth tcc rust-script m4 gm4 dc "
    // Python modules.
    "timeit pdb cProfile profile trace runpy doctest pickle code IPython debugpy pyinstrument viztracer";

const CommandsOf* commandsOf(std::string_view program) {
  const auto* found = std::ranges::find_if(
      kHarmlessCommands, [&](const CommandsOf& each) { return holdsWord(each.names, familyOf(program)); });
  return found == std::end(kHarmlessCommands) ? nullptr : found;
}

// The first script decides: options before it belong to the interpreter.
std::string reasonToAskAboutScript(std::string_view program, std::span<const std::string> allowed,
                                   std::span<const std::string> added) {
  const auto isScript = [](const std::string& word) { return !isOptionWord(word); };
  if (std::ranges::any_of(allowed, isScript) || std::ranges::none_of(added, isScript)) return {};
  return fmt::format("{} runs what its arguments name", program);
}

}  // namespace

std::string reasonToAskAboutCommand(std::string_view program, std::span<const std::string> allowed,
                                    std::span<const std::string> added) {
  const std::string_view family = familyOf(program);
  if (holdsWord(kInterpreters, family) || holdsWord(kInterpreters, program))
    return reasonToAskAboutScript(program, allowed, added);
  const CommandsOf* rules = commandsOf(program);
  if (rules == nullptr) return {};
  std::string_view last;  // an option that may take the next word as its value
  for (const std::string& word : allowed) {
    if (!isOptionWord(word) && last.empty()) return {};
    last = isOptionWord(word) && mayTakeValue(word) ? word : std::string_view();
  }
  for (const std::string& word : added) {
    if (!last.empty()) return fmt::format("{} may take {} for its value", last, word);
    if (!isOptionWord(word)) {
      return holdsWord(rules->commands, word)
                 ? ""
                 : fmt::format("{} {} may run other programs or change settings", program, word);
    }
    if (mayTakeValue(word)) last = word;
  }
  return {};
}

bool hasCommands(std::string_view program) {
  return commandsOf(program) != nullptr;
}

}  // namespace bough::agent
