// Google's Gemini API: streamGenerateContent.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/parts/json_parts.h"
#include "agent/providers/stream_reader.h"

namespace bough::agent {
namespace {

struct StreamedPart {
  JsonObjectEditor members;
  bool plain = false;  // only text, possibly reasoning: the next piece can be joined to it
  bool thought = false;
  bool call = false;
};

class GeminiReader final : public StreamReader {
 public:
  Result<void> take(const SseEvent& event, const std::function<void(const Delta&)>& onDelta) override {
    if (auto error = providerError(event.data)) return std::unexpected(std::move(*error));
    if (!isObject(event.data)) return fail(ErrorCode::Damaged, "an event of the answer is not JSON");
    json::ObjectReader reader(event.data);
    while (const auto member = reader.next()) {
      if (!member->keyIs("candidates")) response_.set(member->key, std::string(member->value));
    }
    begun_ = true;
    if (const auto feedback = json::findMember(event.data, "promptFeedback")) {
      if (const auto reason = json::findString(*feedback, "blockReason")) {
        return fail(ErrorCode::InvalidArgument, fmt::format("the provider refused the prompt: {}", *reason),
                    "rephrase the message");
      }
    }
    json::ArrayReader candidates(memberOr(event.data, "candidates", "[]"));
    // The request asked for one answer; ignore any others.
    while (const auto candidate = candidates.next()) {
      if (json::findUnsigned(*candidate, "index").value_or(0) == 0) takeCandidate(*candidate, onDelta);
    }
    return {};
  }

  // The stream has no final event; a finish reason marks the answer as complete.
  [[nodiscard]] bool isComplete() const override { return finished_; }
  [[nodiscard]] std::string usageOnlyMessage() const override {
    const std::string* usage = response_.find("usageMetadata");
    return fmt::format(R"({{"candidates":[{{"content":{{"role":"model","parts":[]}}}}],"usageMetadata":{}}})",
                       usage == nullptr ? "null" : *usage);
  }

  Answer answer(bool aborted) override {
    Answer answer;
    answer.aborted = aborted;
    PartialParts partial;
    if (aborted) dropUnsendable(partial);
    answer.partial = partial.text();
    json::Writer writer;
    writer.beginObject().member("role", "model").key("parts").beginArray();
    for (const StreamedPart& part : parts_) writer.raw(part.members.text());
    writer.endArray().endObject();
    // Keep a complete answer without parts: its finish reason says why it is empty, and it was paid for.
    if (!begun_ || (parts_.empty() && (aborted || !finished_))) return answer;
    candidate_.set("content", writer.take());
    response_.set("candidates", "[" + candidate_.text() + "]");
    answer.message = response_.text();
    return answer;
  }

 private:
  void takeCandidate(std::string_view candidate, const std::function<void(const Delta&)>& onDelta) {
    json::ObjectReader reader(candidate);
    while (const auto member = reader.next()) {
      if (!member->keyIs("content")) candidate_.set(member->key, std::string(member->value));
    }
    if (json::findString(candidate, "finishReason")) finished_ = true;
    json::ArrayReader parts(memberOr(memberOr(candidate, "content", "{}"), "parts", "[]"));
    while (const auto part = parts.next()) takePart(*part, onDelta);
  }

  void takePart(std::string_view raw, const std::function<void(const Delta&)>& onDelta) {
    StreamedPart part{.members = JsonObjectEditor(raw)};
    const std::string* text = part.members.find("text");
    const std::string* thought = part.members.find("thought");
    part.thought = thought != nullptr && *thought == "true";
    std::size_t members = 0;
    json::ObjectReader reader(raw);
    while (reader.next()) ++members;
    part.plain = text != nullptr && members == (thought == nullptr ? 1U : 2U);
    if (const auto call = json::findMember(raw, "functionCall")) {
      part.call = true;
      completeCall(part, *call);
      onDelta({.kind = DeltaKind::ToolCall, .text = json::findString(*call, "name").value_or("")});
    }
    if (text != nullptr && !stringBody(*text).empty()) {
      onDelta({.kind = part.thought ? DeltaKind::Thinking : DeltaKind::Text,
               .text = pieces_.decode(stringBody(*text), part.thought ? 1 : 0)});
    }
    if (part.plain && stringBody(*text).empty())
      return;  // skip the empty last piece: the API refuses it in a later
               // request
    if (part.plain && !parts_.empty() && parts_.back().plain && parts_.back().thought == part.thought) {
      parts_.back().members.appendToString("text", stringBody(*text));
      return;
    }
    parts_.push_back(std::move(part));
  }

