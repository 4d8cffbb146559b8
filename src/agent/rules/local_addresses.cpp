#include "agent/rules/local_addresses.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/rules/option_words.h"
#include "agent/rules/places/git_settings.h"
#include "agent/rules/program_names.h"

namespace bough::agent {
namespace {

using Words = std::span<const std::string>;

// The address is the first name after the command. After a command in a group, every name may be an address.
struct AddressedCommand {
  std::string_view names;  // names of programs
  std::string_view group;
  std::string_view commands;
};

constexpr AddressedCommand kAddressedCommands[] = {
    {"git", "", "push fetch pull clone ls-remote send-pack fetch-pack"},
    {"git", "remote submodule", "add set-url"},
    {"git", "subtree", "add pull push"},
    {"hg", "", "push pull incoming in outgoing out identify id clone"},
    {"jj", "git", "clone"},
    {"jj", "git", "remote"},
};

// Returns false for options of these commands that take no value: the word after them is the address.
bool mayTakeValueHere(std::string_view option) {
  return mayTakeValue(option) && !holdsWord("-n -t -a -p -f -v --all --tags --dry-run", option);
}

bool addressExists(const std::string& word, const std::vector<std::string>& folders, int folder) {
  return std::ranges::any_of(folders, [&](const std::string& each) {
    const std::string path = word.starts_with('/') ? word : each + word;
    return ::faccessat(folder, path.c_str(), F_OK, 0) == 0 ||
           ::faccessat(folder, (path + ".git").c_str(), F_OK, 0) == 0;
  });
}

// An existing local path takes precedence: `git clone a:b` clones a folder of that name.
bool isOnThisMachine(const std::string& word, const std::vector<std::string>& folders, int folder) {
  if (word.contains("://")) return isLocalAddress(word);
  return word != "." && addressExists(word, folders, folder);
}

// Walks along the words and tells which of them may be an address.
class AddressSearch {
 public:
  explicit AddressSearch(const AddressedCommand& rule) : rule_(rule), isInGroup_(rule.group.empty()) {}

  [[nodiscard]] bool isDone() const { return isDone_; }

  bool mayBeAddress(std::string_view word) {
    if (isOptionWord(word)) {
      mayBeValue_ = mayTakeValueHere(word);
      return false;
    }
    const bool isCertain = !mayBeValue_;
    mayBeValue_ = false;
    if (isAfterCommand_) {
      isDone_ = isCertain && rule_.group.empty();
      return true;
    }
    const bool isNext = holdsWord(isInGroup_ ? rule_.commands : rule_.group, word);
    if (isNext) (isInGroup_ ? isAfterCommand_ : isInGroup_) = true;
    isDone_ = !isNext && isCertain;
    return false;
  }

 private:
  const AddressedCommand& rule_;
  bool isInGroup_ = false;
  bool isAfterCommand_ = false;
  bool mayBeValue_ = false;
  bool isDone_ = false;
};

}  // namespace

std::vector<std::string> foldersOf(Words allowed) {
  std::vector<std::string> out{""};
  for (std::size_t i = 0; i + 1 < allowed.size(); ++i) {
    if (holdsWord("-C -R --cwd --repository", allowed[i])) out.push_back(allowed[i + 1] + "/");
  }
  return out;
}

std::string reasonToAskAboutAddress(std::string_view program, Words allowed, Words added, int folder) {
  const std::vector<std::string> folders = foldersOf(allowed);
  for (const AddressedCommand& rule : kAddressedCommands) {
    if (!holdsWord(rule.names, program)) continue;
    AddressSearch search(rule);
    for (const std::string& word : allowed) {
      if (!search.isDone()) (void)search.mayBeAddress(word);
    }
    for (const std::string& word : added) {
      if (search.isDone()) break;
      if (search.mayBeAddress(word) && isOnThisMachine(word, folders, folder)) {
        return fmt::format("{} is on this machine, and {} runs what hooks and settings there say", word, program);
      }
    }
  }
  return {};
}

}  // namespace bough::agent
