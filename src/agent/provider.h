// What a model is to the loop: it gets a context in its dialect and streams an answer, which is one message of that
// dialect, put together as the provider would have sent it whole.
#pragma once

#include <bough/message.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/cancel.h"
#include "bough/error.h"

namespace bough::agent {

struct ModelRequest {
  std::string context;        ///< A request document of the provider's dialect: messages, system prompt, tools.
  std::string thinkingLevel;  ///< "low", "medium", "high"; empty or "off" leaves it to the provider.
  std::uint64_t maxOutputTokens = 8192;
};

enum class DeltaKind : std::uint8_t { Text, Thinking, ToolCall };

/// A piece of an answer as it comes in.
struct Delta {
  DeltaKind kind = DeltaKind::Text;
  std::string_view text;  ///< ToolCall: the tool's name when the call begins, then nothing but progress.
};

/// One answer. When the stream broke off, `message` holds what can be sent back (perhaps nothing) and `partial` the
/// rest: reasoning without its signature and calls, which never run.
struct Answer {
  std::string message;   ///< In the provider's dialect, in the shape of a whole response; empty when nothing came.
  std::string partial;   ///< A JSON object {"thinking":…,"toolCalls":[…]}; empty when there is nothing of that kind.
  bool aborted = false;  ///< It broke off: the user's wish, or `error`.
  std::optional<Error> error;
};

/// Says that a request is tried again, and why.
struct RetryNotice {
  int attempt = 0;
  std::uint64_t waitMs = 0;
  std::string reason;
};

struct StreamEvents {
  std::function<void(const Delta&)> onDelta;
  std::function<void(const RetryNotice&)> onRetry;
};

/// A model. Calls come from one thread at a time.
class Provider {
 public:
  virtual ~Provider() = default;
  /// "anthropic/claude-sonnet-4-5"
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// Fails when nothing came: a refused key, an unknown model, no network after all retries; with InvalidArgument when
  /// it is the prompt that was refused. A stream that broke off later is an aborted Answer.
  virtual Result<Answer> stream(const ModelRequest& request, const StreamEvents& events, const CancelToken& cancel) = 0;
};

}  // namespace bough::agent
