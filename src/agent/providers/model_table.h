// What bough knows about models: how much they read and write, how to ask them to think, and which settings they
// refuse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bough/error.h"

namespace bough::agent {

/// How a model is asked to think.
enum class ThinkingKind : std::uint8_t {
  None,            ///< The model does not think, or refuses the setting.
  Budget,          ///< By a number of tokens: Anthropic's `enabled`, Gemini's `thinkingBudget`.
  Adaptive,        ///< Anthropic's `adaptive` with an effort; off unless it is asked for.
  AdaptiveOn,      ///< Like Adaptive, but on unless it is turned off.
  AdaptiveAlways,  ///< Like Adaptive, but cannot be turned off.
  Effort,          ///< OpenAI's effort.
  Level,           ///< Gemini's `thinkingLevel`.
};

struct ModelFacts {
  std::string name{};  ///< The model's name, or a prefix of names when it ends in `*`.
  std::uint64_t windowTokens = 128'000;
  std::uint64_t outputTokens = 8'192;  ///< The most tokens in one answer.
  ThinkingKind thinking = ThinkingKind::Effort;
  std::string outputField{};  ///< The name of the output limit in Chat Completions; empty: the usual name for that
                              ///< server.
  bool sampling = true;       ///< Whether the model accepts temperature, top_p and top_k.
};

/// The facts about all models. docs/models.md names the sources of the figures.
class ModelTable {
 public:
  static const ModelTable& builtIn();
  /// Parses a table: lines of `name window output thinking field sampling`; `#` begins a comment. Fails with
  /// InvalidArgument, naming the wrong line.
  static Result<ModelTable> parse(std::string_view text);
  /// Reads the table from a file. Returns the built-in table when `path` is empty.
  static Result<ModelTable> read(const std::string& path);
  /// Returns the text of the built-in table, in the form that parse() reads.
  static std::string_view builtInText();

  /// Returns the row with the longest name that matches, or cautious guesses when no row matches. Ignores the prefix of
  /// a router (`anthropic/claude-…`).
  [[nodiscard]] ModelFacts find(std::string_view model) const;
  [[nodiscard]] const std::vector<ModelFacts>& rows() const { return rows_; }

 private:
  std::vector<ModelFacts> rows_;
};

}  // namespace bough::agent