  // Older models write calls without an id. Arguments that are not an object would make the part unreadable.
  void completeCall(StreamedPart& part, std::string_view call) {
    JsonObjectEditor members(call);
    const std::string* response = response_.find("responseId");
    const auto id = ids_.replace(json::findString(call, "id").value_or(""),
                                 response == nullptr ? "" : decoded(stringBody(*response)), parts_.size());
    if (id) members.set("id", json::quoted(*id));
    const std::string* arguments = members.find("args");
    const bool isWrong = arguments != nullptr && *arguments != "null" && !isObject(*arguments);
    if (isWrong) {
      const bool isText = arguments->starts_with('"');
      members.set("args", argumentsObject(isText ? decoded(stringBody(*arguments)) : *arguments));
    }
    if (id || isWrong) part.members.set("functionCall", members.text());
  }

  void dropUnsendable(PartialParts& partial) {
    std::erase_if(parts_, [&](const StreamedPart& part) {
      if (part.call) {
        const std::string& call = *part.members.find("functionCall");
        partial.addCall(json::findString(call, "name").value_or(""), memberOr(call, "args", "{}"));
      }
      return part.call;
    });
    const bool thoughtOnly = std::ranges::all_of(parts_, &StreamedPart::thought);
    if (!thoughtOnly) return;
    for (const StreamedPart& part : parts_) {
      if (const std::string* text = part.members.find("text")) partial.addThinking(stringBody(*text));
    }
    parts_.clear();
  }

  JsonObjectEditor response_;
  PieceDecoder pieces_;
  CallIds ids_;
  JsonObjectEditor candidate_;
  std::vector<StreamedPart> parts_;
  bool begun_ = false;
  bool finished_ = false;
};

std::string thinkingConfig(ThinkingKind kind, std::string_view level) {
  if (kind != ThinkingKind::Budget) {
    return fmt::format(R"({{"includeThoughts":true,"thinkingLevel":{}}})", json::quoted(level));
  }
  const int budget = level == "low" ? 2'048 : level == "medium" ? 8'192 : 24'576;
  return fmt::format(R"({{"includeThoughts":true,"thinkingBudget":{}}})", budget);
}

// Returns the message with a signature on its first call; empty when it needs none.
std::string withSignature(std::string_view message) {
  const std::string_view parts = memberOr(message, "parts", "[]");
  if (!parts.starts_with('[') || json::findString(message, "role") != "model") return {};
  json::Writer writer;
  writer.beginArray();
  bool isFirst = true;
  bool changed = false;
  json::ArrayReader list(parts);
  while (const auto part = list.next()) {
    const bool call = json::findMember(*part, "functionCall") || json::findMember(*part, "function_call");
    const bool isSigned = json::findMember(*part, "thoughtSignature") || json::findMember(*part, "thought_signature");
    if (call && std::exchange(isFirst, false) && !isSigned) {
      JsonObjectEditor members(*part);
      members.set("thoughtSignature", R"("skip_thought_signature_validator")");
      writer.raw(members.text());
      changed = true;
    } else {
      writer.raw(*part);
    }
  }
  writer.endArray();
  if (!changed) return {};
  JsonObjectEditor members(message);
  members.set("parts", writer.take());
  return members.text();
}

// Models with thinking levels refuse a turn whose first call has no signature, even when an older model made the call.
void signCalls(JsonObjectEditor& body) {
  const std::string* contents = body.find("contents");
  if (contents == nullptr || !contents->starts_with('[')) return;
  json::Writer writer;
  writer.beginArray();
  bool changed = false;
  json::ArrayReader list(*contents);
  while (const auto message = list.next()) {
    const std::string other = withSignature(*message);
    changed |= !other.empty();
    writer.raw(other.empty() ? *message : std::string_view(other));
  }
  if (changed) body.set("contents", writer.endArray().take());
}

}  // namespace

std::unique_ptr<StreamReader> makeGeminiReader() {
  return std::make_unique<GeminiReader>();
}

PostData geminiRequest(const Endpoint& endpoint, const ModelRequest& request) {
  JsonObjectEditor body(request.context);
  const bool thinks =
      endpoint.facts.thinking != ThinkingKind::None && !request.thinkingLevel.empty() && request.thinkingLevel != "off";
  if (endpoint.facts.thinking == ThinkingKind::Level) signCalls(body);
  JsonObjectEditor config("{}");
  config.set("maxOutputTokens", fmt::format("{}", request.maxOutputTokens));
  if (thinks) config.set("thinkingConfig", thinkingConfig(endpoint.facts.thinking, request.thinkingLevel));
  body.set("generationConfig", config.text());
  return {
      .url = joinUrl(endpoint.baseUrl, fmt::format("/v1beta/models/{}:streamGenerateContent?alt=sse", endpoint.model)),
      .headers = {"Content-Type: application/json", "x-goog-api-key: " + endpoint.key},
      .body = body.text()};
}

}  // namespace bough::agent
