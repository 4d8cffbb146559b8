#include "agent/rules/command_rules.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "agent/rules/git_files.h"
#include "agent/rules/harmless_commands.h"
#include "agent/rules/harmless_options.h"
#include "agent/rules/local_addresses.h"
#include "agent/rules/places/repositories_near.h"
#include "agent/rules/program_kinds.h"
#include "agent/rules/program_names.h"
#include "agent/rules/running_commands.h"
#include "agent/rules/written_files.h"
#include "base/text/utf8.h"

namespace bough::agent {
namespace {

constexpr std::string_view kShellSyntax = ";|&`$()<>\n\r\\{}";
constexpr std::size_t kManyLines = 8;
// Many users write this for "with any arguments", which needs no mark here.
constexpr std::string_view kAnyArguments = " *";
constexpr std::string_view kIsNoPattern = "it is not a pattern; without the * the rule also allows arguments";

// The words after the allowed ones, and the places where the shell would expand a word. The shell leaves quoted text
// alone.
struct AddedWords {
  std::vector<std::string> words{};
  std::vector<std::size_t>
      patterns{};  // the place, in each word, of the first unquoted `*?[` or of a `~` at its beginning
  bool isQuoteOpen = false;
};

// How to treat blanks in quotes. Parts: they end a word, because a program may split the argument into words of its
// own. Whole: they do not, because the argument may be a path.
enum class Quoted { Parts, Whole };

AddedWords addedWords(std::string_view text, Quoted quoted) {
  AddedWords out;
  std::string word;
  std::size_t pattern = std::string::npos;
  char quote = 0;
  const auto endWord = [&] {
    if (!word.empty()) {
      out.words.push_back(std::exchange(word, {}));
      out.patterns.push_back(pattern);
    }
    pattern = std::string::npos;
  };
  for (const char c : text) {
    if (c == quote) {
      quote = 0;  // the shell removes quotes: "-ex"ec is -exec
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if ((c == ' ' || c == '\t') && (quote == 0 || quoted == Quoted::Parts)) {
      endWord();
    } else {
      const bool isPattern = c == '*' || c == '?' || c == '[' || (c == '~' && word.empty());
      if (quote == 0 && isPattern) pattern = std::min(pattern, word.size());
      word += c;
    }
  }
  endWord();
  out.isQuoteOpen = quote != 0;
  return out;
}

// `make test SHELL=./x`: programs take such words as settings, and some settings name programs.
bool isAssignment(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const auto isOfName = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           c == '?' || c == '+' || c == '.';
  };
  return name.size() < word.size() && !name.empty() && std::ranges::all_of(name, isOfName);
}

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Returns true for a word that is neither a file nor a name but changes how a program works.
bool isSetting(std::string_view program, std::string_view word) {
  if (isAssignment(word)) return true;
  // `x!=./x` and `SHELL = ./x` set variables, too.
  if (isOneOf(program, {"make", "gmake", "bmake", "cmake"})) return !word.starts_with('-') && word.contains('=');
  if (program == "git") return word.contains("::");     // git runs a program for such an address
  if (program == "svn") return word.contains("file:");  // a local repository, whose hooks apply
  // A date to set.
  if (program == "date") return word.find_first_not_of("0123456789.") == std::string_view::npos;
  // The name of a file with more options.
  constexpr std::string_view kReadOptions =
      "tsc pytest py.test pylint mypy awk gawk mawk nawk 7z 7za cc gcc c++ g++ clang clang++ ld rustc javac java "
      "swiftc";
  return word.starts_with('@') && (holdsWord(kReadOptions, program) || holdsWord(kReadOptions, familyOf(program)));
}

bool isFile(std::string_view word) {
  return word == "-" || !word.starts_with('-');
}

// sed scripts can run programs (`1e date`) and write files (`w name`). Accepts only commands that print or delete
// lines; sed allows no other command after one of these.
bool isHarmlessForSed(std::string_view script) {
  return std::string_view("pdq=").contains(script.back()) &&
         script.find_first_not_of("0123456789,~+!pdq=") == std::string_view::npos;
}

// The shell expands a pattern to file names, and a file may be called `--output=x`. A pattern in the middle of a word
// gives names with the same beginning, which may be settings (`a=./x`), addresses or a second file; after a slash they
// can only be files.
bool canExpandToNonFile(std::string_view program, std::string_view word, std::size_t pattern) {
  if (pattern == std::string_view::npos) return false;
  if (pattern == 0 || word.starts_with('-')) return true;
  return !onlyPrints(program) && (!word.substr(0, pattern).contains('/') || writesSecondFile(program));
}

bool beginsWith(std::string_view command, std::string_view allowed) {
  if (allowed.empty() || !command.starts_with(allowed)) return false;
  return command.size() == allowed.size() || command[allowed.size()] == ' ';
}

std::size_t characterBytes(char first) {
  const auto lead = static_cast<unsigned char>(first);
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
}

char32_t codeOf(std::string_view character) {
  char32_t code = static_cast<unsigned char>(character.front());
  if (character.size() > 1) code &= 0x7FU >> character.size();
  for (const char c : character.substr(1)) code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

// Returns true for invisible characters, and for blanks that a shell does not treat as blanks.
bool isHidden(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr Range kHidden[] = {{0x00, 0x09},       {0x0B, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},
                               {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},   {0x1680, 0x1680},
                               {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F},
                               {0x205F, 0x206F},   {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
                               {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
                               {0x13430, 0x13455}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return std::ranges::any_of(kHidden, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

// The program that a command runs, and the words after it.
struct NamedProgram {
  std::string_view name;
  std::span<const std::string> words;
};

// Returns the program whose rules apply: for `python3 -m pytest` that is pytest.
NamedProgram programOf(std::span<const std::string> named) {
  const auto basename = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  const NamedProgram program{.name = basename(named.front()), .words = named.subspan(1)};
  const bool isPython = program.name.starts_with("python") || program.name.starts_with("pypy");
  if (program.words.empty() || !isPython) return program;
  const std::string_view last = program.words.back();
  if (last.size() > 2 && last.starts_with("-m")) return {.name = last.substr(2), .words = {}};
  const bool isModule = program.words.size() > 1 && program.words[program.words.size() - 2] == "-m";
  return isModule ? NamedProgram{.name = last, .words = {}} : program;
}

// Returns the allowed words without the variables that are set for the program, as in `CI=1 A='b c' npm test`. Empty
// when a quote is open at the end.
std::vector<std::string> wordsOfAllowed(std::string_view allowed) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : allowed) {
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != 0 || (c != ' ' && c != '\t')) {
      words.back() += c;
    } else {
      words.emplace_back();
    }
  }
  if (quote != 0) return {};
  std::erase(words, std::string());
  const auto isProgram = [](const std::string& word) { return !word.contains('='); };
  words.erase(words.begin(), std::ranges::find_if(words, isProgram));
  return words;
}

std::string reasonToAskAboutWord(std::string_view program, std::string_view word, std::size_t pattern) {
  if (canExpandToNonFile(program, word, pattern) || isSetting(program, word)) {
    return fmt::format("{} can run other programs or write files", word);
  }
  const std::string_view obeying = onlyReads(program) ? std::string_view() : programOfFolderIn(word);
  return obeying.empty() ? "" : fmt::format("{}{} {}", obeying, kMayObey, word);
}

// Returns true when the program unpacks a file among the added words, and no option makes it only list the contents.
bool unpacksAddedFile(const NamedProgram& program, std::span<const std::string> added) {
  if (!unpacksFiles(program.name) || std::ranges::none_of(added, isFile)) return false;
  const auto lists = [&](const std::string& word) { return onlyLists(program.name, word); };
  return std::ranges::none_of(program.words, lists) && std::ranges::none_of(added, lists);
}

// `named` begins with the program whose rules apply.
std::string reasonToAskAboutProgram(std::span<const std::string> named, const AddedWords& after,
                                    const AddedWords& paths, const WorkingFolder* folder) {
  const std::vector<std::string>& added = after.words;
  const NamedProgram rules = programOf(named);
  const std::string_view program = rules.name;
  if (!added.empty() && runsItsArguments(program)) return fmt::format("{} runs what its arguments name", program);
  bool isScript = isOneOf(program, {"sed", "gsed"});  // the next word that is not an option is a script; files follow
                                                      // it
  // The first word of tar holds options, with or without a dash.
  bool isBundle = isOneOf(program, {"tar", "gtar", "bsdtar"}) && rules.words.empty();
  std::ptrdiff_t files = std::ranges::count_if(rules.words, isFile);
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string& word = added[i];
    const bool bundle = std::exchange(isBundle, false) && !word.starts_with('-');
    // Also after `--`: npm and cargo pass the options there to the program that they run.
    const bool isOption = word.size() > 1 && word != "--" && (word[0] == '-' || word[0] == '+');
    const bool namesProgram =
        optionNamesProgram(program, rules.words, word) || optionNamesProgram(program, std::span(added).first(i), word);
    if (namesProgram) return fmt::format("{} can name a program that {} runs", word, program);
    if ((isOption && !isHarmlessOption(program, word)) || (bundle && !isHarmlessOption(program, "-" + word))) {
      return fmt::format("{} is not one of the options of {} known to be harmless", word, program);
    }
    if (std::string reason = reasonToAskAboutWord(program, word, after.patterns[i]); !reason.empty()) return reason;
    if (isFile(word) && ++files > 1 && writesSecondFile(program)) {
      return fmt::format("{} is a file that it can write", word);
    }
    if (word.starts_with('-') || !isScript) continue;
    if (!isHarmlessForSed(word)) return fmt::format("sed can run programs or write files by {}", word);
    isScript = false;
  }
  if (unpacksAddedFile(rules, added)) return fmt::format("{} writes whatever files it finds named there", program);
  if (std::string reason = reasonToAskAboutRunning(program, rules.words, added); !reason.empty()) return reason;
  if (std::string reason = reasonToAskAboutCommand(program, rules.words, added); !reason.empty()) return reason;
  for (const auto& words : {added, paths.words}) {
    const int from = folder == nullptr ? AT_FDCWD : folder->descriptor();
    if (std::string reason = reasonToAskAboutAddress(program, rules.words, words, from); !reason.empty()) return reason;
  }
  if (folder == nullptr) return {};
  return reasonToAskAboutFiles(program, rules.words, {.words = paths.words, .patterns = paths.patterns}, *folder);
}

}  // namespace

std::string reasonToAsk(std::string_view command, std::string_view allowed, const WorkingFolder* folder) {
  if (command.find_first_of(kShellSyntax) != std::string_view::npos) return "it has shell syntax";
  const std::vector<std::string> named = wordsOfAllowed(allowed);
  if (named.empty()) return "it names no program";
  const AddedWords added = addedWords(command.substr(allowed.size()), Quoted::Parts);
  const AddedWords paths = addedWords(command.substr(allowed.size()), Quoted::Whole);
  if (added.isQuoteOpen) return "a quote in it has no end";
  // Apply the rules of the program and of each program that it runs: `rustup run stable cargo`.
  std::vector<std::size_t> programs{0};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto words = std::span(named).subspan(programs[i]);
    if (std::string reason = reasonToAskAboutProgram(words, added, paths, folder); !reason.empty()) return reason;
    const NamedProgram program = programOf(words);
    const std::size_t first = named.size() - program.words.size();
    for (const std::size_t place : programsRunBy(program.name, program.words)) {
      const std::size_t at = first + place;
      if (at < named.size() && std::ranges::find(programs, at) == programs.end()) programs.push_back(at);
    }
  }
  return {};
}

bool isAllowedCommand(std::string_view command, const std::vector<std::string>& allowed, const WorkingFolder* folder) {
  return std::ranges::any_of(allowed, [&](const std::string& each) {
    return beginsWith(command, each) && reasonToAsk(command, each, folder).empty();
  });
}

std::string whyAllowsNothing(std::string_view allowed) {
  if (std::string reason = reasonToAsk(allowed, allowed); !reason.empty()) return reason;
  if (allowed.starts_with(' ') || allowed.ends_with(' ')) return "it has a blank at an end";
  // `wc -l *` is a real command, `git *` hardly.
  const bool isOfAll = allowed.ends_with(kAnyArguments) && hasCommands(allowed.substr(0, allowed.find(' ')));
  if (allowed.ends_with(":*") || (isOfAll && allowed.find(' ') + kAnyArguments.size() == allowed.size())) {
    return std::string(kIsNoPattern);
  }
  return {};
}

std::string commandQuestion(std::string_view command, const std::vector<std::string>& allowed,
                            const WorkingFolder* folder) {
  std::string out = fmt::format("run: {}", visibleText(command));
  const auto lines = static_cast<std::size_t>(std::ranges::count(command, '\n')) + 1;
  if (lines > kManyLines) {
    out += fmt::format("\nThese are {} lines; the first is: {}", lines,
                       visibleText(command.substr(0, command.find('\n'))));
  }
  for (const std::string& each : allowed) {
    const std::string_view meant = std::string_view(each).substr(0, each.size() - kAnyArguments.size());
    if (each.ends_with(kAnyArguments) && !beginsWith(command, each) && beginsWith(command, meant)) {
      out += fmt::format("\n{} is allowed, but {}", each, kIsNoPattern);
    }
    if (!beginsWith(command, each)) continue;
    out += fmt::format("\n{} is allowed, but {}", each, visibleText(reasonToAsk(command, each, folder)));
  }
  return out;
}

std::string visibleText(std::string_view utf8, bool keepTabs) {
  std::string out;
  while (!utf8.empty()) {
    const std::string_view character = utf8.substr(0, characterBytes(utf8.front()));
    if (!isUtf8(character)) {
      // Taken alone; otherwise it would hide what follows it.
      out += fmt::format("\\x{{{:X}}}", static_cast<unsigned char>(utf8.front()));
      utf8.remove_prefix(1);
      continue;
    }
    if (const char32_t code = codeOf(character); isHidden(code) && !(keepTabs && code == U'\t')) {
      out += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(code));
    } else {
      out += character;
    }
    utf8.remove_prefix(character.size());
  }
  return out;
}

}  // namespace bough::agent
