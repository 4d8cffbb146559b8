// Reads from a model's answer its text and calls, why it ended, and what it used.
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
  std::string stopReason;            ///< As the provider names it.
  std::string normalizedStopReason;  ///< The same in lower case, with the spelling unified.
  Usage usage;
  bool hasUsage =
      false;  ///< False when the usage is unknown: the stream ended too early, or the server never reports it.
  bool refused = false;
  bool unusual = false;  ///< The API says that the answer did not end normally.

  /// Returns true when the answer reached a token limit.
  [[nodiscard]] bool isCutOff() const;
  /// Returns true when the model, or a filter over it, refused to continue.
  [[nodiscard]] bool isBlocked() const;
  /// Returns what is wrong with the answer. Empty when nothing is wrong, or when the answer has calls to continue with.
  [[nodiscard]] std::string problem() const;
  /// Returns why a call of the answer must not run; empty when it may run.
  [[nodiscard]] std::string_view reasonNotToRun(const ToolCall& call) const;
};

Result<AnswerParts> partsOf(const Answer& answer, Dialect dialect);

}  // namespace bough::agent
