// Interprets a line that was typed into a chat or piped to it.
#pragma once

#include <string>
#include <string_view>

namespace bough::cli {

struct TypedLine {
  enum class Kind : unsigned char {
    Empty,    ///< Nothing to do.
    Command,  ///< `/name words`: a command of the chat; `text` is the whole line.
    Shell,    ///< `!command`: `text` is the command.
    Message,  ///< For the model.
  };
  Kind kind = Kind::Empty;
  std::string text{};
};

/// `//` and `!!` at the beginning of a line stand for a literal slash and exclamation mark. A path is a message,
/// because no command's name contains a second slash.
inline TypedLine readTypedLine(std::string_view line) {
  using enum TypedLine::Kind;
  if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  if (line.starts_with("//") || line.starts_with("!!")) return {.kind = Message, .text = std::string(line.substr(1))};
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r\n"));
  if (word.starts_with('/') && word.find('/', 1) == word.npos) return {.kind = Command, .text = std::string(line)};
  if (line.starts_with('!')) return {.kind = Shell, .text = std::string(line.substr(1))};
  return {.kind = Message, .text = std::string(line)};
}

}  // namespace bough::cli
