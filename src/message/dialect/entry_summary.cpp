#include "bough/message.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/text/inline_markdown.h"
#include "base/text/text.h"
#include "message/model/dialects.h"

namespace bough {
namespace {

constexpr std::size_t kLookedAtBytes = 4096;  // enough text for one line

// Returns as much of a block's text as a line may need.
std::string beginning(const TextView& text) {
  if (text.escaped.size() <= kLookedAtBytes) return text.decode();
  TextView part = text;
  part.escaped = part.escaped.substr(0, kLookedAtBytes);
  // Do not cut inside an escape.
  const std::size_t slash = part.escaped.rfind('\\', kLookedAtBytes - 1);
  if (slash != std::string_view::npos && slash + 12 > part.escaped.size()) part.escaped = part.escaped.substr(0, slash);
  while (part.escaped.ends_with('\\')) part.escaped.remove_suffix(1);
  return part.decode();
}

std::string resultText(const Block& result) {
  for (const Block& block : result.content) {
    if (block.kind == BlockKind::Text) return beginning(block.text);
  }
  return result.content.empty() ? std::string() : fmt::format("[{}]", toString(result.content.front().kind));
}

std::string blockText(const Block& block) {
  switch (block.kind) {
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::Refusal: return text::plainWords(beginning(block.text), kLookedAtBytes);
    case BlockKind::ToolCall: {
      const std::string_view input = block.input.substr(0, kLookedAtBytes);
      const auto decoded = json::decodeString(block.input);
      return fmt::format("{}({})", block.name.decode(),
                         block.freeform ? beginning(block.text) : decoded.value_or(std::string(input)));
    }
    case BlockKind::ToolResult: return resultText(block);
    default: return fmt::format("[{}]", toString(block.kind));
  }
}

const Block* mostTelling(const Message& message) {
  const auto firstOf = [&](auto isWanted) {
    const auto found = std::ranges::find_if(message.blocks, isWanted);
    return found == message.blocks.end() ? nullptr : &*found;
  };
  const Block* block = firstOf([](const Block& other) { return other.kind == BlockKind::Text && !other.text.empty(); });
  if (block == nullptr) block = firstOf([](const Block& other) { return other.kind != BlockKind::Thinking; });
  return block != nullptr ? block : firstOf([](const Block&) { return true; });
}

void describeMessage(const Entry& entry, EntrySummary& summary, std::string& text) {
  const auto message = normalizeEntry(entry);
  if (!message) {
    text = entry.payload.substr(0, kLookedAtBytes);
    return;
  }
  const auto isResult = [](const Block& block) { return block.kind == BlockKind::ToolResult; };
  const bool results = !message->blocks.empty() && std::ranges::all_of(message->blocks, isResult);
  summary.speaker = toString(results ? Role::Tool : message->role);
  summary.failed = hasFailedResult(*message);
  if (const Block* block = mostTelling(*message)) text = blockText(*block);
}

std::string hiddenSummary(const Entry& entry) {
  if (isUnreadable(entry)) return unreadableText(entry);
  const auto redaction = json::findMember(entry.payload, "redacted");
  const auto reason = redaction ? json::findString(*redaction, "reason") : std::nullopt;
  return fmt::format("[redacted{}]", reason && !reason->empty() ? ": " + *reason : "");
}

// Returns the most informative member, or the payload.
std::string payloadText(const Entry& entry) {
  if (entry.type == entry_type::kBranchSummary) {
    return fmt::format("of {}: {}", json::findString(entry.payload, "sourceEntryId").value_or("?"),
                       text::plainWords(json::findString(entry.payload, "summary").value_or(""), kLookedAtBytes));
  }
  if (const auto summary = json::findString(entry.payload, "summary"))
    return text::plainWords(*summary, kLookedAtBytes);
  for (const std::string_view name : {"systemPrompt", "model", "thinkingLevel", "level", "title", "name"}) {
    if (auto value = json::findString(entry.payload, name)) return *value;
  }
  return entry.payload.substr(0, kLookedAtBytes);
}

// Returns whether the text of a result says that the tool failed. Used when there is no flag.
bool saysFailed(const Block& result) {
  const std::string said = resultText(result);
  const std::size_t begin = std::min(said.find_first_not_of(" \t\r\n"), said.size());
  const std::string_view text = std::string_view(said).substr(begin);
  if (text.starts_with("Error:")) return true;
  if (!text.starts_with('{')) return false;
  const auto error = json::findMember(text, "error");
  if (error && *error != "null" && *error != "false" && *error != "\"\"") return true;
  return json::findMember(text, "is_error") == "true" || json::findMember(text, "isError") == "true";
}

}  // namespace

bool hasFailedResult(const Message& message) {
  const bool noFlag = message::isOpenai(message.dialect);
  return std::ranges::any_of(message.blocks, [&](const Block& block) {
    return block.kind == BlockKind::ToolResult && (block.isError || (noFlag && saysFailed(block)));
  });
}

bool hasFailedResult(const Entry& entry) {
  if (entry.type != entry_type::kMessage || entry.redacted) return false;
  const auto message = normalizeEntry(entry);
  return message && hasFailedResult(*message);
}

EntrySummary summarizeEntry(const Entry& entry, std::size_t graphemes) {
  EntrySummary summary{.entryId = entry.id,
                       .timestamp = entry.timestamp,
                       .speaker = text::printable(entry.type),
                       .text = {},
                       .failed = false};
  std::string text;
  if (entry.redacted || isUnreadable(entry)) {
    text = hiddenSummary(entry);
  } else if (entry.type == entry_type::kMessage) {
    describeMessage(entry, summary, text);
  } else {
    text = payloadText(entry);
  }
  summary.text = text::excerpt(text, graphemes);
  return summary;
}

}  // namespace bough
