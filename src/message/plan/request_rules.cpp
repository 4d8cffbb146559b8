#include "message/plan/request_rules.h"

#include <algorithm>
#include <unordered_set>

namespace bough::message {
namespace {

class Rules {
 public:
  Rules(Plan& plan, const History& history, Dialect target, Reporter& reporter)
      : plan_(plan), history_(history), target_(target), reporter_(reporter) {}

  void run() {
    if (target_ == Dialect::OpenaiResponses) {
      dropRepeatedItems();
      dropLonelyReasoning();
    }
    if (target_ == Dialect::Anthropic) {
      for (OutMessage& out : plan_.messages) dropLooseThinking(out);
      mergeNeighbours();
    }
  }

 private:
  [[nodiscard]] const Original& originalOf(const OutBlock& outBlock) const {
    return history_.originals[static_cast<std::size_t>(outBlock.original)];
  }

  static bool isThinking(const OutBlock& outBlock) {
    return outBlock.kind == BlockKind::Thinking || outBlock.kind == BlockKind::RedactedThinking;
  }

  void leaveOut(const OutBlock& outBlock, std::string_view reason) {
    reporter_.note(Change::LeftOut, originalOf(outBlock), outBlock.block, toString(outBlock.kind), reason);
  }

  // Two items of one id cannot both be sent.
  void dropRepeatedItems() {
    std::unordered_set<std::string_view> seen;
    std::erase_if(plan_.messages, [&](const OutMessage& out) {
      if (out.outBlocks.empty() || !out.outBlocks.front().stored) return false;
      const Original& original = originalOf(out.outBlocks.front());
      const TextView& id = original.message.id;
      if (id.empty() || seen.insert(id.escaped).second) return false;
      reporter_.note(Change::LeftOut, original, nullptr, "message", "an item of this id stands there already");
      return true;
    });
  }

  // Reasoning is only taken together with the item it led to.
  void dropLonelyReasoning() {
    bool led = false;
    for (std::size_t i = plan_.messages.size(); i-- > 0;) {
      const OutMessage& out = plan_.messages[i];
      const bool reasoning =
          out.role == Role::Assistant && !out.outBlocks.empty() && std::ranges::all_of(out.outBlocks, isThinking);
      if (reasoning && !led) {
        for (const OutBlock& outBlock : out.outBlocks) leaveOut(outBlock, "what it led to is not there");
        plan_.messages.erase(plan_.messages.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      led = out.role == Role::Assistant;
    }
  }

  void dropLooseThinking(OutMessage& out) {
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

// Whether all blocks of an original, and nothing else, are in a message, in their order and as they were written.
bool isWhole(const OutMessage& out, const Original& original, Dialect target) {
  std::size_t at = 0;
  for (const Block& block : original.message.blocks) {
    if (block.kind == BlockKind::Citation && target != Dialect::Bough) continue;
    if (at == out.outBlocks.size() || out.outBlocks[at].block != &block || !out.outBlocks[at].stored) return false;
    ++at;
  }
  return at == out.outBlocks.size();
}

void settle(OutMessage& out, const History& history, Dialect target, Reporter& reporter) {
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
  out.verbatim = isWhole(out, history.originals[static_cast<std::size_t>(index)], target);
  out.original = out.verbatim ? index : -1;
}

}  // namespace

void applyRequestRules(Plan& plan, const History& history, Dialect target, Reporter& reporter) {
  Rules(plan, history, target, reporter).run();
}

void settleRequest(Plan& plan, const History& history, Dialect target, Reporter& reporter) {
  if (plan.hasSystem) settle(plan.system, history, target, reporter);
  for (OutMessage& out : plan.messages) settle(out, history, target, reporter);
}

}  // namespace bough::message
