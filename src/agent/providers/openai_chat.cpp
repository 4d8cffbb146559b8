// Chat Completions of OpenAI and of compatible servers (Ollama, llama.cpp, vLLM, OpenRouter).
#include <fmt/format.h>

#include <algorithm>

#include "agent/parts/json_parts.h"
#include "agent/providers/stream_reader.h"
#include "base/text/text.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::size_t kMaxCalls = 1'000;

struct StreamedCall {
  std::optional<std::uint64_t> index{};
  JsonObjectEditor members{};   // id, type and vendor extensions
  JsonObjectEditor function{};  // name, arguments
  bool begun = false;
};

class OpenaiChatReader final : public StreamReader {
 public:
  Result<void> take(const SseEvent& event, const std::function<void(const Delta&)>& onDelta) override {
    if (text::trimmed(event.data) == "[DONE]") {
      complete_ = true;
      return {};
    }
    if (auto error = providerError(event.data)) return std::unexpected(std::move(*error));
    if (!isObject(event.data)) return fail(ErrorCode::Damaged, "an event of the answer is not JSON");
    begun_ = true;
    json::ObjectReader reader(event.data);
    while (const auto member = reader.next()) {
      if (member->keyIs("choices") || member->keyIs("object") || member->value == "null") continue;
      response_.set(member->key, std::string(member->value));
    }
    json::ArrayReader choices(memberOr(event.data, "choices", "[]"));
    auto choice = choices.next();
    // The request asked for one answer; ignore any others.
    while (choice && json::findUnsigned(*choice, "index").value_or(0) != 0) choice = choices.next();
    if (!choice) return {};
    if (const auto reason = json::findString(*choice, "finish_reason")) finishReason_ = *reason;
    return takeDelta(memberOr(*choice, "delta", memberOr(*choice, "message", "{}")), onDelta);
  }

  // Some servers end without [DONE]; a finish reason is enough.
  [[nodiscard]] bool isComplete() const override { return complete_ || !finishReason_.empty(); }
  [[nodiscard]] std::string usageOnlyMessage() const override {
    const std::string* usage = response_.find("usage");
    return fmt::format(R"({{"choices":[{{"index":0,"message":{{"role":"assistant","content":""}}}}],"usage":{}}})",
                       usage == nullptr ? "null" : *usage);
  }

  Answer answer(bool aborted) override {
    Answer answer;
    answer.aborted = aborted;
    PartialParts partial;
    if (aborted) dropUnsendable(partial);
    answer.partial = partial.text();
    const std::string* content = message_.find("content");
    const bool hasContent = content != nullptr && !stringBody(*content).empty();
    if (!begun_ || (aborted && !hasContent)) return answer;
    if (message_.find("role") == nullptr) message_.set("role", "\"assistant\"");
    if (!hasContent && !calls_.empty()) message_.set("content", "null");
    if (!hasContent && calls_.empty() && message_.find("refusal") == nullptr) message_.set("content", "\"\"");
    if (!details_.empty()) message_.set("reasoning_details", detailList());
    if (!calls_.empty()) message_.set("tool_calls", callList());
    JsonObjectEditor choice("{}");
    choice.set("index", "0");
    choice.set("message", message_.text());
    choice.set("finish_reason", finishReason_.empty() ? "null" : json::quoted(finishReason_));
    response_.set("object", "\"chat.completion\"");
    response_.set("choices", "[" + choice.text() + "]");
    answer.message = response_.text();
    return answer;
  }

 private:
  Result<void> takeDelta(std::string_view delta, const std::function<void(const Delta&)>& onDelta) {
    json::ObjectReader reader(delta);
    while (const auto member = reader.next()) {
      const std::string_view value = member->value;
      if (member->keyIs("tool_calls")) {
        if (auto taken = takeCalls(value, onDelta); !taken) return taken;
      } else if (member->keyIs("content") && json::kindOf(value) == json::Kind::Array) {
        takeParts(value, onDelta);
      } else if (member->keyIs("reasoning_details")) {
        takeDetails(value);
      } else if (member->keyIs("role")) {
        // Some servers send null or nothing in later pieces. The role is always "assistant".
        if (value == "\"assistant\"") message_.set("role", std::string(value));
      } else if (json::kindOf(value) == json::Kind::String) {
        if (!stringBody(value).empty() || message_.find(member->key) == nullptr) {
          message_.appendToString(member->key, stringBody(value));
        }
        if (stringBody(value).empty()) continue;
        if (member->keyIs("content") || member->keyIs("refusal")) {
          onDelta({.kind = DeltaKind::Text, .text = pieces_.decode(stringBody(value))});
        }
        if (member->keyIs("reasoning_content") || member->keyIs("reasoning")) {
          onDelta({.kind = DeltaKind::Thinking, .text = pieces_.decode(stringBody(value), 1)});
        }
      } else if (value != "null") {
        message_.set(member->key, std::string(value));
      }
    }
    return {};
  }

