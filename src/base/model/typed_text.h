// What of a message in the user's name the user has typed: files and input are sent with it, and the chat itself tells
// the model what the user did. Titles and previews show what was typed.
#pragma once

#include <bough/entry.h>

#include <string>
#include <string_view>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough {

/// The text block of a file that a prompt names with @.
inline std::string sentFile(std::string_view name, std::string_view content) {
  return std::string("<file path=") + json::quoted(name) + ">\n" + std::string(content) + "\n</file>";
}
/// The text block of what was piped to a prompt.
inline std::string sentInput(std::string_view content) {
  return "<stdin>\n" + std::string(content) + "\n</stdin>";
}
/// Whether a text block that is not the first of its message is one of these; also of a text in JSON's escapes.
inline bool isSent(std::string_view text) {
  return (text.starts_with("<file path=") && text.ends_with("</file>")) ||
         (text.starts_with("<stdin>") && text.ends_with("</stdin>"));
}

/// How the chat begins to tell the model of a command that the user ran, and of an undo. The member of `meta` that goes
/// with it.
inline constexpr std::string_view kOwnCommandBegin = "I ran this command myself:";
inline constexpr std::string_view kOwnCommandMember = "command";
inline constexpr std::string_view kUndoneBegin = "I undid your changes of files in that turn:";
inline constexpr std::string_view kUndoneMember = "undo";

/// Whether the chat wrote this message in the user's name; `text` is its beginning, also in JSON's escapes.
inline bool isToldByChat(const Entry& entry, std::string_view text) {
  if (entry.meta.empty()) return false;
  const auto has = [&](std::string_view member) { return json::findMember(entry.meta, member).has_value(); };
  return (text.starts_with(kUndoneBegin) && has(kUndoneMember)) ||
         (text.starts_with(kOwnCommandBegin) && has(kOwnCommandMember));
}

}  // namespace bough
