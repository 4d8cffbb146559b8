// What the readers of all dialects share: converting a value of an indexed text to the fields of a Message.
#pragma once

#include <bough/message.h>

#include <initializer_list>
#include <optional>
#include <string_view>

#include "message/json/json_tree.h"

namespace bough::message {

using json::Tree;

/// Why a value is not a message of its dialect; std::nullopt when it is one.
using Problem = std::optional<std::string_view>;

/// Reads into one Message, which owns the texts that the reader has to compose.
class Reader {
 public:
  Reader(const Tree& indexed, Message& message) : tree(indexed), out(message) {}

  /// Returns the text of a string value; a missing text for any other value.
  [[nodiscard]] TextView text(Tree::Index node) const;
  /// Stores a text that does not occur in the stored bytes.
  TextView own(std::string_view plain);
  /// Joins several texts into one, with an escaped separator between them.
  TextView joined(const std::vector<TextView>& texts, std::string_view escapedSeparator);
  /// Returns a number of tokens, at most kMaxTokens; 0 for any other value.
  [[nodiscard]] std::uint64_t tokens(Tree::Index node) const;

  /// Notes a member that the view has no field for, unless it is empty (null, [] or {}).
  void extra(std::vector<std::string_view>& extras, Tree::Index key) const;

  /// Notes every member of an object except the known ones.
  void extrasOf(std::vector<std::string_view>& extras, Tree::Index object,
                std::initializer_list<std::string_view> known) const;

  /// Returns an Unknown block, which is kept verbatim. `problem` says what is wrong with it, if anything.
  [[nodiscard]] Block unknownBlock(Tree::Index node, TextView type, std::string_view problem = {}) const;

  /// Splits "data:image/png;base64,AAAA" into type and data; any other URL stays whole. Returns false when it is not a
  /// usable URL.
  bool url(TextView address, Block& block);
  /// Reads a file's bytes: such a URL, or base64 alone.
  bool fileData(const TextView& data, Block& block);

  const Tree& tree;
  Message& out;
};

/// Reads one element of a dialect's history, or a whole response.
using ReadMessage = Problem(const Tree& tree, Tree::Index node, Message& out);
ReadMessage readAnthropic;
ReadMessage readOpenaiChat;
ReadMessage readOpenaiResponses;
ReadMessage readGemini;
ReadMessage readPlain;
ReadMessage readBough;

/// Limit for the values of one message. A message with more is kept unread; no real message is that large.
inline constexpr std::size_t kMaxMessageValues = 2'000'000;

Problem readMessage(Dialect dialect, const Tree& tree, Tree::Index node, Message& out);

/// Reads the system prompt of a dialect that has a separate member for it (`system`, `instructions`,
/// `systemInstruction`).
Problem readSystem(Dialect dialect, const Tree& tree, Tree::Index node, Message& out);

/// Reads content that is a string or a list of blocks in Anthropic's form; also a system prompt.
Problem readAnthropicContent(Reader& reader, Tree::Index content);
/// Reads content in Gemini's form: {"parts":[…]}, or a string.
Problem readGeminiContent(Reader& reader, Tree::Index content);

}  // namespace bough::message
