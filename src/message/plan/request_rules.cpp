#include "message/plan/request_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "base/json/json_write.h"
#include "message/json/content_hash.h"
#include "message/plan/describe.h"
#include "message/plan/server_tool_blocks.h"

namespace bough::message {
namespace {

class Rules {
 public:
  Rules(Plan& plan, const History& history, Dialect target, Reporter& reporter)
      : plan_(plan), history_(history), target_(target), reporter_(reporter) {}

  void run() {
    if (target_ == Dialect::OpenaiResponses) {
      dropKnownReferences();
      separateRepeatedItems();
      writeUnpairedAsText(false);
      dropDetachedReasoning();
    }
    if (target_ == Dialect::OpenaiChat) {
      for (OutMessage& out : plan_.messages) sendBackById(out);
    }
    if (target_ == Dialect::Anthropic) {
      for (OutMessage& out : plan_.messages) dropRefusedThinking(out);
      mergeNeighbours();
      writeUnpairedAsText(true);
    }
  }

  void dropThinkingOfEdited() {
    for (OutMessage& out : plan_.messages) {
      if (out.verbatim || out.role != Role::Assistant) continue;
      if (target_ == Dialect::Anthropic) dropRefusedThinking(out);
      // Chat requires a message to have content.
      if (target_ == Dialect::OpenaiChat && std::ranges::all_of(out.outBlocks, isThinking)) {
        for (const OutBlock& outBlock : out.outBlocks) leaveOut(outBlock, "what it led to is not there");
        out.outBlocks.clear();
      }
    }
    std::erase_if(plan_.messages, [](const OutMessage& out) { return !out.verbatim && out.outBlocks.empty(); });
  }

 private:
  [[nodiscard]] const Original& originalOf(const OutBlock& outBlock) const {
    return history_.originals[static_cast<std::size_t>(outBlock.original)];
  }

  static bool isThinking(const OutBlock& outBlock) {
    return outBlock.kind == BlockKind::Thinking || outBlock.kind == BlockKind::RedactedThinking;
  }

  void leaveOut(const OutBlock& outBlock, std::string_view reason) {
    reporter_.lossy(Change::LeftOut, originalOf(outBlock), outBlock.block, toString(outBlock.kind), reason);
  }

  // For spoken output, Chat accepts only the id (rewriteMembers reports the rest).
  void sendBackById(OutMessage& out) {
    for (const OutBlock& outBlock : out.outBlocks) {
      const bool spoken = outBlock.stored && outBlock.block->type.escaped == "audio" && outBlock.block->id.present;
      if (!spoken || outBlock.block->extras.empty()) continue;
      out.changed = true;
    }
  }

  // A reference stands for an item that OpenAI stores. The API refuses it next to the item itself.
  void dropKnownReferences() {
    const auto isReference = [](const OutMessage& out) {
      return !out.outBlocks.empty() && out.outBlocks.front().stored &&
             out.outBlocks.front().kind == BlockKind::Unknown &&
             out.outBlocks.front().block->type.escaped == "item_reference";
    };
    if (std::ranges::none_of(plan_.messages, isReference)) return;
    std::unordered_set<std::string_view> items;
    for (const OutMessage& out : plan_.messages) {
      const bool stored = !out.outBlocks.empty() && out.outBlocks.front().stored && !isReference(out);
      if (stored) items.insert(originalOf(out.outBlocks.front()).message.id.escaped);
    }
    std::erase_if(plan_.messages, [&](const OutMessage& out) {
      if (!isReference(out)) return false;
      const Original& original = originalOf(out.outBlocks.front());
      const bool known = !items.insert(original.message.id.escaped).second;
      reporter_.note(
          known ? Change::LeftOut : Change::Needs, original, nullptr, "item_reference",
          known ? "the item itself is there" : "the provider finds it only if it was told to `store` the item");
      return known;
    });
  }

  // Two items with the same id cannot both be sent. An item with the same content is left out; any other gets a new id.
  void separateRepeatedItems() {
    // id → hashes of what was sent with it
    std::unordered_map<std::string_view, std::unordered_set<std::uint64_t>> seen;
    ContentHasher hasher;
    std::erase_if(plan_.messages, [&](OutMessage& out) {
      if (out.outBlocks.empty() || !out.outBlocks.front().stored) return false;
      const Original& original = originalOf(out.outBlocks.front());
      const TextView& id = original.message.id;
      if (id.empty()) return false;
      std::unordered_set<std::uint64_t>& hashes = seen[id.escaped];
      const std::string_view renamed = out.outBlocks.front().raw;
      const std::uint64_t hash = renamed.empty() ? hasher.hashOf(original) : hasher.hash(renamed);
      if (!hashes.insert(hash).second) {
        reporter_.note(Change::LeftOut, original, nullptr, "message", "the same item was sent already");
        return true;
      }
      if (hashes.size() > 1) giveAnotherId(out, original, hashes.size());
      return false;
    });
  }

