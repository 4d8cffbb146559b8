// From the events of one provider's stream to the message they make.
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

/// Reads one answer. Texts are joined as they were escaped, so that the message is what the provider wrote.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  /// Takes an event. Fails with what the provider said when it is an error, Damaged when it cannot be read.
  virtual Result<void> take(const SseEvent& event, const std::function<void(const Delta&)>& onDelta) = 0;
  /// Whether the provider said that the answer is complete.
  [[nodiscard]] virtual bool isWhole() const = 0;
  /// A message that says nothing but what the provider has said so far of its tokens.
  [[nodiscard]] virtual std::string usageAlone() const = 0;
  /// The message. With `aborted` without what could not be sent back.
  virtual Answer answer(bool aborted) = 0;
};

std::unique_ptr<StreamReader> makeAnthropicReader();
std::unique_ptr<StreamReader> makeOpenaiChatReader();
std::unique_ptr<StreamReader> makeOpenaiResponsesReader();
std::unique_ptr<StreamReader> makeGeminiReader();

/// The ids of the calls of one answer. Results are stored apart from their calls, in the order in which they come, so
/// each call needs an id of its own: also one that came without, or with the id of another.
class CallIds {
 public:
  /// An id to write in the place of this one, in the order of the calls; none when it can stay. `number`: of the call.
  std::optional<std::string> replace(std::string_view id, std::string_view responseId, std::size_t number);

 private:
  std::set<std::string, std::less<>> used_;
};

/// Where a provider's API is and how it is spoken to.
struct Endpoint {
  std::string provider;  ///< "anthropic", "openai", "ollama" …
  std::string model;
  Dialect dialect = Dialect::Anthropic;
  std::string baseUrl;
  std::string key;          ///< Empty when the server wants none.
  std::string keyVariable;  ///< Where the key comes from, for messages.
  ModelFacts facts{};
};

/// What is posted, and to where. One for each dialect, in the file of its name.
struct PostData {
  std::string url;
  std::vector<std::string> headers;
  std::string body;
};
/// Takes out of a request what the newest models refuse: temperature, top_p, top_k.
void leaveOutSampling(MemberList& body, const ModelFacts& facts);
PostData anthropicRequest(const Endpoint& endpoint, const ModelRequest& request);
PostData openaiChatRequest(const Endpoint& endpoint, const ModelRequest& request);
PostData openaiResponsesRequest(const Endpoint& endpoint, const ModelRequest& request);
PostData geminiRequest(const Endpoint& endpoint, const ModelRequest& request);

}  // namespace bough::agent
