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

struct ChatMessage {
  std::string id;
  std::string timestamp;
  Speaker speaker = Speaker::Nobody;
  std::string what;  ///< Of one that nobody says: what it is.
  std::string model;
  std::string text;     ///< Of the user: the words.
  std::string message;  ///< In Gemini's dialect; an answer with its usage, as the API returns it.
  std::vector<Hole> holes;
  std::string results;               ///< The results of its calls, as a message of the user; empty when it has none.
  std::vector<std::string> answers;  ///< The ids of the calls that they answer.
  std::uint64_t meaning = 0;         ///< Equal for messages that say the same, however they are written.
};

/// `record` is one JSON object of type user, gemini, info, error or warning.
ChatMessage parseChatMessage(std::string_view record);

}  // namespace bough::transcript::gemini_cli
