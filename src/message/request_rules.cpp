#include "message/request_rules.h"

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
  [[nodiscard]] const Native& nativeOf(const Piece& piece) const {
    return history_.natives[static_cast<std::size_t>(piece.native)];
  }

  static bool isThinking(const Piece& piece) {
    return piece.kind == BlockKind::Thinking || piece.kind == BlockKind::RedactedThinking;
  }

  void leaveOut(const Piece& piece, std::string_view reason) {
    reporter_.note(Change::LeftOut, nativeOf(piece), piece.block, toString(piece.kind), reason);
  }

  // Two items of one id cannot both be sent.
  void dropRepeatedItems() {
    std::unordered_set<std::string_view> seen;
    std::erase_if(plan_.messages, [&](const OutMessage& out) {
      if (out.pieces.empty() || !out.pieces.front().stored) return false;
      const Native& native = nativeOf(out.pieces.front());
      const TextView& id = native.message.id;
      if (id.empty() || seen.insert(id.escaped).second) return false;
      reporter_.note(Change::LeftOut, native, nullptr, "message", "an item of this id stands there already");
      return true;
    });
  }

  // Reasoning is only taken together with the item it led to.
  void dropLonelyReasoning() {
    bool led = false;
    for (std::size_t i = plan_.messages.size(); i-- > 0;) {
      const OutMessage& out = plan_.messages[i];
      const bool reasoning =
          out.role == Role::Assistant && !out.pieces.empty() && std::ranges::all_of(out.pieces, isThinking);
      if (reasoning && !led) {
        for (const Piece& piece : out.pieces) leaveOut(piece, "what it led to is not there");
        plan_.messages.erase(plan_.messages.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      led = out.role == Role::Assistant;
    }
  }

  void dropLooseThinking(OutMessage& out) {
    if (out.role != Role::Assistant) return;
    std::erase_if(out.pieces, [&](const Piece& piece) {
      const bool loose = isThinking(piece) && piece.block->signature.empty();
      if (loose) leaveOut(piece, "it has no signature");
      return loose;
    });
    while (!out.pieces.empty() && isThinking(out.pieces.back())) {
      leaveOut(out.pieces.back(), "what it led to is not there");
      out.pieces.pop_back();
    }
  }

  void mergeNeighbours() {
    std::vector<OutMessage> kept;
    for (OutMessage& out : plan_.messages) {
      if (out.pieces.empty()) continue;
      if (!kept.empty() && kept.back().role == out.role && out.role != Role::System) {
        std::ranges::move(out.pieces, std::back_inserter(kept.back().pieces));
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

// Whether all blocks of a native, and nothing else, are in a message, in their order and as they were written.
bool isWhole(const OutMessage& out, const Native& native, Dialect target) {
  std::size_t at = 0;
  for (const Block& block : native.message.blocks) {
    if (block.kind == BlockKind::Citation && target != Dialect::Bough) continue;
    if (at == out.pieces.size() || out.pieces[at].block != &block || !out.pieces[at].stored) return false;
    ++at;
  }
  return at == out.pieces.size();
}

void settle(OutMessage& out, const History& history, Dialect target, Reporter& reporter) {
  std::int32_t before = -1;
  const bool merges = target == Dialect::Anthropic || target == Dialect::Gemini;
  for (const Piece& piece : out.pieces) {
    if (piece.native < 0 || piece.native == before) continue;
    if (before >= 0 && merges && piece.kind != BlockKind::ToolCall) {
      const Native& native = history.natives[static_cast<std::size_t>(piece.native)];
      reporter.note(Change::Altered, native, nullptr, "message", "merged with the message before it");
    }
    before = piece.native;
  }
  if (out.pieces.empty() || !out.pieces.front().stored) return;
  const std::int32_t index = out.pieces.front().native;
  out.verbatim = isWhole(out, history.natives[static_cast<std::size_t>(index)], target);
  out.native = out.verbatim ? index : -1;
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
