// The interface between the loop and a model: a provider receives a context in its dialect and streams an answer.
//
// bough has providers for the APIs of Anthropic, OpenAI and Google, for servers that are compatible with them, and a
// model that needs no network. makeProvider creates one by name. To add another one, implement Provider. The answer
// that it returns is stored unchanged, so it must be one message of its dialect, in the form of a whole response of
// that API.
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

/// One request to a model.
struct ModelRequest {
  std::string context = {};        ///< A request document of the provider's dialect: messages, system prompt, tools.
  std::string thinkingLevel = {};  ///< "off", "low", "medium", "high"; empty leaves it to the provider.
  std::uint64_t maxOutputTokens = 8192;  ///< The longest answer, reasoning included.
};

enum class DeltaKind : std::uint8_t { Text, Thinking, ToolCall };

/// A piece of an answer as it arrives. Only for display: the answer itself is what stream() returns. `text` is valid
/// during the call.
struct Delta {
  DeltaKind kind = DeltaKind::Text;
  std::string_view text = {};  ///< ToolCall: the tool's name when the call starts; then empty, as a sign of progress.
};

/// One answer. When the stream broke off, `message` holds the part that can be sent back (it may be empty), and
/// `partial` holds the rest: reasoning without its signature, and calls, which never run.
struct Answer {
  std::string message = {};  ///< In the provider's dialect, as a whole response; empty when nothing arrived.
  std::string partial = {};  ///< A JSON object {"thinking":…,"toolCalls":[…]}; empty when there is neither.
  bool aborted = false;      ///< It broke off, because of the user or because of `error`.
  std::optional<Error> error = {};  ///< Why it broke off; std::nullopt when the user stopped it.
};

/// Tells that a request will be sent again, and why.
struct RetryNotice {
  int attempt = 0;           ///< The attempt that failed, from 1.
  std::uint64_t waitMs = 0;  ///< The wait before the next attempt.
  std::string reason = {};
};

/// Callbacks on the thread of stream(), while it runs; each may be empty.
struct StreamEvents {
  std::function<void(const Delta&)> onDelta = {};
  std::function<void(const RetryNotice&)> onRetry = {};
  /// Reports the usage of an attempt that contributed nothing to the answer: it broke off, and was repeated or given
  /// up. It has to be paid nevertheless. Only the usage that had arrived by then is known.
  std::function<void(const Usage&)> onLost = {};
};

/// How many tokens a model can read and write.
struct ModelLimits {
  std::uint64_t window = 128'000;
  std::uint64_t maxOutput = 8'192;
};

/// A model. Calls come from one thread at a time. It keeps no conversation: every request is complete.
class Provider {
 public:
  virtual ~Provider() = default;
  /// Returns the name, such as "anthropic/claude-sonnet-5-5".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Returns the dialect of the contexts it accepts and of the answers it returns; always the same.
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// Returns the limits of the model. The default is a cautious guess.
  [[nodiscard]] virtual ModelLimits limits() const { return {}; }
  /// Returns true when the model supports this thinking level: "off", "low", "medium" or "high". When it does not, the
  /// provider decides.
  [[nodiscard]] virtual bool takesThinking(std::string_view /*level*/) const { return true; }
  /// Returns true when the model refuses thinking blocks whose prefix has changed; the loop then leaves such blocks
  /// out.
  [[nodiscard]] virtual bool bindsThinking() const { return false; }
  /// Sends a request and returns the whole answer; this may take minutes. Fails when no answer came: a refused key, an
  /// unknown model, no network after all retries; with InvalidArgument when the provider refused the prompt. A
  /// retryable error leaves the turn open for another attempt. A stream that broke off later, or that `cancel` ended,
  /// gives an aborted Answer.
  [[nodiscard]] virtual Result<Answer> stream(const ModelRequest& request, const StreamEvents& events,
                                              const CancelToken& cancel) = 0;
};

/// A server that the user runs or chooses: `NAME/MODEL` then names a model there.
struct OwnProvider {
  std::string name{};                     ///< The part before the slash.
  Dialect dialect = Dialect::OpenaiChat;  ///< The API it speaks.
  std::string baseUrl{};                  ///< The address before the API's own paths: `http://host:8080/v1`.
  std::string keyVariable{};              ///< The environment variable with its key; empty: no key is needed.
};

/// How long and how often to try, and the user's own providers.
struct HttpProviderOptions {
  int attempts = 6;                       ///< In total, including the first one.
  std::uint64_t longestWaitMs = 120'000;  ///< If a provider asks for a longer wait, give up.
  int connectTimeoutMs = 20'000;          ///< For each attempt.
  int idleTimeoutMs = 300'000;            ///< The longest time without receiving a byte.
  std::vector<OwnProvider> providers{};   ///< Added to those that bough knows; the same name replaces a known one.
};

/// Returns an environment variable; empty when it is not set. A program that keeps its keys elsewhere passes its own
/// function.
using Variables = std::function<std::string(const std::string& name)>;
/// Reads the process's environment. Like getenv, do not call it while another thread sets variables.
std::string environmentVariable(const std::string& name);

/// Returns the providers that `PROVIDER/MODEL` may name, without the user's own.
const std::vector<std::string>& providerNames();

/// Returns the model to use when none is named: the value of BOUGH_MODEL, otherwise a model whose key is set, otherwise
/// the offline model. Never fails; makeProvider tells whether the model can be used.
std::string defaultModel(const Variables& variables = environmentVariable);

/// A provider and its known models.
struct UsableProvider {
  std::string name{};
  std::vector<std::string> models{};  ///< The suggested one first; `*` at the end matches anything.
  std::string needs{};                ///< What must be set before it can be used; may be empty.
};
/// Returns all providers, usable ones first. Contacts no server; reads the table that BOUGH_MODELS names.
std::vector<UsableProvider> usableProviders(const std::vector<OwnProvider>& own = {},
                                            const Variables& variables = environmentVariable);

/// Returns the built-in table of models in its file format. BOUGH_MODELS may name a changed copy of it
/// (docs/models.md).
std::string_view modelTableText();

/// Creates a provider from `PROVIDER/MODEL`; `offline/echo` needs neither key nor network. Fails with InvalidArgument
/// when the provider is unknown or its key is missing; the hint says what to set. docs/agent.md lists the variables.
/// Does not connect: a wrong key shows at the first request. Reads the key now; after a change of the variable, create
/// another provider.
[[nodiscard]] Result<std::unique_ptr<Provider>> makeProvider(const std::string& name,
                                                             const HttpProviderOptions& options = {},
                                                             const Variables& variables = environmentVariable);

}  // namespace bough::agent
