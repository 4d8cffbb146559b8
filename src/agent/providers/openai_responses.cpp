// OpenAI's Responses API, used statelessly: the server stores nothing, so reasoning comes back encrypted.
#include <fmt/format.h>

#include "agent/parts/json_parts.h"
#include "agent/providers/stream_reader.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::size_t kMaxItems = 10'000;

struct StreamedItem {
  std::string raw;  // from the event that added the item, or the one that completed it
  std::string type;
  std::string text;       // escaped; received so far
  std::string arguments;  // escaped
  bool done = false;
};

class OpenaiResponsesReader final : public StreamReader {
 public:
  Result<void> take(const SseEvent& event, const std::function<void(const Delta&)>& onDelta) override {
    if (event.data == "[DONE]") return {};
    if (!isObject(event.data)) return fail(ErrorCode::Damaged, "an event of the answer is not JSON");
    const auto ownType = json::findString(event.data, "type");
    // Proxies report errors of their own without a type.
    if (auto error = ownType ? std::nullopt : providerError(event.data)) return std::unexpected(std::move(*error));
    const std::string type = ownType.value_or(std::string(event.name));
    usage_ = memberOr(memberOr(event.data, "response", "{}"), "usage", usage_);
    if (type == "error" || type == "response.failed") return failed(event.data);
    if (type == "response.created" || type == "response.in_progress") {
      response_ = memberOr(event.data, "response", "{}");
      begun_ = true;
    } else if (type == "response.completed" || type == "response.incomplete") {
      response_ = memberOr(event.data, "response", "{}");
      complete_ = true;
      showTextsNotStreamed(onDelta);
    } else if (type == "response.output_item.added" || type == "response.output_item.done") {
      return takeItem(event.data, type.ends_with("done"), onDelta);
    } else if (type.ends_with(".delta")) {
      return takeDelta(type, event.data, onDelta);
    } else if (type == "response.function_call_arguments.done") {
      return takeArguments(event.data);
    }
    return {};
  }

  [[nodiscard]] bool isComplete() const override { return complete_; }
  [[nodiscard]] std::string usageOnlyMessage() const override {
    return fmt::format(R"({{"object":"response","output":[],"usage":{}}})", usage_);
  }

  Answer answer(bool aborted) override {
    Answer answer;
    answer.aborted = aborted;
    PartialParts partial;
    const std::string output = aborted ? keptItems(partial) : completeItems();
    answer.partial = partial.text();
    if (!begun_ && !complete_) return answer;
    if (aborted && output == "[]") return answer;
    // The response repeats instructions, tools and settings of the request; leave them out of the answer.
    JsonObjectEditor message("{}");
    for (const char* name : {"id", "object", "created_at", "status", "incomplete_details", "model", "service_tier"}) {
      if (const auto value = json::findMember(response_, name); value && *value != "null") {
        message.set(name, std::string(*value));
      }
    }
    message.set("output", withCallIds(output));
    if (const auto usage = json::findMember(response_, "usage"); usage && *usage != "null") {
      message.set("usage", std::string(*usage));
    }
    answer.message = message.text();
    return answer;
  }

 private:
  static Result<void> failed(std::string_view data) {
    auto error = providerError(memberOr(data, "response", data));
    if (!error) error = providerError(fmt::format("{{\"error\":{}}}", data));
    return error ? std::unexpected(std::move(*error)) : fail(ErrorCode::Io, "the provider reported an error");
  }

  // Compatible servers may omit the item number. The event then concerns the last item if that is open and of the same
  // type.
  Result<StreamedItem*> itemAt(std::string_view data, std::string_view type, bool begins = false) {
    const bool isNumbered = json::findMember(data, "output_index").has_value();
    const bool goesOn = !begins && !items_.empty() && !items_.back().done &&
                        (type.empty() || items_.back().type.empty() || items_.back().type == type);
    const std::uint64_t next = items_.size() - (goesOn ? 1 : 0);
    const std::uint64_t index = json::findUnsigned(data, "output_index").value_or(isNumbered ? kMaxItems : next);
    if (index >= kMaxItems) return fail(ErrorCode::Damaged, "an event names an item that does not exist");
    if (index >= items_.size()) items_.resize(index + 1);
    return &items_[index];
  }

  Result<void> takeItem(std::string_view data, bool done, const std::function<void(const Delta&)>& onDelta) {
    const std::string_view raw = memberOr(data, "item", "{}");
    std::string kind = json::findString(raw, "type").value_or("");
    BOUGH_TRY(auto item, itemAt(data, kind, /*begins=*/!done));
    item->raw = raw;
    item->type = std::move(kind);
    item->done = done;
    if (!done && (item->type == "function_call" || item->type == "custom_tool_call")) {
      onDelta({.kind = DeltaKind::ToolCall, .text = json::findString(raw, "name").value_or("")});
    }
    return {};
  }

