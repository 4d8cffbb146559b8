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
  std::string callId;         ///< Of a call without an id: its place, "#1".
  std::string parts;          ///< With commas between them.
  std::uint64_t meaning = 0;  ///< Equal for equal parts.
};

struct ChatMessage {
  std::string id;
  std::string timestamp;
  Speaker speaker = Speaker::Nobody;
  std::string what;  ///< Of one that nobody says: what it is.
  std::string model;
  std::string text;     ///< Of the user: the words.
  std::string message;  ///< In Gemini's dialect; an answer with its usage, as the API returns it.
  std::vector<Hole> holes;
  /// Of the model: those of its calls that were answered. Of a user: all that it says, when that is only results.
  std::vector<CallResult> results;
  /// Equal for messages that say the same, however they are written. Results do not count: they may come later.
  std::uint64_t meaning = 0;
};

/// Results as a message of the user.
std::string resultsMessage(const std::vector<CallResult>& results);

/// `record` is one JSON object of type user, gemini, info, error or warning.
ChatMessage parseChatMessage(std::string_view record);

}  // namespace bough::transcript::gemini_cli
