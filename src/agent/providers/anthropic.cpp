// Anthropic's Messages API.
#include <fmt/format.h>

#include <algorithm>

#include "agent/parts/json_parts.h"
#include "agent/providers/stream_reader.h"

namespace bough::agent {
namespace {

constexpr std::size_t kMaxBlocks = 10'000;

struct StreamedBlock {
  JsonObjectEditor members;
  std::string type;
  std::string arguments;  // the JSON of a call's arguments received so far
  PieceDecoder pieces{};
  std::vector<std::string> citations;  // raw
  bool begun = false;
  bool done = false;
};

bool takesArguments(const StreamedBlock& block) {
  return block.type == "tool_use" || block.type == "server_tool_use" || block.type == "mcp_tool_use";
}

bool isReasoning(const StreamedBlock& block) {
  return block.type == "thinking" || block.type == "redacted_thinking";
}

std::string blockJson(const StreamedBlock& block) {
  JsonObjectEditor members = block.members;
  if (takesArguments(block) && !block.arguments.empty()) members.set("input", argumentsObject(block.arguments));
  if (!block.citations.empty()) {
    json::Writer writer;
    writer.beginArray();
    for (const std::string& citation : block.citations) writer.raw(citation);
    members.set("citations", writer.endArray().take());
  }
  return members.text();
}

class AnthropicReader final : public StreamReader {
 public:
  Result<void> take(const SseEvent& event, const std::function<void(const Delta&)>& onDelta) override {
    if (!isObject(event.data)) return fail(ErrorCode::Damaged, "an event of the answer is not JSON");
    const auto ownType = json::findString(event.data, "type");
    const std::string type = ownType.value_or(std::string(event.name));
    if (type == "error" || !ownType) {  // proxies report errors of their own without a type
      if (auto error = providerError(event.data)) return std::unexpected(std::move(*error));
      if (type == "error") return fail(ErrorCode::Io, "the provider reported an error");
    }
    if (type == "message_start") {
      message_ = JsonObjectEditor(memberOr(event.data, "message", "{}"));
      usage_ = JsonObjectEditor(memberOr(memberOr(event.data, "message"), "usage", "{}"));
      begun_ = true;
    } else if (type == "content_block_start" || type == "content_block_delta" || type == "content_block_stop") {
      return takeBlock(type, event.data, onDelta);
    } else if (type == "message_delta") {
      message_.merge(memberOr(event.data, "delta", "{}"));
      usage_.merge(memberOr(event.data, "usage", "{}"));
    } else if (type == "message_stop") {
      complete_ = true;
    }
    return {};
  }

  [[nodiscard]] bool isComplete() const override { return complete_; }
  [[nodiscard]] std::string usageOnlyMessage() const override {
    return fmt::format(R"({{"type":"message","role":"assistant","content":[],"usage":{}}})", usage_.text());
  }

  Answer answer(bool aborted) override {
    Answer answer;
    answer.aborted = aborted;
    PartialParts partial;
    if (aborted) dropUnsendable(partial);
    answer.partial = partial.text();
    json::Writer writer;
    writer.beginArray();
    makeCallIdsUnique();
    for (const StreamedBlock& block : blocks_) {
      if (block.begun) writer.raw(blockJson(block));
    }
    writer.endArray();
    const bool isEmpty = writer.text() == "[]";
    if (isEmpty && (!begun_ || aborted)) return answer;
    if (!begun_) message_ = JsonObjectEditor(R"({"type":"message","role":"assistant"})");
    message_.set("content", writer.take());
    message_.set("usage", usage_.text());
    answer.message = message_.text();
    return answer;
  }

 private:
  void makeCallIdsUnique() {
    CallIds ids;
    const std::string* message = message_.find("id");
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (!blocks_[i].begun || blocks_[i].type != "tool_use") continue;
      const std::string* id = blocks_[i].members.find("id");
      const auto other = ids.replace(id == nullptr ? "" : decoded(stringBody(*id)),
                                     message == nullptr ? "" : decoded(stringBody(*message)), i);
      if (other) blocks_[i].members.set("id", json::quoted(*other));
    }
  }