  // Calls need no id; other items must have one. A message that is not a list of parts is written without an id.
  void giveAnotherId(OutMessage& out, const Original& original, std::size_t occurrence) {
    reporter_.note(Change::Renamed, original, nullptr, "message.id", "another item has this id");
    out.changed = true;
    OutBlock& item = out.outBlocks.front();
    const bool message = original.message.roleName.present;
    if (message && (out.role != Role::Assistant || !item.block->raw.starts_with('{'))) return;
    json::Tree tree;
    const auto error = tree.parse(message ? original.raw : item.raw.empty() ? item.block->raw : item.raw);
    BOUGH_CHECK(!error);
    std::string& text = plan_.texts.emplace_back("{");
    for (const auto [key, value] : tree.members(0)) {
      if (tree.stringIs(key, "id") && item.kind == BlockKind::ToolCall) continue;
      if (text.size() > 1) text += ',';
      text.append(tree.raw(key)).append(":");
      text +=
          tree.stringIs(key, "id") ? otherId(original.message.id.escaped, occurrence) : std::string(tree.raw(value));
    }
    text += '}';
    item.raw = text;
    if (!message) return;
    // That text contains everything.
    item.kind = BlockKind::Unknown;
    out.outBlocks.resize(1);
  }

  static std::string otherId(std::string_view id, std::size_t occurrence) {
    const std::string_view prefix = id.substr(0, std::min<std::size_t>(id.find('_'), 8));
    const std::string seed = std::string(id) + '\n' + std::to_string(occurrence);
    return '"' + std::string(prefix) + '_' + std::string(toHex(hashBytes(seed)).view()) + '"';
  }

  // Calls of a provider's own tools belong together with their results: a call or a result without the other
  // one is written as text.
  void writeUnpairedAsText(bool perMessage) {
    std::vector<ToolBlock> toolBlocks;
    for (std::size_t m = 0; m < plan_.messages.size(); ++m) {
      for (OutBlock& block : plan_.messages[m].outBlocks) {
        if (block.kind != BlockKind::Unknown || !block.stored) continue;
        if (auto toolBlock = toolBlockOf(block)) {
          toolBlock->message = perMessage ? m : 0;
          toolBlocks.push_back(std::move(*toolBlock));
        }
      }
    }
    std::map<std::pair<std::size_t, std::string_view>, int> seen;  // 1: the call, 2: the result, 3: both.
    std::map<std::string_view, std::size_t> first;  // Where an id was first used; it cannot be used again.
    for (const ToolBlock& toolBlock : toolBlocks) {
      seen[{toolBlock.message, toolBlock.id}] |= toolBlock.isResult ? 2 : 1;
      first.emplace(toolBlock.id, toolBlock.message);
    }
    for (const ToolBlock& toolBlock : toolBlocks) {
      const bool again = first[toolBlock.id] != toolBlock.message;
      if (again || (seen[{toolBlock.message, toolBlock.id}] != 3 && !isPaused(toolBlock)))
        writeAsText(toolBlock, again);
    }
  }

  struct ToolBlock {
    OutBlock* block;
    bool isResult;
    std::string id;
    std::size_t message = 0;
  };

  [[nodiscard]] std::optional<ToolBlock> toolBlockOf(OutBlock& block) const {
    auto toolBlock = serverToolBlockOf(*block.block, target_);
    if (!toolBlock) return std::nullopt;
    return ToolBlock{.block = &block, .isResult = toolBlock->isResult, .id = std::move(toolBlock->id)};
  }

  // A paused answer continues from its open call.
  [[nodiscard]] bool isPaused(const ToolBlock& toolBlock) const {
    const Original& original = originalOf(*toolBlock.block);
    const OutMessage& last = plan_.messages.back();
    const bool atEnd =
        last.role == Role::Assistant && !last.outBlocks.empty() && &last.outBlocks.back() == toolBlock.block;
    return atEnd && original.message.stopReason.escaped == "pause_turn";
  }

