#include "agent/rules/places/git_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/utf8.h"
#include "base/user_folders.h"

namespace bough::agent {
namespace {

std::string inLowerCase(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

void skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

void skipLine(std::string_view& text) {
  text.remove_prefix(std::min(text.find('\n'), text.size()));
}

std::string_view takeUntil(std::string_view& text, std::string_view characters) {
  const std::string_view taken = text.substr(0, text.find_first_of(characters));
  text.remove_prefix(taken.size());
  return taken;
}

// Parses `[core]` or `[includeIf "gitdir:x"]`. The name ends in a dot when a subsection follows it.
std::string takeSection(std::string_view& text) {
  text.remove_prefix(1);
  std::string name = inLowerCase(takeUntil(text, " \t\"]\n."));
  if (!text.starts_with(']')) name += '.';
  bool isQuoted = false;
  while (!text.empty() && text.front() != '\n') {
    const char c = text.front();
    text.remove_prefix(c == '\\' ? std::min<std::size_t>(2, text.size()) : 1);
    if (c == '"') isQuoted = !isQuoted;
    if (c == ']' && !isQuoted) break;
  }
  return name;
}

// Returns what a backslash and this character mean. An escaped line end disappears.
std::string escaped(char c) {
  if (c == '\n') return {};
  return std::string(1, c == 't' ? '\t' : c == 'n' ? '\n' : c == 'b' ? '\b' : c);
}

std::string takeValue(std::string_view& text) {
  std::string value;
  std::size_t kept = 0;  // the length without the blanks at the end
  bool isQuoted = false;
  for (; !text.empty() && text.front() != '\n'; text.remove_prefix(1)) {
    const char c = text.front();
    if (!isQuoted && (c == '#' || c == ';')) break;
    if (c == '"') {
      isQuoted = !isQuoted;
    } else if (c == '\\' && text.size() > 1) {
      text.remove_prefix(text.substr(1).starts_with("\r\n") ? 2 : 1);
      value += escaped(text.front());
    } else {
      value += c;
    }
    if (isQuoted || c == '\\' || !std::string_view(" \t\r").contains(c)) kept = value.size();
  }
  skipLine(text);
  value.resize(kept);
  return value;
}

void takeSetting(GitSettings& out, std::string_view section, std::string_view name, std::string value) {
  if (value.empty()) return;
  if (section == "core" && name == "hookspath")
    out.hookFolders.push_back(std::move(value));
  else if ((section == "include" || section == "includeif.") && name == "path")
    out.includes.push_back(std::move(value));
  else if (section == "remote." && (name == "url" || name == "pushurl") && isLocalAddress(value))
    out.localRemotes.push_back(std::move(value));
}

// `core.hooksPath`, `includeIf.gitdir:x.path`
void takeKey(GitSettings& out, std::string_view key, std::string value) {
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  if (first == std::string_view::npos) return;
  takeSetting(out, inLowerCase(key.substr(0, first)) + (first == last ? "" : "."), inLowerCase(key.substr(last + 1)),
              std::move(value));
}

// Takes the next word that git has quoted for the shell: `'core.hooksPath'='a b'`, `'core.hooksPath=a'`. A quote inside
// a word is `'\\''`. A word ends at one of `ends` outside of quotes.
std::string takeShellWord(std::string_view& text, std::string_view ends) {
  std::string word;
  bool isQuoted = false;
  for (; !text.empty() && (isQuoted || !ends.contains(text.front())); text.remove_prefix(1)) {
    if (text.front() == '\'') {
      isQuoted = !isQuoted;
    } else if (!isQuoted && text.front() == '\\' && text.size() > 1) {
      text.remove_prefix(1);
      word += text.front();
    } else {
      word += text.front();
    }
  }
  return word;
}

}  // namespace

bool isLocalAddress(std::string_view address) {
  if (address.contains("://")) return address.starts_with("file://");
  const std::size_t colon = address.find(':');
  return !address.empty() && (colon == std::string_view::npos || address.find('/') < colon);
}

GitSettings gitSettingsOfEnvironment() {
  constexpr std::size_t kMost = 1'000;
  GitSettings out;
  std::size_t count = 0;
  const std::string counted = environmentVariable("GIT_CONFIG_COUNT");
  std::from_chars(counted.data(), counted.data() + counted.size(), count);
  out.isCut = count > kMost;
  for (std::size_t i = 0; i < std::min(count, kMost); ++i) {
    takeKey(out, environmentVariable(fmt::format("GIT_CONFIG_KEY_{}", i)),
            environmentVariable(fmt::format("GIT_CONFIG_VALUE_{}", i)));
  }
  const std::string parameters = environmentVariable("GIT_CONFIG_PARAMETERS");
  for (std::string_view rest = parameters; !rest.empty();) {
    skip(rest, " ");
    const std::string word = takeShellWord(rest, " =");
    if (rest.starts_with('=')) {
      // A quoted key may itself hold an equals sign.
      rest.remove_prefix(1);
      takeKey(out, word, takeShellWord(rest, " "));
      continue;
    }
    const std::size_t end = std::min(word.find('='), word.size());
    takeKey(out, std::string_view(word).substr(0, end), word.substr(std::min(end + 1, word.size())));
  }
  return out;
}

GitSettings readGitSettings(std::string_view text) {
  GitSettings out;
  std::string section;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (true) {
    skip(text, " \t\r\n");
    if (text.empty()) return out;
    if (text.front() == '[') {
      section = takeSection(text);
      continue;
    }
    const std::string name = inLowerCase(takeUntil(text, " \t\r\n=#;"));
    skip(text, " \t\r");
    if (!text.starts_with('=')) {
      skipLine(text);
      continue;
    }
    text.remove_prefix(1);
    skip(text, " \t\r");
    takeSetting(out, section, name, takeValue(text));
  }
}

}  // namespace bough::agent
