// What is read off a model's answer: its text and calls, why it ended, what it took.
#pragma once

#include <bough/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/provider.h"
#include "bough/agent/tools.h"

namespace bough::agent {

struct AnswerParts {
  std::vector<ToolCall> calls;
  std::string text;
  std::string stopReason;  ///< As the provider names it.
  std::string end;         ///< The same in one spelling, lower case.
  Usage usage;
  bool saysUsage =
      false;  ///< Otherwise nobody knows what it used: the stream ended before that, or the server never says.
  bool refused = false;
  bool unusual = false;  ///< The API says that the answer did not end as it should.

  /// Whether the answer reached a limit of tokens.
  [[nodiscard]] bool isCutOff() const;
  /// Whether the model, or whoever watches it, refused to go on.
  [[nodiscard]] bool isBlocked() const;
  /// What is wrong with the answer; empty when nothing is, or when it has calls to go on with.
  [[nodiscard]] std::string problem() const;
  /// Why a call must not run, though the answer has it; empty when it may.
  [[nodiscard]] std::string_view obstacle(const ToolCall& call) const;
};

Result<AnswerParts> partsOf(const Answer& answer, Dialect dialect);

}  // namespace bough::agent
