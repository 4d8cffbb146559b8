#include "agent/rules/running_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agent/rules/harmless_commands.h"
#include "agent/rules/option_words.h"
#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

// The program follows `--`, after any number of names.
constexpr std::size_t kAfterDashes = std::numeric_limits<std::size_t>::max();
// Any of the names may be the program.
constexpr std::size_t kAnyName = kAfterDashes - 1;

struct RunningCommand {
  std::string_view names;  // names of programs
  std::string_view group;  // the name before the command, in all its spellings; may be empty
  std::string_view commands;
  std::size_t namesBefore = 0;  // how many names are between the command and the program
};

constexpr RunningCommand kRunningCommands[] = {
    {"bundle opam cabal stack asdf pyenv rbenv nodenv npm pnpm yarn dotnet gem composer lerna brew bun", "", "exec"},
    {"npm pnpm yarn bun", "", "x dlx create"},
    {"npm", "", "init innit"},
    {"npm", "", "explore", kAfterDashes},
    {"yarn", "", "node"},
    {"yarn", "", "workspace", 1},
    {"yarn", "workspaces", "foreach"},
    {"poetry uv pipenv hatch pdm rye conda mamba micromamba flatpak snap nix volta go deno bun bazel bazelisk cabal "
     "dotnet dart flutter crystal mix",
     "", "run"},
    {"pixi", "", "run exec"},
    {"go", "", "tool"},
    {"deno", "", "eval serve x"},
    {"crystal", "", "eval"},
    {"dotnet", "", "fsi script"},
    {"stack", "", "runghc runhaskell script ghc ghci eval"},
    {"mix", "", "cmd do eval"},
    {"dart flutter", "pub", "run global"},
    {"zig", "", "run", kAfterDashes},
    {"rustup", "", "run", 1},
    {"direnv", "", "exec", 1},
    {"asdf", "", "env", 1},
    {"mise", "", "exec x", kAfterDashes},
    {"nix", "", "shell develop", kAnyName},
    {"uv", "tool", "run install upgrade"},
    {"hatch", "env", "run"},
    {"composer", "global", "exec"},
    {"brew", "", "sh ruby irb"},
    {"brew", "bundle", "exec sh"},
    {"rails", "", "runner"},
    {"adb", "", "shell exec-out exec-in"},
    {"flatpak", "", "enter", 1},
    {"docker podman docker-compose podman-compose", "", "run exec create", 1},
    {"docker podman", "container compose", "run exec create", 1},
    {"podman", "", "unshare"},
    {"podman", "machine", "ssh", 1},
    {"kubectl oc", "", "exec run debug", kAfterDashes},
    {"oc", "", "rsh", 1},
    {"git", "bisect", "run"},
    {"git", "submodule", "foreach"},
    {"git", "hook", "run"},
    {"jj", "util", "exec"},
    {"ip", "netns vrf", "exec", 1},
    {"gh", "alias", "import set", 1},
    {"gh", "extension extensions ext", "create exec install upgrade"},
    {"gh", "codespace cs", "ssh"},
};

// `ip`, `npm` and others accept any prefix of a command.
bool mayAbbreviate(std::string_view word, std::string_view commands) {
  while (!commands.empty()) {
    const std::size_t end = std::min(commands.find(' '), commands.size());
    if (commands.substr(0, end).starts_with(word)) return true;
    commands.remove_prefix(std::min(end + 1, commands.size()));
  }
  return false;
}

using Words = std::span<const std::string>;

struct FoundCommands {
  std::vector<std::size_t> places{};
  bool isCertain = false;  // no added word can be the command
};

// Finds the words that may be the command: the first name, and any earlier word that may be the value of an option.
FoundCommands findCommands(Words words, std::size_t from, std::string_view commands) {
  constexpr std::string_view kInstall = "i in";  // npm reads these as `install`, not `init`
  FoundCommands found;
  bool mayBeValue = false;
  for (std::size_t i = from; i < words.size() && !found.isCertain; ++i) {
    const bool isOption = isOptionWord(words[i]);
    if (!isOption && mayAbbreviate(words[i], commands) && !holdsWord(kInstall, words[i])) found.places.push_back(i);
    found.isCertain = !isOption && !mayBeValue;
    mayBeValue = isOption && mayTakeValue(words[i]);
  }
  return found;
}

// Adds every name up to the program, because it is unknown which options take values.
void addPrograms(std::vector<std::size_t>& out, Words words, std::size_t from, std::size_t namesBefore) {
  if (namesBefore == kAnyName) from = words.size();
  if (namesBefore == kAfterDashes) {
    while (from < words.size() && words[from] != "--") ++from;
    namesBefore = 0;
  }
  bool mayBeValue = false;
  for (std::size_t i = from; i < words.size(); ++i) {
    if (!isOptionWord(words[i])) {
      if (words[i] != ".") out.push_back(i);  // a folder (`direnv exec . ls`)
      if (!mayBeValue && namesBefore-- == 0) return;
    }
    mayBeValue = isOptionWord(words[i]) && mayTakeValue(words[i]);
  }
  out.push_back(words.size());
}

struct RunPrograms {
  std::vector<std::size_t> places{};
  bool mayBeAdded = false;  // the command may still follow
};

RunPrograms programsOfRule(const RunningCommand& rule, std::string_view program, Words allowed) {
  RunPrograms out;
  const auto lookFrom = [&](std::size_t from) {
    const FoundCommands found = findCommands(allowed, from, rule.commands);
    for (const std::size_t place : found.places) addPrograms(out.places, allowed, place + 1, rule.namesBefore);
    out.mayBeAdded = out.mayBeAdded || !found.isCertain;
  };
  if (rule.group.empty()) {
    lookFrom(0);
    // In that case the table of harmless commands decides.
    if (hasCommands(program)) out.mayBeAdded = false;
  } else {
    for (const std::size_t group : findCommands(allowed, 0, rule.group).places) lookFrom(group + 1);
  }
  return out;
}

// `go run a.go b.go` compiles both files.
bool isOneOfSources(std::string_view program, Words allowed, std::size_t place) {
  return familyOf(program) == "go" && place < allowed.size() && allowed[place].ends_with(".go");
}

}  // namespace

std::vector<std::size_t> programsRunBy(std::string_view program, Words allowed) {
  std::vector<std::size_t> out;
  for (const RunningCommand& rule : kRunningCommands) {
    if (!holdsWord(rule.names, familyOf(program))) continue;
    const RunPrograms run = programsOfRule(rule, program, allowed);
    out.insert(out.end(), run.places.begin(), run.places.end());
  }
  return out;
}

std::string reasonToAskAboutRunning(std::string_view program, Words allowed, Words added) {
  const auto isName = [](const std::string& word) { return !isOptionWord(word); };
  if (std::ranges::none_of(added, isName)) return {};
  for (const RunningCommand& rule : kRunningCommands) {
    if (!holdsWord(rule.names, familyOf(program))) continue;
    const RunPrograms run = programsOfRule(rule, program, allowed);
    const auto isOpen = [&](std::size_t place) {
      return place == allowed.size() || isOneOfSources(program, allowed, place);
    };
    const auto isCommand = [&](const std::string& word) { return isName(word) && mayAbbreviate(word, rule.commands); };
    if (std::ranges::any_of(run.places, isOpen) || (run.mayBeAdded && std::ranges::any_of(added, isCommand))) {
      const std::string_view group = rule.group.substr(0, rule.group.find(' '));
      return fmt::format("{}{}{} runs what its arguments name", program, group.empty() ? "" : " ", group);
    }
  }
  return {};
}

}  // namespace bough::agent
