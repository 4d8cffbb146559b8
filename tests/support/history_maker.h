// Makes random histories that are valid for their dialect and contain what is easily lost in a conversion: unknown
// fields and blocks, odd numbers, duplicate keys, escapes, blanks between tokens, arguments that are not JSON.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bough::test {

/// Returns how many histories a test tries: `usual` times $BOUGH_PROPERTY_FACTOR.
std::uint64_t rounds(std::uint64_t usual);

class HistoryMaker {
 public:
  explicit HistoryMaker(std::uint64_t seed) : random_(seed) {}

  /// Returns a whole document: a bare list, or a request with system prompt, tools and settings.
  std::string document(Dialect dialect, int turns);
  /// Returns the messages of one turn: the user's message, the assistant's answers, and the results of its calls.
  std::vector<std::string> turn(Dialect dialect);

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }

 private:
  std::string text();    ///< A JSON string that is not blank.
  std::string object();  ///< A JSON object with odd content.
  std::string extra();   ///< Sometimes `,"unknown":…`.
  std::string cache();   ///< Sometimes `,"cache_control":…`.
  std::string base64();
  std::string id(std::string_view prefix);
  std::string toolName(Dialect dialect);
  std::string arguments();  ///< A JSON string, usually containing an object.
  std::string pick(std::vector<std::string> choices) { return choices[below(choices.size())]; }

  std::vector<std::string> anthropicTurn();
  std::vector<std::string> chatTurn();
  std::vector<std::string> responsesTurn();
  std::vector<std::string> geminiTurn();
  std::string anthropicMedia();
  std::string geminiMedia();

  std::mt19937_64 random_;
  int made_ = 0;
};

}  // namespace bough::test
