// Turns, saved block by block. A block is stored as a message of the normalized form that contains only this block, and
// the totals of a turn are in an entry after its blocks. A context joins the blocks again.
#include <bough/context.h>
#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/model/payloads.h"
#include "base/try.h"

namespace bough {
namespace {

void writeContent(json::Writer& writer, const TurnBlock& block) {
  writer.beginObject().member("type", toString(block.kind));
  switch (block.kind) {
    case BlockKind::ToolCall:
      writer.member("id", block.id).member("name", block.name);
      writer.key("input").raw(block.input.empty() ? "{}" : block.input);
      break;
    case BlockKind::ToolResult:
      writer.member("id", block.id);
      if (!block.name.empty()) writer.member("name", block.name);
      if (block.isError) writer.member("isError", true);
      writer.member("content", block.text);
      break;
    case BlockKind::RedactedThinking: break;
    default: writer.member("text", block.text);
  }
  if (!block.signature.empty()) writer.member("signature", block.signature);
  writer.endObject();
}

Result<std::string> blockPayload(const TurnBlock& block) {
  switch (block.kind) {
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking:
    case BlockKind::Refusal: break;
    case BlockKind::ToolCall:
      if (block.id.empty() || block.name.empty()) {
        return fail(ErrorCode::InvalidArgument, "a tool call needs an id and a name");
      }
      if (!block.input.empty() && !json::check(block.input)) {
        return fail(ErrorCode::InvalidArgument, fmt::format("the input of tool call {} is not JSON", block.id),
                    "quote it as a JSON string to store it as it is");
      }
      break;
    case BlockKind::ToolResult:
      if (block.id.empty()) return fail(ErrorCode::InvalidArgument, "a tool result needs the id of its call");
      break;
    default:
      return fail(ErrorCode::InvalidArgument, fmt::format("a turn has no {} blocks", toString(block.kind)),
                  "store the provider's own message with TurnSaver::message");
  }
  const Role role = block.kind == BlockKind::ToolResult ? Role::Tool
                    : block.kind == BlockKind::Text     ? block.role
                                                        : Role::Assistant;
  json::Writer writer;
  writer.beginObject().member("role", toString(role)).key("content").beginArray();
  writeContent(writer, block);
  return messagePayload(Dialect::Bough, writer.endArray().endObject().text());
}

bool isEmpty(const Usage& usage) {
  return (usage.inputTokens | usage.outputTokens | usage.cacheReadTokens | usage.cacheWriteTokens |
          usage.reasoningTokens) == 0;
}

// `counted` is the part of the usage that the turn's messages record themselves, so that it is not counted twice.
std::string totalsPayload(const TurnTotals& totals, const Usage& counted) {
  json::Writer writer;
  writer.beginObject().member("kind", "turn");
  if (!totals.model.empty()) writer.member("model", totals.model);
  if (!totals.stopReason.empty()) writer.member("stopReason", totals.stopReason);
  writeUsage(writer, totals.usage);
  if (!isEmpty(counted)) writeUsage(writer, counted, "counted");
  if (totals.withoutUsage > 0) writer.member("withoutUsage", totals.withoutUsage);
  return writer.member("durationMs", totals.durationMs).member("toolCount", totals.toolCount).endObject().take();
}

Entry makeEntry(std::string_view type, std::string payload, const TurnOptions& options) {
  Entry entry;
  entry.type = type;
  entry.runId = options.runId;
  entry.payload = std::move(payload);
  return entry;
}

}  // namespace

TurnSaver::TurnSaver(SessionStore& store, std::string sessionId, TurnOptions options, std::string parentId)
    : store_(&store), sessionId_(std::move(sessionId)), options_(std::move(options)), parentId_(std::move(parentId)) {}

Result<std::string> TurnSaver::append(std::string_view type, std::string payload) {
  Entry entry = makeEntry(type, std::move(payload), options_);
  if (!parentId_.empty()) entry.parentId = parentId_;
  std::vector<Entry> batch;
  batch.push_back(std::move(entry));
  BOUGH_TRY(auto done, store_->appendSessionEntries(sessionId_, std::move(batch), {.durability = options_.durability}));
  parentId_ = done.lastAppendedEntryId;
  return done.lastAppendedEntryId;
}

Result<std::string> TurnSaver::block(const TurnBlock& block) {
  BOUGH_TRY(auto payload, blockPayload(block));
  auto id = append(entry_type::kMessage, std::move(payload));
  if (id && block.kind == BlockKind::ToolCall) ++toolCount_;
  return id;
}

Result<std::string> TurnSaver::userText(std::string_view text) {
  return block({.role = Role::User, .kind = BlockKind::Text, .text = std::string(text)});
}

Result<std::string> TurnSaver::assistantText(std::string_view text) {
  return block({.kind = BlockKind::Text, .text = std::string(text)});
}

Result<std::string> TurnSaver::thinking(std::string_view text, std::string_view signature) {
  return block({.kind = BlockKind::Thinking, .text = std::string(text), .signature = std::string(signature)});
}

Result<std::string> TurnSaver::toolUse(std::string_view toolCallId, std::string_view name, std::string_view inputJson) {
  return block({.kind = BlockKind::ToolCall,
                .id = std::string(toolCallId),
                .name = std::string(name),
                .input = std::string(inputJson)});
}

Result<std::string> TurnSaver::toolStart(std::string_view toolCallId, std::string_view name) {
  json::Writer writer;
  writer.beginObject().member("toolCallId", toolCallId).member("name", name).endObject();
  return append(entry_type::kToolStart, writer.take());
}

Result<std::string> TurnSaver::toolResult(std::string_view toolCallId, std::string_view content, bool isError) {
  return block(
      {.kind = BlockKind::ToolResult, .text = std::string(content), .id = std::string(toolCallId), .isError = isError});
}

Result<std::string> TurnSaver::message(Dialect dialect, std::string_view json) {
  BOUGH_TRY(auto read, normalize(json, dialect));
  auto id = append(entry_type::kMessage, messagePayload(dialect, json));
  if (id && read.usage) counted_ += *read.usage;
  for (const Block& each : read.blocks) {
    if (id && each.kind == BlockKind::ToolCall) ++toolCount_;
  }
  return id;
}

Result<std::string> TurnSaver::end(TurnTotals totals) {
  if (totals.toolCount == 0) totals.toolCount = toolCount_;
  return append(entry_type::kCustom, totalsPayload(totals, counted_));
}

Result<AppendResult> saveTurn(SessionStore& store, const std::string& sessionId, const Turn& turn,
                              const TurnOptions& options) {
  std::vector<Entry> batch;
  TurnTotals totals = turn.totals;
  std::uint64_t tools = 0;
  for (const TurnBlock& block : turn.blocks) {
    BOUGH_TRY(auto payload, blockPayload(block));
    batch.push_back(makeEntry(entry_type::kMessage, std::move(payload), options));
    if (block.kind == BlockKind::ToolCall) ++tools;
  }
  if (totals.toolCount == 0) totals.toolCount = tools;
  batch.push_back(makeEntry(entry_type::kCustom, totalsPayload(totals, {}), options));
  return store.appendSessionEntries(sessionId, std::move(batch), {.durability = options.durability});
}

}  // namespace bough