  Result<void> takeDelta(std::string_view type, std::string_view data,
                         const std::function<void(const Delta&)>& onDelta) {
    const bool isText = type == "response.output_text.delta" || type == "response.refusal.delta";
    const bool isReasoning = type.starts_with("response.reasoning");
    BOUGH_TRY(auto item, itemAt(data, isText ? "message" : isReasoning ? "reasoning" : ""));
    const std::string_view body = stringBody(memberOr(data, "delta"));
    const auto text = static_cast<std::uint64_t>(item - items_.data());  // each item has texts of one kind
    if (isText) {
      if (item->raw.empty()) {  // compatible servers may send no event for the start of an item
        item->text.clear();     // drop the text of reasoning
        item->type = "message";
        item->raw = R"({"type":"message","role":"assistant"})";
      }
      item->text += body;
      onDelta({.kind = DeltaKind::Text, .text = pieces_.decode(body, text)});
    } else if (isReasoning) {
      if (item->type.empty()) item->type = "reasoning";
      if (item->type == "reasoning") item->text += body;
      onDelta({.kind = DeltaKind::Thinking, .text = pieces_.decode(body, text)});
    } else if (type.find("arguments") != std::string_view::npos || type.find("input") != std::string_view::npos) {
      item->arguments += body;
      onDelta({.kind = DeltaKind::ToolCall, .text = {}});
    }
    return {};
  }

  // Takes the complete arguments, which include the pieces received before.
  Result<void> takeArguments(std::string_view data) {
    BOUGH_TRY(auto item, itemAt(data, "function_call"));
    if (const std::string_view all = stringBody(memberOr(data, "arguments")); !all.empty()) item->arguments = all;
    return {};
  }

  // Shows texts of the last event that did not arrive in pieces before.
  void showTextsNotStreamed(const std::function<void(const Delta&)>& onDelta) const {
    json::ArrayReader output(memberOr(response_, "output", "[]"));
    for (std::size_t i = 0; const auto item = output.next(); ++i) {
      if (i < items_.size() && !items_[i].text.empty()) continue;
      json::ArrayReader parts(memberOr(*item, "content", "[]"));
      while (const auto part = parts.next()) {
        const std::string type = json::findString(*part, "type").value_or("");
        if (type != "output_text" && type != "refusal") continue;
        const auto text = json::findString(*part, type == "refusal" ? "refusal" : "text");
        if (text && !text->empty()) onDelta({.kind = DeltaKind::Text, .text = *text});
      }
    }
  }

  // The last event holds all items. A server that omits them there has sent them one by one, or only in pieces.
  [[nodiscard]] std::string completeItems() const {
    const std::string_view output = memberOr(response_, "output", "[]");
    json::ArrayReader reader(output);
    if (reader.next()) return std::string(output);
    std::string list = "[";
    for (const StreamedItem& item : items_) {
      const std::string whole = item.done ? item.raw : itemFromPieces(item);
      if (!whole.empty()) list.append(list.size() > 1 ? "," : "").append(whole);
    }
    return list + "]";
  }

  // Reduces an interrupted stream to its texts, complete or not, and the finished reasoning before each of them. Drops
  // calls.
  std::string keptItems(PartialParts& partial) const {
    std::vector<std::string> kept;
    std::vector<const StreamedItem*> reasoning;
    for (const StreamedItem& item : items_) {
      if (item.type == "message") {
        if (item.text.empty()) continue;
        for (const StreamedItem* before : std::exchange(reasoning, {})) kept.push_back(before->raw);
        kept.push_back(item.done ? item.raw : messageOf(item, "incomplete"));
      } else if (item.type == "reasoning" && item.done) {
        reasoning.push_back(&item);
      } else if (item.type == "reasoning") {
        partial.addThinking(item.text);
      } else if (!item.type.empty()) {
        partial.addCall(json::findString(item.raw, "name").value_or(item.type), decoded(item.arguments));
      }
    }
    for (const StreamedItem* left : reasoning) partial.addThinking(left->text);
    std::string list = "[";
    for (const std::string& item : kept) list.append(list.size() > 1 ? "," : "").append(item);
    return list + "]";
  }

  static std::string itemFromPieces(const StreamedItem& item) {
    if (item.type == "message") return item.text.empty() ? "" : messageOf(item, "completed");
    if (item.type != "function_call" && item.type != "custom_tool_call") return "";
    JsonObjectEditor call(item.raw);
    call.set("status", R"("completed")");
    call.set(item.type == "function_call" ? "arguments" : "input", fmt::format("\"{}\"", item.arguments));
    return call.text();
  }

