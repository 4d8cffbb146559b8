// What is known about models: how much they read and write, how they are asked to think, what they refuse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace bough::agent {

/// How a model is asked to think.
enum class ThinkingKind : std::uint8_t {
  None,            ///< It does not, or refuses to be asked.
  Budget,          ///< By a number of tokens: Anthropic's `enabled`, Gemini's `thinkingBudget`.
  Adaptive,        ///< Anthropic's `adaptive` with an effort; off unless it is asked for.
  AdaptiveOn,      ///< The same, on unless it is turned off.
  AdaptiveAlways,  ///< The same, and it cannot be turned off.
  Effort,          ///< OpenAI's effort.
  Level,           ///< Gemini's `thinkingLevel`.
};

struct ModelFacts {
  std::string name{};  ///< The model's name, or its beginning when it ends in `*`.
  std::uint64_t windowTokens = 128'000;
  std::uint64_t outputTokens = 8'192;  ///< The most that it writes in one answer.
  ThinkingKind thinking = ThinkingKind::Effort;
  std::string outputField{};  ///< How Chat Completions calls the limit; empty: as the server is known to take it.
  bool sampling = true;       ///< Whether it takes temperature, top_p and top_k.
};

/// One table for all models. docs/models.md says where its figures are from.
class ModelTable {
 public:
  static const ModelTable& builtIn();
  /// Reads a table: lines of `name window output thinking field sampling`; `#` begins a comment. InvalidArgument names
  /// the line that is wrong.
  static Result<ModelTable> parse(std::string_view text);
  /// The table in this file; the built-in one when `path` is empty.
  static Result<ModelTable> read(const std::string& path);
  /// The built-in table as a file holds it.
  static std::string_view builtInText();

  /// The row with the longest name that matches; guesses on the safe side for models that no row matches. A router's
  /// prefix (`anthropic/claude-…`) does not count.
  [[nodiscard]] ModelFacts find(std::string_view model) const;
  [[nodiscard]] const std::vector<ModelFacts>& rows() const { return rows_; }

 private:
  std::vector<ModelFacts> rows_;
};

}  // namespace bough::agent
