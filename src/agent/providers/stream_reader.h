// Builds a message from the events of one provider's stream.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/parts/json_parts.h"
#include "agent/providers/model_table.h"
#include "agent/providers/sse.h"
#include "bough/agent/provider.h"

namespace bough::agent {

/// Reads one answer. Joins pieces of text in their escaped form, so that the message keeps the bytes that the provider
/// wrote.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  /// Processes an event. When the event is an error, fails with the provider's own message; fails with Damaged when the
  /// event cannot be read.
  virtual Result<void> take(const SseEvent& event, const std::function<void(const Delta&)>& onDelta) = 0;
  /// Returns true once the provider has said that the answer is complete.
  [[nodiscard]] virtual bool isComplete() const = 0;
  /// Returns a message without content that holds only the token usage reported so far.
  [[nodiscard]] virtual std::string usageOnlyMessage() const = 0;
  /// Returns the message. If `aborted`, leaves out the parts that could not be sent back to the provider.
  virtual Answer answer(bool aborted) = 0;
};

std::unique_ptr<StreamReader> makeAnthropicReader();
std::unique_ptr<StreamReader> makeOpenaiChatReader();
std::unique_ptr<StreamReader> makeOpenaiResponsesReader();
std::unique_ptr<StreamReader> makeGeminiReader();

/// Makes the call ids of one answer unique. Results are stored apart from their calls, in order of arrival, so each
/// call needs an id that no other call has, even a call that arrived without an id or with a duplicate.
class CallIds {
 public:
  /// Returns a replacement for `id`, or std::nullopt when `id` can stay. Called in the order of the calls; `number` is
  /// the number of the call.
  std::optional<std::string> replace(std::string_view id, std::string_view responseId, std::size_t number);

 private:
  std::set<std::string, std::less<>> used_;
};

/// The address of a provider's API, and how to talk to it.
struct Endpoint {
  std::string provider;  ///< "anthropic", "openai", "ollama" …
  std::string model;
  Dialect dialect = Dialect::Anthropic;
  std::string baseUrl;
  std::string key;          ///< Empty when the server needs none.
  std::string keyVariable;  ///< The variable that holds the key, for messages.
  ModelFacts facts{};
};

/// An HTTP request to an API. Each dialect builds its own, in the file of its name.
struct PostData {
  std::string url;
  std::vector<std::string> headers;
  std::string body;
};
/// Removes settings that the newest models refuse: temperature, top_p, top_k.
void removeSamplingSettings(JsonObjectEditor& body, const ModelFacts& facts);
PostData anthropicRequest(const Endpoint& endpoint, const ModelRequest& request);
PostData openaiChatRequest(const Endpoint& endpoint, const ModelRequest& request);
PostData openaiResponsesRequest(const Endpoint& endpoint, const ModelRequest& request);
PostData geminiRequest(const Endpoint& endpoint, const ModelRequest& request);

}  // namespace bough::agent
