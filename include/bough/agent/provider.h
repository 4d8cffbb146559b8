// What a model is to the loop: it gets a context in its dialect and streams an answer.
//
// bough brings providers for the APIs of Anthropic, OpenAI and Google, for servers that are compatible with them, and a
// model that needs no network. makeProvider finds one by name. A provider of your own is a class that implements
// Provider: the answer that it returns is stored as it is, so it must be one message of its dialect, in the shape of a
// whole response of that API.
#pragma once

#include <bough/error.h>
#include <bough/message.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/cancel.h"

namespace bough::agent {

/// What is asked of a model.
struct ModelRequest {
  std::string context = {};        ///< A request document of the provider's dialect: messages, system prompt, tools.
  std::string thinkingLevel = {};  ///< "off", "low", "medium", "high"; empty leaves it to the provider.
  std::uint64_t maxOutputTokens = 8192;  ///< How much the answer may have, reasoning included.
};

enum class DeltaKind : std::uint8_t { Text, Thinking, ToolCall };

/// A piece of an answer as it comes in. For showing alone: the answer is what stream() returns. `text` is valid during
/// the call.
struct Delta {
  DeltaKind kind = DeltaKind::Text;
  std::string_view text = {};  ///< ToolCall: the tool's name when the call begins, then nothing but progress.
};

/// One answer. When the stream broke off, `message` holds what can be sent back (perhaps nothing) and `partial` the
/// rest: reasoning without its signature and calls, which never run.
struct Answer {
  std::string message = {};  ///< In the provider's dialect, in the shape of a whole response; empty when nothing came.
  std::string partial = {};  ///< A JSON object {"thinking":…,"toolCalls":[…]}; empty when there is neither.
  bool aborted = false;      ///< It broke off: the user's wish, or `error`.
  std::optional<Error> error = {};  ///< Why it broke off; none when the user wished it.
};

/// Says that a request is tried again, and why.
struct RetryNotice {
  int attempt = 0;           ///< The one that failed, from 1.
  std::uint64_t waitMs = 0;  ///< Until the next one.
  std::string reason = {};
};

/// Called on the thread of stream(), in between; each may be empty.
struct StreamEvents {
  std::function<void(const Delta&)> onDelta = {};
  std::function<void(const RetryNotice&)> onRetry = {};
  /// What a try took that gave nothing of the answer: it broke off, and was made again or given up. It is paid all the
  /// same; how much of it had come by then is all that is known.
  std::function<void(const Usage&)> onLost = {};
};

/// How much a model reads and writes, in tokens.
struct ModelLimits {
  std::uint64_t window = 128'000;
  std::uint64_t maxOutput = 8'192;
};

/// A model. Calls come from one thread at a time. It keeps no conversation: every request is complete.
class Provider {
 public:
  virtual ~Provider() = default;
  /// "anthropic/claude-sonnet-5-5"
  [[nodiscard]] virtual std::string name() const = 0;
  /// Of the contexts that it takes and of the answers that it returns; always the same.
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// Guesses on the safe side unless the provider knows better.
  [[nodiscard]] virtual ModelLimits limits() const { return {}; }
  /// Whether the model can be told to think this much: "off", "low", "medium", "high". Where it cannot, it does as its
  /// provider decides.
  [[nodiscard]] virtual bool takesThinking(std::string_view /*level*/) const { return true; }
  /// Whether the model refuses thinking whose prefix has changed: the loop leaves such blocks out.
  [[nodiscard]] virtual bool bindsThinking() const { return false; }
  /// Sends a request and returns the whole answer; may take minutes. Fails when nothing came: a refused key, an unknown
  /// model, no network after all retries; with InvalidArgument when it is the prompt that was refused. An error that is
  /// retryable leaves the turn open for another try. A stream that broke off later, or that `cancel` ended, is an
  /// aborted Answer.
  [[nodiscard]] virtual Result<Answer> stream(const ModelRequest& request, const StreamEvents& events,
                                              const CancelToken& cancel) = 0;
};

/// A server of one's own: `NAME/MODEL` then names a model there.
struct OwnProvider {
  std::string name{};                     ///< Before the slash.
  Dialect dialect = Dialect::OpenaiChat;  ///< The API it speaks.
  std::string baseUrl{};                  ///< What comes before the API's own paths: `http://host:8080/v1`.
  std::string keyVariable{};              ///< The environment variable that holds its key; empty: it needs none.
};

/// How long a provider is waited for.
struct HttpProviderOptions {
  int attempts = 6;                       ///< In all, the first one included.
  std::uint64_t longestWaitMs = 120'000;  ///< A provider that asks for more is not waited for.
  int connectTimeoutMs = 20'000;          ///< Of each attempt.
  int idleTimeoutMs = 300'000;            ///< The longest time without a single byte.
  std::vector<OwnProvider> providers{};   ///< Besides those that bough knows; a name of theirs takes its place.
};

/// Reads an environment variable; empty when it is not set. A program that keeps its keys elsewhere gives its own.
using Variables = std::function<std::string(const std::string& name)>;
/// The process's own. As getenv, not to be called while another thread sets variables.
std::string environmentVariable(const std::string& name);

/// The providers that `PROVIDER/MODEL` may name, without the user's own.
const std::vector<std::string>& providerNames();

/// The model to use when none is named: BOUGH_MODEL as it is written, else one whose key is set, else the offline
/// model. Never fails; makeProvider says whether it can be used.
std::string defaultModel(const Variables& variables = environmentVariable);

/// A provider, and the models of it that are known by name.
struct UsableProvider {
  std::string name{};
  std::vector<std::string> models{};  ///< The suggested one first; `*` at the end stands for any rest.
  std::string needs{};                ///< What must be set before it can be used; empty: nothing.
};
/// All providers, those that can be used first. Asks no server; reads the table that BOUGH_MODELS names.
std::vector<UsableProvider> usableProviders(const std::vector<OwnProvider>& own = {},
                                            const Variables& variables = environmentVariable);

/// The built-in table of models as a file holds it: what BOUGH_MODELS may name a changed copy of (docs/models.md).
std::string_view modelTableText();

/// Makes a provider from `PROVIDER/MODEL`; `offline/echo` needs neither key nor network. Fails with InvalidArgument
/// when the provider is unknown or its key is missing; the hint says what to set. docs/agent.md lists the variables.
/// Connects to nothing: a key that is wrong shows with the first request. The key is read now; a later change of the
/// variable needs another provider.
[[nodiscard]] Result<std::unique_ptr<Provider>> makeProvider(const std::string& name,
                                                             const HttpProviderOptions& options = {},
                                                             const Variables& variables = environmentVariable);

}  // namespace bough::agent