  // Mistral's reasoning models send lists of {"type":"text","text":…} and {"type":"thinking","thinking":[…texts]}.
  void takeParts(std::string_view list, const std::function<void(const Delta&)>& onDelta) {
    json::ArrayReader parts(list);
    while (const auto part = parts.next()) {
      addText("content", DeltaKind::Text, memberOr(*part, "text"), onDelta);
      json::ArrayReader thoughts(memberOr(*part, "thinking", "[]"));
      while (const auto thought = thoughts.next()) {
        addText("reasoning_content", DeltaKind::Thinking, memberOr(*thought, "text"), onDelta);
      }
    }
  }

  void addText(std::string_view member, DeltaKind kind, std::string_view raw,
               const std::function<void(const Delta&)>& onDelta) {
    if (stringBody(raw).empty()) return;
    message_.appendToString(member, stringBody(raw));
    onDelta({.kind = kind, .text = pieces_.decode(stringBody(raw), kind == DeltaKind::Thinking ? 1 : 0)});
  }

  // Returns the call that a fragment belongs to. Servers that send calls whole omit the index, and some give every call
  // the index 0: then a new id together with a name begins a new call.
  Result<StreamedCall*> callOf(std::string_view fragment) {
    const auto index = json::findUnsigned(fragment, "index");
    const std::string_view id = stringBody(memberOr(fragment, "id"));
    const bool isNamed = !stringBody(memberOr(memberOr(fragment, "function", "{}"), "name")).empty();
    const auto isMeant = [&](const StreamedCall& call) { return !index || call.index == index; };
    const auto known = std::find_if(calls_.rbegin(), calls_.rend(), isMeant);
    if (known != calls_.rend()) {
      const std::string* knownId = known->members.find("id");
      const bool isOther = isNamed && !id.empty() && knownId != nullptr && stringBody(*knownId) != id;
      if (index ? !isOther : !isNamed) return &*known;
    }
    if (calls_.size() == kMaxCalls) return fail(ErrorCode::Damaged, "the answer has too many calls");
    return &calls_.emplace_back(StreamedCall{.index = index});
  }

  Result<void> takeCalls(std::string_view list, const std::function<void(const Delta&)>& onDelta) {
    json::ArrayReader fragments(list);
    while (const auto fragment = fragments.next()) {
      BOUGH_TRY(StreamedCall * found, callOf(*fragment));
      StreamedCall& call = *found;
      json::ObjectReader reader(*fragment);
      while (const auto member = reader.next()) {
        if (member->keyIs("index") || member->value == "null") continue;
        if (!member->keyIs("function")) {
          // Some servers send an empty id in later pieces.
          if (member->value != "\"\"") call.members.set(member->key, std::string(member->value));
          continue;
        }
        json::ObjectReader function(member->value);
        while (const auto part = function.next()) {
          // Some servers repeat the name in every piece.
          const std::string* known = part->keyIs("name") ? call.function.find("name") : nullptr;
          if (part->value == "null" || (known != nullptr && *known == part->value)) continue;
          if (json::kindOf(part->value) == json::Kind::Object) {  // some servers do not write arguments as text
            call.function.set(part->key, json::quoted(part->value));
            continue;
          }
          call.function.appendToString(part->key, stringBody(part->value));
        }
      }
      const std::string* name = call.function.find("name");
      const bool first = !call.begun && name != nullptr;
      call.begun = call.begun || first;
      onDelta({.kind = DeltaKind::ToolCall, .text = first ? decoded(stringBody(*name)) : std::string()});
    }
    return {};
  }

