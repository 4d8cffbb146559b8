#include "transcript/agents/pi_message.h"

#include <bough/message.h>
#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

// A shorter text takes less space than a hole that names it.
constexpr std::size_t kWorthAHole = 48;

class MessageReading {
 public:
  explicit MessageReading(PiMessage& out) : out_(out), writer_(out.json) {}

  void begin(std::string_view role) { writer_.beginObject().member("role", role); }

  // Writes a string or a list of blocks. `path` is its path in the message.
  void content(std::string_view value, const std::string& path) {
    writer_.key("content");
    if (value.empty() || json::kindOf(value) == json::Kind::Null) {
      writer_.beginArray().endArray();
    } else if (json::kindOf(value) == json::Kind::String) {
      writer_.beginArray().beginObject().member("type", "text").key("text").raw(value).endObject().endArray();
      hole(path + "/0/text", value);
    } else {
      blocks(value, path);
    }
  }

  void end() { writer_.endObject(); }
  json::Writer& writer() { return writer_; }

 private:
  void blocks(std::string_view list, const std::string& path) {
    writer_.beginArray();
    json::ArrayReader elements(list);
    std::size_t place = 0;
    while (const auto element = elements.next()) {
      if (json::kindOf(*element) != json::Kind::Object) continue;
      block(Members(*element), *element, fmt::format("{}/{}", path, place++));
    }
    writer_.endArray();
  }

  void block(const Members& block, std::string_view raw, const std::string& path) {
    const std::string type = block.text("type");
    if (type == "text" && block.isString("text")) {
      writer_.beginObject().member("type", "text");
      part("text", block.raw("text"), path);
      signature(block, "textSignature");
    } else if (type == "thinking" && block.isTrue("redacted")) {
      writer_.beginObject().member("type", "redacted_thinking");
      signature(block, "thinkingSignature");
    } else if (type == "thinking" && block.isString("thinking")) {
      writer_.beginObject().member("type", "thinking");
      part("text", block.raw("thinking"), path);
      signature(block, "thinkingSignature");
    } else if (type == "image" && block.isString("data")) {
      writer_.beginObject().member("type", "image").member("mediaType", block.text("mimeType"));
      part("data", block.raw("data"), path);
    } else if (type == "toolCall" && block.isString("name")) {
      writer_.beginObject().member("type", "tool_call");
      if (block.isString("id")) writer_.member("id", block.text("id"));
      writer_.member("name", block.text("name"));
      part("input", block.isObject("arguments") ? block.raw("arguments") : "{}", path);
      signature(block, "thoughtSignature");
    } else {
      writer_.beginObject().member("type", "unknown");
      part("value", raw, path);
    }
    writer_.endObject();
  }

  void part(std::string_view name, std::string_view value, const std::string& path) {
    writer_.key(name).raw(value);
    hole(fmt::format("{}/{}", path, name), value);
  }

  void signature(const Members& block, std::string_view name) {
    if (block.isString(name)) writer_.key("signature").raw(block.raw(name));
  }

  void hole(std::string path, std::string_view slice) {
    if (slice.size() >= kWorthAHole) out_.holes.push_back({std::move(path), slice});
  }

  PiMessage& out_;
  json::Writer writer_;
};

// Returns the id of the request. A request that was copied with its entry has the same id and time in every copy.
std::string requestId(const Members& message, std::string_view entryId) {
  std::string id = message.text("responseId");
  if (id.empty() && !entryId.empty()) id = fmt::format("{}-{}", entryId, message.raw("timestamp"));
  return id;
}

void readAnswer(const Members& message, std::string_view entryId, PiMessage& out) {
  MessageReading reading(out);
  reading.begin("assistant");
  out.model = message.text("model");
  const std::string id = requestId(message, entryId);
  if (!id.empty()) reading.writer().member("id", id);
  if (!out.model.empty()) reading.writer().member("model", out.model);
  if (message.isString("stopReason")) reading.writer().member("stopReason", message.text("stopReason"));
  if (message.isObject("usage")) writePiUsage(reading.writer(), message.raw("usage"));
  reading.content(message.raw("content"), "content");
  reading.end();
}

// A tool may ask a model itself; its result then states the cost.
void readResult(const Members& message, std::string_view entryId, PiMessage& out) {
  MessageReading reading(out);
  reading.begin("tool");
  json::Writer& writer = reading.writer();
  if (message.isObject("usage")) {
    if (const std::string id = requestId(message, entryId); !id.empty()) writer.member("id", id);
    writePiUsage(writer, message.raw("usage"));
  }
  writer.key("content").beginArray().beginObject().member("type", "tool_result");
  if (message.isString("toolCallId")) writer.member("id", message.text("toolCallId"));
  if (message.isString("toolName")) writer.member("name", message.text("toolName"));
  if (message.isTrue("isError")) writer.member("isError", true);
  reading.content(message.raw("content"), "content/0/content");
  writer.endObject().endArray();
  reading.end();
}