  static std::string messageOf(const StreamedItem& item, std::string_view status) {
    JsonObjectEditor message(item.raw);
    message.set("status", json::quoted(status));
    message.set("content", fmt::format(R"([{{"type":"output_text","text":"{}","annotations":[]}}])", item.text));
    return message.text();
  }

  [[nodiscard]] std::string withCallIds(const std::string& output) const {
    std::string list = "[";
    std::size_t number = 0;
    bool changed = false;
    CallIds ids;
    json::ArrayReader items(output);
    while (const auto item = items.next()) {
      std::string text(*item);
      const std::string type = json::findString(*item, "type").value_or("");
      const bool call = type == "function_call" || type == "custom_tool_call";
      const auto other = call ? ids.replace(json::findString(*item, "call_id").value_or(""),
                                            json::findString(response_, "id").value_or(""), number)
                              : std::nullopt;
      if (other) {
        JsonObjectEditor members(*item);
        members.set("call_id", json::quoted(*other));
        text = members.text();
        changed = true;
      }
      ++number;
      list.append(list.size() > 1 ? "," : "").append(text);
    }
    return changed ? list + "]" : output;
  }

  std::string response_ = "{}";
  std::string usage_ = "null";
  std::vector<StreamedItem> items_;
  PieceDecoder pieces_;
  bool begun_ = false;
  bool complete_ = false;
};

// Returns true when a reasoning item carries its content: encrypted, or as the plain text that open models give.
bool carriesReasoning(std::string_view item) {
  if (!json::findString(item, "encrypted_content").value_or("").empty()) return true;
  const JsonObjectEditor members(item);
  const std::string* const content = members.find("content");
  return content != nullptr && json::kindOf(*content) == json::Kind::Array && json::ArrayReader(*content).next();
}

// The server stores nothing, so each item must carry its content instead of a reference. OpenAI refuses a call whose id
// points to missing reasoning, so such calls lose their ids.
std::string selfContainedInput(std::string_view input, bool reasons) {
  if (json::kindOf(input) != json::Kind::Array) return std::string(input);
  bool reasoningLeft = true;
  std::vector<std::string_view> kept;
  json::ArrayReader items(input);
  while (const auto item = items.next()) {
    const std::string type = json::findString(*item, "type").value_or("");
    const bool unreadable = type == "reasoning" && !(reasons && carriesReasoning(*item));
    const bool reference = type == "item_reference" || (type.empty() && !json::findString(*item, "role"));
    if (unreadable) reasoningLeft = false;
    if (!unreadable && !reference) kept.push_back(*item);
  }
  std::string list = "[";
  for (const std::string_view item : kept) {
    const std::string type = json::findString(item, "type").value_or("");
    const bool call = type == "function_call" || type == "custom_tool_call";
    list.append(list.size() > 1 ? "," : "");
    if (reasoningLeft || !call) {
      list.append(item);
      continue;
    }
    JsonObjectEditor members(item);
    members.remove("id");
    list.append(members.text());
  }
  return list + "]";
}

}  // namespace

std::unique_ptr<StreamReader> makeOpenaiResponsesReader() {
  return std::make_unique<OpenaiResponsesReader>();
}

PostData openaiResponsesRequest(const Endpoint& endpoint, const ModelRequest& request) {
  JsonObjectEditor body("{}");
  body.set("model", "null");
  body.merge(request.context);
  body.set("model", json::quoted(endpoint.model));  // the context may name the model of an earlier turn
  body.set("stream", "true");
  body.set("store", "false");
  // Models that do not reason refuse this setting, and the reasoning of other models.
  const bool reasons = endpoint.facts.thinking != ThinkingKind::None;
  if (reasons) body.set("include", R"(["reasoning.encrypted_content"])");
  if (const std::string* input = body.find("input")) body.set("input", selfContainedInput(*input, reasons));
  removeSamplingSettings(body, endpoint.facts);
  body.set("max_output_tokens", fmt::format("{}", request.maxOutputTokens));
  if (reasons && !request.thinkingLevel.empty() && request.thinkingLevel != "off") {
    body.set("reasoning", fmt::format(R"({{"effort":{},"summary":"auto"}})", json::quoted(request.thinkingLevel)));
  }
  PostData data{.url = joinUrl(endpoint.baseUrl, "/responses"),
                .headers = {"Content-Type: application/json"},
                .body = body.text()};
  if (!endpoint.key.empty()) data.headers.push_back("Authorization: Bearer " + endpoint.key);
  return data;
}

}  // namespace bough::agent