  // OpenRouter's reasoning, which it expects back: joins the pieces of one text and leaves everything else unchanged.
  void takeDetails(std::string_view list) {
    json::ArrayReader pieces(list);
    while (const auto piece = pieces.next()) {
      const std::string_view type = memberOr(*piece, "type");
      const bool text = type == "\"reasoning.text\"" || type == "\"reasoning.summary\"";
      const std::string_view key = type == "\"reasoning.text\"" ? "text" : "summary";
      if (!text || details_.empty() || *details_.back().find("type") != type) {
        details_.emplace_back(*piece);
        if (details_.back().find("type") == nullptr) details_.back().set("type", "null");
      } else {
        json::ObjectReader reader(*piece);
        while (const auto member = reader.next()) {
          if (member->key == key) {
            details_.back().appendToString(key, stringBody(member->value));
          } else if (member->value != "null") {
            details_.back().set(member->key, std::string(member->value));
          }
        }
      }
    }
  }

  [[nodiscard]] std::string detailList() const {
    std::string list = "[";
    for (const JsonObjectEditor& detail : details_) list.append(list.size() > 1 ? "," : "").append(detail.text());
    return list + "]";
  }

  [[nodiscard]] std::string callList() const {
    std::string list = "[";
    CallIds ids;
    for (const StreamedCall& call : calls_) {
      if (!call.begun) continue;
      JsonObjectEditor members = call.members;
      JsonObjectEditor function = call.function;
      if (members.find("type") == nullptr) members.set("type", "\"function\"");
      const std::string* id = members.find("id");
      const std::string* response = response_.find("id");
      const auto other = ids.replace(id == nullptr ? "" : decoded(stringBody(*id)),
                                     response == nullptr ? "" : decoded(stringBody(*response)),
                                     static_cast<std::size_t>(&call - calls_.data()));
      if (other) members.set("id", json::quoted(*other));
      if (function.find("arguments") == nullptr) function.set("arguments", "\"\"");
      members.set("function", function.text());
      list.append(list.size() > 1 ? "," : "").append(members.text());
    }
    return list + "]";
  }

  void dropUnsendable(PartialParts& partial) {
    for (const StreamedCall& call : calls_) {
      const std::string* name = call.function.find("name");
      const std::string* arguments = call.function.find("arguments");
      if (name == nullptr) continue;
      partial.addCall(decoded(stringBody(*name)),
                      arguments == nullptr ? std::string() : decoded(stringBody(*arguments)));
    }
    calls_.clear();
    for (const std::string_view key : {"reasoning_content", "reasoning"}) {
      if (const std::string* thinking = message_.find(key)) partial.addThinking(stringBody(*thinking));
    }
  }

  JsonObjectEditor response_;
  PieceDecoder pieces_;
  JsonObjectEditor message_;
  std::vector<StreamedCall> calls_;
  std::vector<JsonObjectEditor> details_;
  std::string finishReason_;
  bool begun_ = false;
  bool complete_ = false;
};

// OpenAI's reasoning models refuse the older name of the limit; other servers may not know the newer name.
std::string outputField(const Endpoint& endpoint) {
  const bool openai = endpoint.baseUrl.find("api.openai.com") != std::string::npos;
  if (!endpoint.facts.outputField.empty() && (openai || endpoint.facts.thinking == ThinkingKind::Effort)) {
    return endpoint.facts.outputField;
  }
  return openai ? "max_completion_tokens" : "max_tokens";
}

}  // namespace

std::unique_ptr<StreamReader> makeOpenaiChatReader() {
  return std::make_unique<OpenaiChatReader>();
}

PostData openaiChatRequest(const Endpoint& endpoint, const ModelRequest& request) {
  JsonObjectEditor body("{}");
  body.set("model", "null");
  body.merge(request.context);
  body.set("model", json::quoted(endpoint.model));  // the context may name the model of an earlier turn
  body.set("stream", "true");
  body.set("stream_options", R"({"include_usage":true})");
  body.set(outputField(endpoint), fmt::format("{}", request.maxOutputTokens));
  const bool thinks = endpoint.facts.thinking != ThinkingKind::None;
  if (thinks && !request.thinkingLevel.empty() && request.thinkingLevel != "off") {
    body.set("reasoning_effort", json::quoted(request.thinkingLevel));
  }
  removeSamplingSettings(body, endpoint.facts);
  PostData data{.url = joinUrl(endpoint.baseUrl, "/chat/completions"),
                .headers = {"Content-Type: application/json"},
                .body = body.text()};
  if (!endpoint.key.empty()) data.headers.push_back("Authorization: Bearer " + endpoint.key);
  return data;
}

}  // namespace bough::agent
