#include "message/plan/adapt.h"

#include <fmt/format.h>

#include <ranges>

#include "base/json/json_string.h"
#include "base/json/json_write.h"
#include "base/json/surrogates.h"
#include "message/model/dialects.h"
#include "message/model/media.h"
#include "message/plan/describe.h"

namespace bough::message {
namespace {

std::string_view kindName(const Original& original, const Block& block) {
  if (block.raw.data() == original.raw.data()) return "message";
  return toString(block.kind);
}

// Changes only the id or name in a call or result of the target's own dialect, so that everything else stays.
bool storeRenamed(OutBlock& outBlock, std::deque<std::string>& texts) {
  const Block& block = *outBlock.block;
  if (block.idMissing || !block.raw.starts_with('{')) return false;
  std::string raw(block.raw);
  const auto replace = [&](const TextView& old, const TextView& now) {
    if (!old.present || old.escaped == now.escaped) return true;
    const bool inside = old.escaped.data() >= block.raw.data() &&
                        old.escaped.data() + old.escaped.size() <= block.raw.data() + block.raw.size();
    if (inside)
      raw.replace(static_cast<std::size_t>(old.escaped.data() - block.raw.data()), old.escaped.size(), now.escaped);
    return inside;
  };
  // Replaces the last one first, so that the position of the other stays valid.
  const bool nameFirst = block.name.escaped.data() < block.id.escaped.data();
  const bool done = nameFirst ? replace(block.id, outBlock.id) && replace(block.name, outBlock.name)
                              : replace(block.name, outBlock.name) && replace(block.id, outBlock.id);
  if (!done) return false;
  outBlock.raw = texts.emplace_back(std::move(raw));
  outBlock.stored = true;
  return true;
}

// Returns the text for the missing result of a call.
std::string_view missingText(const Call& call) {
  if (!call.redacted) return "No result: the call was interrupted.";
  if (call.unreadable) {
    return call.doubtful ? "No result: its entry is damaged, or the call was interrupted."
                         : "The result cannot be read: its entry is damaged.";
  }
  if (call.erased) {
    return call.doubtful ? "No result: it was erased, or the call was interrupted." : "The result was erased.";
  }
  return call.doubtful ? "No result: it was redacted, or the call was interrupted." : "The result was redacted.";
}

std::string_view missingNote(const Call& call) {
  if (call.doubtful) return "the result is hidden, or the call has none; a result that says so takes its place";
  if (call.unreadable) return "the result cannot be read; a result that says so takes its place";
  if (call.erased) return "the result was erased; a result that says so takes its place";
  if (call.redacted) return "the result was redacted; a result that says so takes its place";
  return "a call without a result got a result that says so";
}

}  // namespace

std::string_view Adapter::notHeldReason() const {
  return forRequest_ ? "the target has no place for it; the session keeps it"
                     : "the target has no place for it; it comes back with the origin";
}

TextView Adapter::own(std::string_view plain) {
  const std::string& kept = texts_.emplace_back(json::quoted(plain));
  return {.escaped = std::string_view(kept).substr(1, kept.size() - 2), .present = true, .oddEscapes = false};
}

TextView Adapter::placeholder(const Block& block) {
  const std::string_view kind = toString(block.kind);
  const bool address = block.source == MediaSource::Url || block.source == MediaSource::FileId;
  const std::string what = address ? block.text.decode() : std::string(mediaTypeOf(block));
  return own(fmt::format("[{} not included: {}]", kind, what));
}

// Adds a block of the target's own dialect. A citation is inside its text, except in the normalized form.
void Adapter::storedContent(std::int32_t original, const Block& block, std::vector<OutBlock>& outBlocks) {
  if (!block.problem.empty()) {
    reporter_.invalid(originalAt(original), &block, block.problem);
  } else if (block.kind != BlockKind::Citation || target_ == Dialect::Bough) {
    outBlocks.push_back(
        {.kind = block.kind, .stored = true, .original = original, .block = &block, .text = block.text});
  }
}

// Returns whether a call can stay as it was written. Chat's old calls without ids cannot.
bool Adapter::isStored(const Call& call) const {
  const bool wanted = originalAt(call.original).dialect == target_ && call.occurrence == 0;
  const bool noObject = takesObjects() && !call.block->input.starts_with('{');
  return wanted && !noObject && mayKeep(history_.names, call.block->name) &&
         (call.block->idMissing || mayKeep(history_.ids, call.block->id)) &&
         !(call.block->idMissing && target_ == Dialect::OpenaiChat);
}

void Adapter::content(std::int32_t original, const Block& block, std::vector<OutBlock>& outBlocks) {
  const Original& from = originalAt(original);
  if (from.dialect == target_) {
    storedContent(original, block, outBlocks);
    return;
  }
  OutBlock outBlock{.kind = block.kind, .original = original, .block = &block, .text = block.text};
  if (target_ == Dialect::Bough) {
    outBlocks.push_back(std::move(outBlock));
    insideDocument(original, block, outBlocks);
    return;
  }
  const Role role = from.message.role;
  switch (block.kind) {
    case BlockKind::Text: break;
    case BlockKind::Refusal:
      if (role == Role::Assistant && !takesObjects()) break;
      outBlock.kind = BlockKind::Text;
      reporter_.lossy(Change::Altered, from, &block, "refusal", "written as text");
      break;
    case BlockKind::Image:
    case BlockKind::Document:
      if (block.source == MediaSource::Text && !canHoldMedia(target_, role, block, from.dialect)) {
        outBlock.kind = BlockKind::Text;
        reporter_.lossy(Change::Altered, from, &block, "document", "written as text");
        reportTitle(from, block, false);
        if (!block.text.empty()) outBlocks.push_back(std::move(outBlock));
        insideDocument(original, block, outBlocks);
        return;
      } else if (canHoldMedia(target_, role, block, from.dialect)) {
        reportTitle(from, block, true);
      } else {
        outBlock.kind = BlockKind::Text;
        outBlock.text = placeholder(block);
        reporter_.lossy(Change::Altered, from, &block, toString(block.kind),
                        "the target does not take it here; a note takes its place", true);
        reportTitle(from, block, false);
      }
      break;
    case BlockKind::Thinking:
    case BlockKind::RedactedThinking:
      if (thinkingAsText(from, outBlock)) break;
      reporter_.lossy(Change::Carried, from, &block, toString(block.kind),
                      forRequest_ ? "only its own provider can check it; the session keeps it"
                                  : "only its own provider can check it; it comes back with the origin");
      return;
    case BlockKind::Citation: reporter_.lossy(Change::Carried, from, &block, "citation", notHeldReason()); return;
    case BlockKind::ToolCall:
    case BlockKind::ToolResult: return;
    case BlockKind::Unknown:
      if (!block.problem.empty()) {
        reporter_.invalid(from, &block, block.problem);
        return;
      }
      if (!unknownAsText(from, &block, outBlock)) return;
      break;
  }
  if (!block.signature.empty() && outBlock.kind == block.kind)
    reporter_.lossy(Change::Carried, from, &block, "thoughtSignature", notHeldReason());
  outBlocks.push_back(std::move(outBlock));
}

// A document of parts is written as its text, followed by the images in it.
void Adapter::insideDocument(std::int32_t original, const Block& block, std::vector<OutBlock>& outBlocks) {
  if (block.kind != BlockKind::Document) return;
  for (const Block& inside : block.content) content(original, inside, outBlocks);
}

bool Adapter::thinkingAsText(const Original& from, OutBlock& out) {
  if (!options_.thinkingAsText || out.text.empty()) return false;
  out.kind = BlockKind::Text;
  out.text = own(fmt::format("<thinking>\n{}\n</thinking>", out.text.decode()));
  reporter_.lossy(Change::Altered, from, out.block, "thinking", "written as text, as asked for");
  return true;
}

bool Adapter::unknownAsText(const Original& from, const Block* where, OutBlock& out) {
  const std::string_view type = out.block->type.present ? out.block->type.escaped : std::string_view("unknown");
  const auto said = describe(*out.block);
  if (!said) {
    reporter_.lossy(Change::Carried, from, where, type, notHeldReason(), true);
    return false;
  }
  out.kind = BlockKind::Text;
  out.text = own(*said);
  reporter_.lossy(Change::Altered, from, where, type, "written as text");
  return true;
}

void Adapter::reportTitle(const Original& from, const Block& block, bool asMedia) {
  if (block.name.empty() || canHoldTitle(target_, block, asMedia)) return;
  reporter_.lossy(Change::Carried, from, &block, fmt::format("{}.{}", toString(block.kind), titleName(from.dialect)),
                  notHeldReason());
}

void Adapter::reportSurrogates(const Original& from) {
  if (from.tree == nullptr || !from.tree->anySurrogates()) return;
  for (json::Tree::Index i = from.node; i < from.tree->next(from.node); ++i) {
    if (!from.tree->hasSurrogates(i) || !json::hasLoneSurrogate(from.tree->body(i))) continue;
    reporter_.lossy(Change::Altered, from, nullptr, "message.surrogates",
                    "half of a character, which no server takes, became U+FFFD");
    return;
  }
}

// Returns the text of a call that takes text. For other targets such a tool gets {"input": "…"}.
std::optional<TextView> Adapter::freeformText(const Call& call) {
  const Block& block = *call.block;
  if (block.freeform) return block.text;
  const bool hasCustomTools = isOpenai(target_);
  if (!hasCustomTools || !block.input.starts_with('{')) return std::nullopt;
  if (!freeformTools_) {
    freeformTools_.emplace(history_.freeformTools.begin(), history_.freeformTools.end());
    for (const Original& original : history_.originals) {
      const bool freeform = original.section == Section::Tools && original.tool != nullptr && original.tool->freeform;
      if (freeform) freeformTools_->insert(original.tool->name.escaped);
    }
  }
  if (freeformTools_->empty() || !freeformTools_->contains(history_.names.original(block.name).escaped))
    return std::nullopt;
  json::ObjectReader members(block.input);
  const auto only = members.next();
  if (!only || !only->keyIs("input") || !only->value.starts_with('"') || members.next()) return std::nullopt;
  const std::string_view body = only->value.substr(1, only->value.size() - 2);
  return TextView{.escaped = body, .present = true, .oddEscapes = body.contains('\\')};
}

void Adapter::setCall(const Call& call, OutBlock& outBlock) {
  const Original& from = originalAt(call.original);
  const auto text = freeformText(call);
  outBlock.freeform = text && !takesObjects();
  outBlock.omitId = call.block->idMissing && (target_ == Dialect::Gemini || target_ == Dialect::Bough);
  const bool ownDialect = from.dialect == target_;
  // A call that is copied keeps the spelling of its id, so its result must use the same spelling.
  const bool asWritten = ownDialect && !call.block->idMissing && !(forRequest_ && call.occurrence > 0) &&
                         mayKeep(history_.ids, call.block->id);
  const bool kept = call.keptId.present && !asWritten;
  outBlock.id = asWritten ? call.block->id
                : kept    ? call.keptId
                          : history_.ids.inTarget(target_, call.id, call.occurrence);
  const TextView name = history_.names.original(call.block->name);
  // Chat accepted any name in its old calls without ids, which are now written as calls of the present form.
  const bool fromBefore = target_ == Dialect::OpenaiChat && call.block->idMissing;
  const bool keepsName = ownDialect && !fromBefore && mayKeep(history_.names, call.block->name);
  outBlock.name = keepsName               ? call.block->name
                  : call.keptName.present ? call.keptName
                                          : history_.names.inTarget(target_, name);
}

void Adapter::setInput(const Call& call, OutBlock& outBlock) {
  const Original& from = originalAt(call.original);
  const Block& block = *call.block;
  outBlock.input = block.input;
  outBlock.text = freeformText(call).value_or(block.text);
  if (!takesObjects() || block.input.starts_with('{')) return;
  std::string decoded;
  if (block.freeform) {
    outBlock.input = texts_.emplace_back("{\"input\":\"" + std::string(block.text.escaped) + "\"}");
    reporter_.lossy(Change::Altered, from, &block, "tool_call.freeform", "the text is put into an object, as `input`");
    return;
  }
  if (block.input.starts_with('"')) {
    json::appendDecoded(decoded, block.input.substr(1, block.input.size() - 2));
    json::Tree tree;
    if (decoded.find_first_not_of(" \t\r\n") == std::string::npos) {
      outBlock.input = "{}";
      return;
    }
    if (!tree.parse(decoded) && tree.isObject(0)) {
      const std::string& kept = texts_.emplace_back(std::move(decoded));
      outBlock.input = std::string_view(kept).substr(tree.begin(0), tree.end(0) - tree.begin(0));
      return;
    }
  }
  outBlock.input = texts_.emplace_back("{\"arguments\":" + std::string(block.input) + "}");
  reporter_.lossy(Change::Altered, from, &block, "tool_call.arguments",
                  "not a JSON object; it is put into one, as `arguments`");
}

OutBlock Adapter::call(const Call& call) {
  const Original& from = originalAt(call.original);
  const Block& block = *call.block;
  OutBlock outBlock{.kind = BlockKind::ToolCall, .original = call.original, .block = call.block};
  setCall(call, outBlock);
  outBlock.stored = isStored(call);
  if (outBlock.stored) return outBlock;
  const bool noObject = takesObjects() && !block.input.starts_with('{');
  const bool renamed = from.dialect == target_ && !noObject && storeRenamed(outBlock, texts_);
  if (!renamed) setInput(call, outBlock);
  if (!outBlock.omitId && !call.keptId.present && outBlock.id.escaped != block.id.escaped && block.id.present) {
    reporter_.note(Change::Renamed, from, &block, "tool_call.id", "the target does not take this id");
  }
  if (outBlock.name.escaped != block.name.escaped) {
    reporter_.renamedTool(from, &block, "tool_call.name", block.name.decode(), outBlock.name.decode());
  }
  if (!renamed && !block.signature.empty() && target_ != Dialect::Bough) {
    reporter_.lossy(Change::Carried, from, &block, "thoughtSignature", notHeldReason());
  }
  return outBlock;
}

void Adapter::resultContent(const Call& call, const Block& block, OutBlock& outBlock) {
  const Original& from = originalAt(call.resultOriginal);
  switch (block.kind) {
    case BlockKind::Text:
    case BlockKind::Refusal: outBlock.texts.push_back(block.text); return;
    case BlockKind::Image:
    case BlockKind::Document: resultMedia(call, block, outBlock); return;
    default: break;
  }
  if (target_ == Dialect::Bough) {
    outBlock.media.push_back(&block);
    return;
  }
  OutBlock written{.kind = block.kind, .original = call.resultOriginal, .block = &block};
  if (unknownAsText(from, call.result, written)) outBlock.texts.push_back(written.text);
}

void Adapter::resultMedia(const Call& call, const Block& block, OutBlock& outBlock) {
  const Original& from = originalAt(call.resultOriginal);
  if (target_ == Dialect::Bough || canHoldMedia(target_, Role::Tool, block, from.dialect)) {
    outBlock.media.push_back(&block);
    reportTitle(from, block, true);
    if (target_ == Dialect::OpenaiChat) {
      reporter_.lossy(Change::Altered, from, call.result, "tool_result.media", "follows in a user message");
    }
    for (const Block& inside : block.content) resultContent(call, inside, outBlock);
    return;
  }
  reportTitle(from, block, false);
  if (block.source == MediaSource::Text) {
    if (!block.text.empty() || block.content.empty()) outBlock.texts.push_back(block.text);
    for (const Block& inside : block.content) resultContent(call, inside, outBlock);
    return;
  }
  outBlock.texts.push_back(placeholder(block));
  reporter_.lossy(Change::Altered, from, call.result, "tool_result.media",
                  "the target does not take it; a note takes its place", true);
}

OutBlock Adapter::result(const Call& call) {
  const Block& block = *call.result;
  OutBlock outBlock{
      .kind = BlockKind::ToolResult, .isError = block.isError, .original = call.resultOriginal, .block = &block};
  setCall(call, outBlock);
  const bool own = originalAt(call.resultOriginal).dialect == target_ && originalAt(call.original).dialect == target_;
  // A result that names its call by the tool fits only an old call without an id.
  const bool byName = target_ == Dialect::OpenaiChat && block.idMissing;
  outBlock.stored = own && isStored(call) && !byName;
  if (outBlock.stored || (own && storeRenamed(outBlock, texts_))) return outBlock;
  for (const Block& each : block.content) resultContent(call, each, outBlock);
  const bool noErrorFlag = isOpenai(target_);
  if (block.isError && noErrorFlag) {
    reporter_.lossy(Change::Altered, originalAt(call.resultOriginal), &block, "tool_result.is_error",
                    "written as the word Error before the text");
  }
  return outBlock;
}

OutBlock Adapter::missingResult(const Call& call) {
  OutBlock outBlock{.kind = BlockKind::ToolResult, .isError = true};
  setCall(call, outBlock);
  outBlock.texts.push_back(own(missingText(call)));
  if (call.redacted && !call.doubtful) outBlock.isError = false;
  reporter_.note(Change::Synthetic, originalAt(call.original), call.block, "tool_result", missingNote(call));
  return outBlock;
}

void Adapter::reportExtras(std::int32_t original) {
  const Original& from = originalAt(original);
  reportSurrogates(from);
  if (from.dialect == target_) return;
  for (const std::string_view name : from.message.extras) {
    reporter_.lossy(Change::Carried, from, nullptr, fmt::format("message.{}", name), notHeldReason());
  }
  // OpenAI's two dialects share "detail".
  const bool openai = isOpenai(target_);
  std::vector<const Block*> held;  // The blocks inside a block of the message, at any depth.
  for (const Block& where : from.message.blocks) {
    for (held.push_back(&where); !held.empty();) {
      const Block& block = *held.back();
      held.pop_back();
      const std::string_view kind = &where == &block ? kindName(from, block) : toString(block.kind);
      for (const std::string_view name : block.extras) {
        if (openai && name == "detail" && !detailOf(block).empty()) continue;
        reporter_.lossy(Change::Carried, from, &where, fmt::format("{}.{}", kind, name), notHeldReason());
      }
      for (const Block& nested : std::views::reverse(block.content)) held.push_back(&nested);
    }
  }
}

}  // namespace bough::message