  void writeAsText(const ToolBlock& toolBlock, bool again) {
    OutBlock& block = *toolBlock.block;
    const std::string_view type = block.block->type.escaped;
    const std::string said = describe(*block.block).value_or("[" + std::string(type) + "]");
    const std::string text = again                ? said
                             : toolBlock.isResult ? said + "\n(The call is not there.)"
                                                  : said + "\n(No result: it was interrupted.)";
    const std::string& kept = plan_.texts.emplace_back(json::quoted(text));
    reporter_.note(Change::Altered, originalOf(block), block.block, type,
                   again                ? "written as text: its id was used before"
                   : toolBlock.isResult ? "written as text: its call is not there"
                                        : "written as text: it has no result");
    block.stored = false;
    block.kind = BlockKind::Text;
    block.text = {.escaped = std::string_view(kept).substr(1, kept.size() - 2), .present = true};
  }

  // Reasoning is accepted only together with the item that it led to.
  void dropDetachedReasoning() {
    bool led = false;
    std::vector<OutMessage> kept;  // From the last to the first.
    for (std::size_t i = plan_.messages.size(); i-- > 0;) {
      OutMessage& out = plan_.messages[i];
      const bool reasoning =
          out.role == Role::Assistant && !out.outBlocks.empty() && std::ranges::all_of(out.outBlocks, isThinking);
      if (reasoning && !led) {
        for (const OutBlock& outBlock : out.outBlocks) leaveOut(outBlock, "what it led to is not there");
        continue;
      }
      led = out.role == Role::Assistant;
      kept.push_back(std::move(out));
    }
    std::ranges::reverse(kept);
    plan_.messages = std::move(kept);
  }

  void dropRefusedThinking(OutMessage& out) {
    if (out.role != Role::Assistant) return;
    std::erase_if(out.outBlocks, [&](const OutBlock& outBlock) {
      const bool loose = isThinking(outBlock) && outBlock.block->signature.empty();
      if (loose) leaveOut(outBlock, "it has no signature");
      return loose;
    });
    while (!out.outBlocks.empty() && isThinking(out.outBlocks.back())) {
      leaveOut(out.outBlocks.back(), "what it led to is not there");
      out.outBlocks.pop_back();
    }
  }

  void mergeNeighbours() {
    std::vector<OutMessage> kept;
    for (OutMessage& out : plan_.messages) {
      if (out.outBlocks.empty()) continue;
      if (!kept.empty() && kept.back().role == out.role && out.role != Role::System) {
        std::ranges::move(out.outBlocks, std::back_inserter(kept.back().outBlocks));
      } else {
        kept.push_back(std::move(out));
      }
    }
    plan_.messages = std::move(kept);
  }

  Plan& plan_;
  const History& history_;
  Dialect target_;
  Reporter& reporter_;
};

// Returns whether a message consists of exactly the blocks of an original, in order and unchanged.
bool isWhole(const OutMessage& out, const Original& original, Dialect target) {
  std::size_t at = 0;
  for (const Block& block : original.message.blocks) {
    if (block.kind == BlockKind::Citation && target != Dialect::Bough) continue;
    if (at == out.outBlocks.size() || out.outBlocks[at].block != &block || !out.outBlocks[at].stored) return false;
    if (!out.outBlocks[at].raw.empty()) return false;
    ++at;
  }
  return at == out.outBlocks.size();
}

void copyIfWhole(OutMessage& out, const History& history, Dialect target, Reporter& reporter) {
  std::int32_t before = -1;
  const bool merges = target == Dialect::Anthropic || target == Dialect::Gemini;
  for (const OutBlock& outBlock : out.outBlocks) {
    if (outBlock.original < 0 || outBlock.original == before) continue;
    if (before >= 0 && merges && outBlock.kind != BlockKind::ToolCall) {
      const Original& original = history.originals[static_cast<std::size_t>(outBlock.original)];
      reporter.note(Change::Altered, original, nullptr, "message", "merged with the message before it");
    }
    before = outBlock.original;
  }
  if (out.outBlocks.empty() || !out.outBlocks.front().stored) return;
  const std::int32_t index = out.outBlocks.front().original;
  out.verbatim = !out.changed && isWhole(out, history.originals[static_cast<std::size_t>(index)], target);
  out.original = out.verbatim ? index : -1;
}

}  // namespace

void dropRefusedThinking(Plan& plan, const History& history, Dialect target, Reporter& reporter) {
  if (target != Dialect::Anthropic && target != Dialect::OpenaiChat) return;
  Rules(plan, history, target, reporter).dropThinkingOfEdited();
}

void applyRequestRules(Plan& plan, const History& history, Dialect target, Reporter& reporter) {
  Rules(plan, history, target, reporter).run();
}

void copyUnchangedMessages(Plan& plan, const History& history, Dialect target, Reporter& reporter) {
  if (plan.hasSystem) copyIfWhole(plan.system, history, target, reporter);
  for (OutMessage& out : plan.messages) copyIfWhole(out, history, target, reporter);
}

}  // namespace bough::message
