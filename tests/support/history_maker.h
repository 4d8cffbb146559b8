// Makes histories at random, valid for their dialect, with everything that is easily lost on the way: unknown fields
// and blocks, odd numbers, duplicate keys, escapes, blanks between tokens, arguments that are no JSON.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace bough::test {

/// How many histories a test tries: as many as usual, times $BOUGH_PROPERTY_FACTOR.
std::uint64_t rounds(std::uint64_t usual);

class HistoryMaker {
 public:
  explicit HistoryMaker(std::uint64_t seed) : random_(seed) {}

  /// A whole document: a bare list, or a request with system prompt, tools and settings.
  std::string document(Dialect dialect, int turns);
  /// The messages of one turn: what the user says, what the assistant does, and the results of its calls.
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
  std::string arguments();  ///< A JSON string, most of the time with an object in it.
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
