// One message of a Gemini CLI session, as the model sees it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/model/origin.h"

namespace bough::transcript::gemini_cli {

enum class Speaker : std::uint8_t {
  User,
  Model,
  Nobody,  ///< Not sent to the model: notices, commands, what the program itself says.
};

/// The result of a call.
struct CallResult {
  std::string callId;             ///< For a call without an id: its number, "#1".
  std::string parts;              ///< Separated by commas.
  std::uint64_t contentHash = 0;  ///< Equal for equal parts.
};

struct ChatMessage {
  std::string id;
  std::string timestamp;
  Speaker speaker = Speaker::Nobody;
  std::string kindName;  ///< For Speaker::Nobody: what kind of message it is.
  std::string model;
  std::string text;     ///< For the user: the words.
  std::string message;  ///< In Gemini's dialect; an answer includes its usage, as the API returns it.
  std::vector<Hole> holes;
  /// For the model: the results of its calls that were answered. For a user: all results, when the message contains
  /// nothing else.
  std::vector<CallResult> results;
  /// Equal for messages with the same content, in whatever form. Results do not count, because they may come later.
  std::uint64_t contentHash = 0;
};

/// Returns results as a message of the user.
std::string resultsMessage(const std::vector<CallResult>& results);

/// Parses a message. `record` is one JSON object of type user, gemini, info, error or warning.
ChatMessage parseChatMessage(std::string_view record);

}  // namespace bough::transcript::gemini_cli
