// What the readers of all dialects share: from a value of an indexed text to the fields of a Message.
#pragma once

#include <bough/message.h>

#include <initializer_list>
#include <optional>
#include <string_view>

#include "message/json/json_tree.h"

namespace bough::message {

using json::Tree;

/// Why a value is not a message of its dialect; none when it is one.
using Problem = std::optional<std::string_view>;

/// Reads into one Message, which comes to own what it has to put together.
class Reader {
 public:
  Reader(const Tree& indexed, Message& message) : tree(indexed), out(message) {}

  /// The text of a string value; a missing one for any other value.
  [[nodiscard]] TextView text(Tree::Index node) const;
  /// A text that is nowhere in the stored bytes.
  TextView own(std::string_view plain);
  /// Several texts as one, with a separator between them that is written escaped.
  TextView joined(const std::vector<TextView>& texts, std::string_view escapedSeparator);
  /// A number of tokens, at most kMaxTokens; 0 for any other value.
  [[nodiscard]] std::uint64_t tokens(Tree::Index node) const;

  /// Notes a member that the view has no field for, unless it says nothing (null, [] or {}).
  void extra(std::vector<std::string_view>& extras, Tree::Index key) const;

  /// Notes every member of an object except these.
  void extrasOf(std::vector<std::string_view>& extras, Tree::Index object,
                std::initializer_list<std::string_view> known) const;

  /// An Unknown block, kept verbatim. `problem` says what is wrong with it, if anything.
  [[nodiscard]] Block unknown(Tree::Index node, TextView type, std::string_view problem = {}) const;

  /// Splits "data:image/png;base64,AAAA" into type and data; any other URL stays one. False when it is not a usable
  /// URL.
  bool url(TextView address, Block& block);
  /// A file's bytes: such a URL, or base64 alone.
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

/// The most values of one message that is read. More are kept as they are, and nobody has written such a message.
inline constexpr std::size_t kMaxMessageValues = 2'000'000;

Problem readMessage(Dialect dialect, const Tree& tree, Tree::Index node, Message& out);

/// Reads the system prompt where the dialect has a place of its own for it (`system`, `instructions`,
/// `systemInstruction`).
Problem readSystem(Dialect dialect, const Tree& tree, Tree::Index node, Message& out);

/// Content that is a string or a list of blocks, in Anthropic's form; also a system prompt.
Problem readAnthropicContent(Reader& reader, Tree::Index content);
/// The same in Gemini's form: {"parts":[…]}, or a string.
Problem readGeminiContent(Reader& reader, Tree::Index content);

}  // namespace bough::message