// Returns what pi tells the model about a command that the user ran.
std::string bashText(const Members& message) {
  std::string text = fmt::format("Ran `{}`\n", message.text("command"));
  const std::string output = message.text("output");
  text += output.empty() ? "(no output)" : fmt::format("```\n{}\n```", output);
  const std::string_view code = message.raw("exitCode");
  if (message.isTrue("cancelled")) {
    text += "\n\n(command cancelled)";
  } else if (!code.empty() && code != "null" && code != "0") {
    text += fmt::format("\n\nCommand exited with code {}", code);
  }
  if (message.isTrue("truncated")) text += "\n\n[Output truncated]";
  return text;
}

std::string systemText(const Members& message) {
  std::string text = message.text("content");
  if (!message.isObject("sections")) return text;
  json::ObjectReader sections(message.raw("sections"));
  while (const auto section = sections.next()) {
    const auto part = json::decodeString(section->value);
    if (part && !part->empty()) text += (text.empty() ? "" : "\n\n") + *part;
  }
  return text;
}

}  // namespace

void writePiUsage(json::Writer& writer, std::string_view usage, std::string_view id) {
  const auto count = [&](std::string_view name) { return json::findUnsigned(usage, name).value_or(0); };
  writer.key("usage").beginObject().member("inputTokens", count("input")).member("outputTokens", count("output"));
  writer.member("cacheReadTokens", count("cacheRead")).member("cacheWriteTokens", count("cacheWrite"));
  writer.member("reasoningTokens", count("reasoning"));
  if (const std::uint64_t hour = count("cacheWrite1h"); hour > 0) writer.member("cacheWriteHourTokens", hour);
  if (!id.empty()) writer.member("id", id);
  writer.endObject();
}

PiMessage readPiContent(std::string_view content) {
  PiMessage out;
  MessageReading reading(out);
  reading.begin("user");
  reading.content(content, "content");
  reading.end();
  return out;
}

namespace {

// OpenClaw keeps answers for people that no model gets.
PiMessage onlyShown(const PiMessage& message, const Members& members, std::string_view entryId) {
  PiMessage out{.model = message.model};
  const auto read = normalize(message.json, Dialect::Bough);
  if (!read) return out;
  out.shownRole = toString(read->role);
  for (const Block& block : read->blocks) {
    if (block.kind == BlockKind::Text) out.shown += (out.shown.empty() ? "" : "\n") + block.text.decode();
  }
  if (members.isObject("usage")) out.usage = members.raw("usage");
  out.requestId = requestId(members, entryId);
  return out;
}

PiMessage readAnyMessage(const Members& members, std::string_view entryId) {
  const std::string role = members.text("role");
  PiMessage out;
  if (role == "user" || role == "custom" || role == "hookMessage") return readPiContent(members.raw("content"));
  if (role == "assistant") {
    readAnswer(members, entryId, out);
  } else if (role == "toolResult") {
    readResult(members, entryId, out);
  } else if (role == "bashExecution") {
    json::Writer writer(out.json);
    writer.beginObject().member("role", "user").key("content").beginArray().beginObject();
    writer.member("type", "text").member("text", bashText(members)).endObject().endArray().endObject();
  } else if (role == "system") {
    json::Writer writer(out.json);
    writer.beginObject().member("role", "system").key("content").beginArray().beginObject();
    writer.member("type", "text").member("text", systemText(members)).endObject().endArray().endObject();
  }
  return out;
}

}  // namespace

PiMessage readPiMessage(std::string_view message, std::string_view entryId) {
  const Members members(message);
  PiMessage out = readAnyMessage(members, entryId);
  return members.isTrue("excludeFromContext") ? onlyShown(out, members, entryId) : std::move(out);
}

