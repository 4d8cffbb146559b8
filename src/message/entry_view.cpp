#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/model/shown.h"
#include "base/model/unreadable.h"
#include "bough/message.h"

namespace bough {
namespace {

// Returns a value as text: the characters of a string, or JSON for any other value.
std::string valueText(std::string_view json) {
  return json::decodeString(json).value_or(std::string(json));
}

std::string describeMedia(const Block& block) {
  const std::string what = block.kind == BlockKind::Image ? "image" : "document";
  const std::string type = block.type.decode();
  const std::string name = block.name.decode();
  std::string where;
  if (block.source == MediaSource::Url || block.source == MediaSource::FileId) where = " " + block.text.decode();
  return fmt::format("[{}{}{}{}]", what, type.empty() ? "" : " " + type, name.empty() ? "" : " " + name, where);
}

EntryPart viewBlock(const Block& block) {
  EntryPart part{.kind = block.kind, .text = {}, .name = {}, .isError = block.isError};
  switch (block.kind) {
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::Refusal: part.text = block.text.decode(); break;
    case BlockKind::RedactedThinking: part.text = "[thinking that only its provider can read]"; break;
    case BlockKind::ToolCall:
      part.name = block.name.decode();
      part.callId = block.id.decode();
      part.text = block.freeform ? block.text.decode() : valueText(block.input);
      break;
    case BlockKind::ToolResult:
      part.callId = block.id.decode();
      part.name = block.name.present ? block.name.decode() : part.callId;
      for (const Block& inner : block.content) {
        if (!part.text.empty()) part.text += '\n';
        part.text += inner.kind == BlockKind::Text ? inner.text.decode() : viewBlock(inner).text;
      }
      break;
    case BlockKind::Image:
    case BlockKind::Document: part.text = describeMedia(block); break;
    case BlockKind::Citation: part.text = fmt::format("[citation] {}", block.text.decode()); break;
    case BlockKind::Unknown: part.text = std::string(block.raw); break;
  }
  return part;
}

// Returns what an entry says about another entry; empty when nothing is known.
std::string viewReference(const Entry& entry) {
  const auto target = json::findString(entry.payload, "entryId");
  if (entry.type == entry_type::kHead) return "is now " + target.value_or("before the first entry");
  if (entry.type == entry_type::kRedaction && target) {
    return fmt::format("hides {}, by {}: {}", *target, json::findString(entry.payload, "by").value_or("nobody"),
                       json::findString(entry.payload, "reason").value_or(""));
  }
  const auto name = json::findString(entry.payload, "name");
  if (entry.type != entry_type::kLabel || !name) return {};
  return target ? fmt::format("{} is now on {}", *name, *target) : *name + " removed";
}

// For entries that are not messages: returns the most informative member, or the payload.
EntryPart viewPayload(const Entry& entry) {
  if (auto text = viewReference(entry); !text.empty()) return {.kind = BlockKind::Text, .text = text, .name = {}};
  for (const std::string_view name : {"summary", "systemPrompt", "model", "thinkingLevel", "level", "title", "name"}) {
    if (auto text = json::findString(entry.payload, name)) return {.kind = BlockKind::Text, .text = *text, .name = {}};
  }
  return {.kind = BlockKind::Unknown, .text = entry.payload, .name = {}};
}

// Returns why a turn ended early, and the parts of an answer that could not be kept as a message.
std::vector<EntryPart> viewEarlyEnd(const Entry& entry, std::string reason) {
  std::vector<EntryPart> parts;
  parts.push_back({.kind = BlockKind::Text, .text = std::move(reason)});
  const auto partial = json::findMember(entry.payload, "partial");
  if (!partial) return parts;
  if (auto thinking = json::findString(*partial, "thinking")) {
    parts.push_back({.kind = BlockKind::Thinking, .text = std::move(*thinking)});
  }
  json::ArrayReader calls(json::findMember(*partial, "toolCalls").value_or("[]"));
  while (const auto call = calls.next()) {
    parts.push_back({.kind = BlockKind::ToolCall,
                     .text = json::findString(*call, "arguments").value_or(""),
                     .name = json::findString(*call, "name").value_or("") + " (not run)"});
  }
  return parts;
}

std::string hiddenText(const Entry& entry) {
  if (isUnreadable(entry)) return unreadableText(entry);
  const auto redaction = json::findMember(entry.payload, "redacted");
  const auto by = redaction ? json::findString(*redaction, "by") : std::nullopt;
  const auto reason = redaction ? json::findString(*redaction, "reason") : std::nullopt;
  const bool isErased = redaction && json::findMember(*redaction, "erased");
  return fmt::format("[{}{}{}]", isErased ? "erased" : "redacted", by ? " by " + *by : "",
                     reason && !reason->empty() ? ": " + *reason : "");
}

}  // namespace

EntryView viewEntry(const Entry& entry) {
  EntryView view{.speaker = entry.type, .isMessage = entry.type == entry_type::kMessage, .parts = {}};
  if (entry.redacted || isUnreadable(entry)) {
    view.parts.push_back({.kind = BlockKind::Text, .text = hiddenText(entry), .name = {}});
    return view;
  }
  if (auto shown = shownText(entry)) {
    view.speaker = shown->role + " (shown, not sent)";
    view.parts.push_back({.kind = BlockKind::Text, .text = std::move(shown->text), .name = {}});
    return view;
  }
  if (auto reason = turnAbortReason(entry)) {
    view.speaker = "the turn ended early";
    view.parts = viewEarlyEnd(entry, std::move(*reason));
    return view;
  }
  if (!view.isMessage) {
    view.parts.push_back(viewPayload(entry));
    return view;
  }
  const auto message = normalizeEntry(entry);
  if (!message) {
    view.parts.push_back({.kind = BlockKind::Unknown, .text = entry.payload, .name = {}});
    return view;
  }
  const auto isResult = [](const Block& block) { return block.kind == BlockKind::ToolResult; };
  const bool results = !message->blocks.empty() && std::ranges::all_of(message->blocks, isResult);
  view.speaker = toString(results ? Role::Tool : message->role);
  for (const Block& block : message->blocks) view.parts.push_back(viewBlock(block));
  return view;
}

}  // namespace bough
