// Tells text that the user typed from other text in the user's name: attached files and piped input, and the chat's own
// reports of what the user did. Titles and previews show only the typed text.
#pragma once

#include <bough/entry.h>

#include <string>
#include <string_view>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough {

/// Returns the text block for a file that a prompt names with @.
inline std::string fileBlock(std::string_view name, std::string_view content) {
  return std::string("<file path=") + json::quoted(name) + ">\n" + std::string(content) + "\n</file>";
}
/// Returns the text block for input that was piped to a prompt.
inline std::string stdinBlock(std::string_view content) {
  return "<stdin>\n" + std::string(content) + "\n</stdin>";
}
/// Returns true for a text block made by fileBlock or stdinBlock. Not meant for the first block of a message. `text`
/// may contain JSON escapes.
inline bool isAttachedBlock(std::string_view text) {
  return (text.starts_with("<file path=") && text.ends_with("</file>")) ||
         (text.starts_with("<stdin>") && text.ends_with("</stdin>"));
}

/// The chat tells the model about a command that the user ran, or about an undo, in a message that begins like this and
/// has this member in `meta`.
inline constexpr std::string_view kUserCommandPrefix = "I ran this command myself:";
inline constexpr std::string_view kUserCommandMember = "command";
inline constexpr std::string_view kUndoPrefix = "I undid your changes of files in that turn:";
inline constexpr std::string_view kUndoMember = "undo";

/// Returns true when the chat wrote this message in the user's name. `text` is the beginning of the message and may
/// contain JSON escapes.
inline bool isChatReport(const Entry& entry, std::string_view text) {
  if (entry.meta.empty()) return false;
  const auto has = [&](std::string_view member) { return json::findMember(entry.meta, member).has_value(); };
  return (text.starts_with(kUndoPrefix) && has(kUndoMember)) ||
         (text.starts_with(kUserCommandPrefix) && has(kUserCommandMember));
}

}  // namespace bough