namespace {

void writeText(json::Writer& writer, const TextView& text) {
  writer.beginObject().member("type", "text").member("text", text.decode()).endObject();
}

// Writes text and images; returns false for blocks that pi cannot hold in a message of this kind.
bool writePart(json::Writer& writer, const Block& block) {
  if (block.kind == BlockKind::Text || block.kind == BlockKind::Refusal) {
    writeText(writer, block.text);
  } else if (block.kind == BlockKind::Image && block.source == MediaSource::Base64) {
    writer.beginObject().member("type", "image").member("data", block.text.decode());
    writer.member("mimeType", block.type.decode()).endObject();
  } else {
    return false;
  }
  return true;
}

std::string resultMessage(const Block& block, const PiAnswer& answer, const ToolNames& toolNames,
                          std::vector<std::string>& lossyFields) {
  const std::string id = block.id.decode();
  const std::string known = block.name.empty() ? toolNames.of(id) : block.name.decode();
  json::Writer writer;
  writer.beginObject().member("role", "toolResult").member("toolCallId", id);
  writer.member("toolName", known.empty() ? "tool" : known).key("content").beginArray();
  for (const Block& part : block.content) {
    if (!writePart(writer, part)) lossyFields.push_back(fmt::format("tool_result.{}", toString(part.kind)));
  }
  return writer.endArray().member("isError", block.isError).key("timestamp").raw(answer.timestampMs).endObject().take();
}

// In pi, arguments are an object; anything else is wrapped in one.
void writeArguments(json::Writer& writer, const Block& call, std::vector<std::string>& lossyFields) {
  if (call.freeform) {
    lossyFields.emplace_back("tool_call.freeform");
    writer.beginObject().member("input", call.text.decode()).endObject();
    return;
  }
  const auto text = call.input.empty() ? std::nullopt : json::decodeString(call.input);
  const std::string_view value = text ? std::string_view(*text) : call.input;
  if (value.empty() || (json::check(value) && json::kindOf(value) == json::Kind::Object)) {
    writer.raw(value.empty() ? "{}" : value);
    return;
  }
  lossyFields.emplace_back("tool_call.arguments");
  writer.beginObject().key("arguments").raw(call.input).endObject();
}

void writeAnswerBlock(json::Writer& writer, const Block& block, ToolNames& toolNames,
                      std::vector<std::string>& lossyFields) {
  if (block.kind == BlockKind::ToolCall) {
    toolNames.add(block.id.decode(), block.name.decode());
    writer.beginObject().member("type", "toolCall").member("id", block.id.decode());
    writer.member("name", block.name.decode()).key("arguments");
    writeArguments(writer, block, lossyFields);
    if (block.signature.present) writer.member("thoughtSignature", block.signature.decode());
    writer.endObject();
  } else if (block.kind == BlockKind::Thinking || block.kind == BlockKind::RedactedThinking) {
    writer.beginObject().member("type", "thinking").member("thinking", block.text.decode());
    if (block.signature.present) writer.member("thinkingSignature", block.signature.decode());
    if (block.kind == BlockKind::RedactedThinking) writer.member("redacted", true);
    writer.endObject();
  } else if (block.kind == BlockKind::Text || block.kind == BlockKind::Refusal) {
    writeText(writer, block.text);
  } else {
    lossyFields.push_back(fmt::format("assistant.{}", toString(block.kind)));
  }
}

std::string answerMessage(const Message& message, const PiAnswer& answer, ToolNames& toolNames,
                          std::vector<std::string>& lossyFields) {
  json::Writer writer;
  bool calls = false;
  writer.beginObject().member("role", "assistant").key("content").beginArray();
  for (const Block& block : message.blocks) {
    calls |= block.kind == BlockKind::ToolCall;
    writeAnswerBlock(writer, block, toolNames, lossyFields);
  }
  writer.endArray().member("api", answer.api).member("provider", answer.provider).member("model", answer.model);
  if (!answer.responseId.empty()) writer.member("responseId", answer.responseId);
  writer.key("usage").raw(answer.usage).member("stopReason", calls ? "toolUse" : "stop");
  return writer.key("timestamp").raw(answer.timestampMs).endObject().take();
}

}  // namespace

void ToolNames::add(const std::string& callId, const std::string& name) {
  const auto [known, isNew] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (isNew) names_.push_back(name);
  byCall_.set(hashOf(callId), known->second);
}

std::string ToolNames::of(const std::string& callId) const {
  const std::uint32_t* number = byCall_.find(hashOf(callId));
  return number == nullptr ? std::string() : names_[*number];
}

std::vector<std::string> writePiMessages(std::string_view message, const PiAnswer& answer, ToolNames& toolNames,
                                         std::vector<std::string>& lossyFields) {
  std::vector<std::string> out;
  const auto read = normalize(message, Dialect::Bough);
  if (!read) return out;
  if (read->role == Role::Assistant) return {answerMessage(*read, answer, toolNames, lossyFields)};
  json::Writer writer;
  bool any = false;
  writer.beginObject().member("role", "user").key("content").beginArray();
  for (const Block& block : read->blocks) {
    if (block.kind == BlockKind::ToolResult) {
      out.push_back(resultMessage(block, answer, toolNames, lossyFields));
    } else if (writePart(writer, block)) {
      any = true;
    } else {
      lossyFields.push_back(fmt::format("user.{}", toString(block.kind)));
    }
  }
  if (any) out.push_back(writer.endArray().key("timestamp").raw(answer.timestampMs).endObject().take());
  return out;
}

}  // namespace bough::transcript