  Result<void> takeBlock(std::string_view type, std::string_view data,
                         const std::function<void(const Delta&)>& onDelta) {
    // Compatible servers may omit the block number. The event then concerns the last block.
    const bool isNumbered = json::findMember(data, "index").has_value();
    const std::uint64_t last = blocks_.size() - (type == "content_block_start" || blocks_.empty() ? 0 : 1);
    const std::uint64_t index = json::findUnsigned(data, "index").value_or(isNumbered ? kMaxBlocks : last);
    if (index >= kMaxBlocks) return fail(ErrorCode::Damaged, "an event names a block that does not exist");
    if (index >= blocks_.size()) blocks_.resize(index + 1);
    StreamedBlock& block = blocks_[index];
    if (type == "content_block_stop") {
      block.done = true;
    } else if (type == "content_block_start") {
      const std::string_view content = memberOr(data, "content_block", "{}");
      block.members = JsonObjectEditor(content);
      block.type = json::findString(content, "type").value_or("");
      block.begun = true;
      if (takesArguments(block)) {
        onDelta({.kind = DeltaKind::ToolCall, .text = json::findString(content, "name").value_or("")});
      }
      showInitialText(content, onDelta);
    } else {
      const std::string_view delta = memberOr(data, "delta", "{}");
      if (block.type.empty()) beginBlock(block, delta);
      takeDelta(block, delta, onDelta);
    }
    return {};
  }

  // Compatible servers may send no event for the start of a text.
  static void beginBlock(StreamedBlock& block, std::string_view delta) {
    const std::string type = json::findString(delta, "type").value_or("");
    if (type != "text_delta" && type != "thinking_delta") return;
    block.type = type.substr(0, type.find('_'));
    block.members.set("type", json::quoted(block.type));
    block.begun = true;
  }

  // Compatible servers may send the beginning of a text, or all of it, in the event that starts its block.
  static void showInitialText(std::string_view content, const std::function<void(const Delta&)>& onDelta) {
    for (const auto& [name, kind] : {std::pair("text", DeltaKind::Text), std::pair("thinking", DeltaKind::Thinking)}) {
      const auto text = json::findString(content, name);
      if (text && !text->empty()) onDelta({.kind = kind, .text = *text});
    }
  }

  // Each kind of delta extends the member of the same name, except arguments and citations.
  static void takeDelta(StreamedBlock& block, std::string_view delta,
                        const std::function<void(const Delta&)>& onDelta) {
    json::ObjectReader reader(delta);
    while (const auto member = reader.next()) {
      if (member->keyIs("type")) continue;
      if (member->keyIs("partial_json")) {
        block.arguments += block.pieces.decode(stringBody(member->value));
        onDelta({.kind = DeltaKind::ToolCall, .text = {}});
      } else if (member->keyIs("citation")) {
        block.citations.emplace_back(member->value);
      } else if (json::kindOf(member->value) == json::Kind::String) {
        block.members.appendToString(member->key, stringBody(member->value));
        const bool isText = member->keyIs("text");
        if (!isText && !member->keyIs("thinking")) continue;
        onDelta({.kind = isText ? DeltaKind::Text : DeltaKind::Thinking,
                 .text = block.pieces.decode(stringBody(member->value))});
      }
    }
  }

  // Reduces an interrupted message to what can be sent back: drops calls, unsigned reasoning, reasoning at the end, and
  // empty text.
  void dropUnsendable(PartialParts& partial) {
    const auto drop = [&](StreamedBlock& block) {
      if (isReasoning(block)) {
        if (const std::string* thinking = block.members.find("thinking")) partial.addThinking(stringBody(*thinking));
      } else if (block.begun && block.type != "text") {
        const std::string* name = block.members.find("name");
        partial.addCall(name == nullptr ? block.type : decoded(stringBody(*name)), block.arguments);
      }
      block.begun = false;
    };
    for (StreamedBlock& block : blocks_) {
      const std::string* text = block.members.find("text");
      const bool keep =
          block.type == "text" ? text != nullptr && !stringBody(*text).empty() : isReasoning(block) && block.done;
      if (!keep) drop(block);
    }
    for (auto block = blocks_.rbegin(); block != blocks_.rend() && (!block->begun || isReasoning(*block)); ++block) {
      if (block->begun) drop(*block);
    }
  }

  JsonObjectEditor message_;
  JsonObjectEditor usage_;
  std::vector<StreamedBlock> blocks_;
  bool begun_ = false;
  bool complete_ = false;
};

bool holdsBlock(std::string_view message, std::initializer_list<std::string_view> types) {
  const std::string_view content = memberOr(message, "content");
  if (!content.starts_with('[')) return false;
  json::ArrayReader blocks(content);
  while (const auto block = blocks.next()) {
    if (std::ranges::find(types, json::findString(*block, "type").value_or("")) != types.end()) return true;
  }
  return false;
}

// Returns true when the current turn continues from answers without reasoning, such as those of another model. Older
// models refuse to think in such a turn: they require its first answer to begin with reasoning.
bool continuesWithoutReasoning(std::string_view context) {
  std::vector<std::string_view> messages;
  json::ArrayReader list(memberOr(context, "messages", "[]"));
  while (const auto message = list.next()) messages.push_back(*message);
  bool goesOn = false;
  for (std::size_t i = messages.size(); i-- > 0;) {
    const bool user = json::findString(messages[i], "role") == "user";
    if (user && !holdsBlock(messages[i], {"tool_result"})) break;
    if (user) continue;
    if (holdsBlock(messages[i], {"thinking", "redacted_thinking"})) return false;
    goesOn = true;
  }
  return goesOn;
}

// Older models take a number of tokens to think with, newer ones an effort; each refuses the other setting.
void setThinking(JsonObjectEditor& body, ThinkingKind kind, std::string_view level, std::uint64_t budget) {
  const bool adaptive =
      kind == ThinkingKind::Adaptive || kind == ThinkingKind::AdaptiveOn || kind == ThinkingKind::AdaptiveAlways;
  if (kind == ThinkingKind::None || level.empty()) return;
  if (level == "off") {
    if (kind == ThinkingKind::AdaptiveOn) body.set("thinking", R"({"type":"disabled"})");
    return;
  }
  if (adaptive) {
    body.set("thinking", R"({"type":"adaptive"})");
    body.set("output_config", fmt::format(R"({{"effort":{}}})", json::quoted(level)));
  } else {
    body.set("thinking", fmt::format(R"({{"type":"enabled","budget_tokens":{}}})", budget));
  }
}

std::uint64_t thinkingBudget(std::string_view level) {
  if (level == "low") return 4'000;
  if (level == "medium") return 10'000;
  return level == "high" ? 24'000 : 0;
}

}  // namespace

std::unique_ptr<StreamReader> makeAnthropicReader() {
  return std::make_unique<AnthropicReader>();
}

PostData anthropicRequest(const Endpoint& endpoint, const ModelRequest& request) {
  const bool thinksByBudget =
      endpoint.facts.thinking == ThinkingKind::Budget || endpoint.facts.thinking == ThinkingKind::Effort;
  std::uint64_t budget = thinksByBudget ? thinkingBudget(request.thinkingLevel) : 0;
  const bool mayThink = budget == 0 || !continuesWithoutReasoning(request.context);
  if (!mayThink) budget = 0;
  const std::uint64_t output =
      std::min(request.maxOutputTokens + budget, std::max(endpoint.facts.outputTokens, budget + 1));
  JsonObjectEditor body("{}");
  body.set("model", "null");
  body.set("max_tokens", "null");
  body.merge(request.context);
  body.set("model", json::quoted(endpoint.model));    // the context may name the model of an earlier turn
  body.set("max_tokens", fmt::format("{}", output));  // the context may hold another limit
  body.set("stream", "true");
  body.set("cache_control", R"({"type":"ephemeral"})");
  removeSamplingSettings(body, endpoint.facts);
  if (mayThink) setThinking(body, endpoint.facts.thinking, request.thinkingLevel, budget);
  return {.url = joinUrl(endpoint.baseUrl, "/v1/messages"),
          .headers = {"Content-Type: application/json", "anthropic-version: 2023-06-01", "x-api-key: " + endpoint.key},
          .body = body.text()};
}

}  // namespace bough::agent
