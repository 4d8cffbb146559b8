#include "message/plan/pair_check.h"

#include <unordered_map>

namespace bough::message {
namespace {

// The position of a call or a result in the plan, and the id that is written there.
struct Place {
  std::size_t message = 0;
  std::string_view id;
};

class PairCheck {
 public:
  PairCheck(const Plan& plan, const History& history, const CopiedOriginals& copied, Dialect target)
      : plan_(plan), history_(history), copied_(copied), target_(target) {}

  std::vector<std::int32_t> run(const Pairing& pairing) {
    for (std::size_t i = 0; i < plan_.messages.size(); ++i) locate(i);
    for (const Call& call : pairing.calls) check(call);
    if (target_ == Dialect::Gemini) checkNumbers();
    return std::move(broken_);
  }

 private:
  struct Held {
    std::size_t calls = 0;
    std::size_t results = 0;
    std::size_t others = 0;
  };

  void locate(std::size_t index) {
    const OutMessage& out = plan_.messages[index];
    Held held;
    const auto add = [&](BlockKind kind, const Block* block, std::string_view id) {
      const bool call = kind == BlockKind::ToolCall;
      const bool result = kind == BlockKind::ToolResult;
      ++(call ? held.calls : result ? held.results : held.others);
      if (block != nullptr && (call || result)) places_.emplace(block, Place{.message = index, .id = id});
      if (result && target_ != Dialect::Gemini) checkSecond(out, id);
    };
    if (out.verbatim) {
      for (const Block& block : originalAt(out.original).message.blocks) add(block.kind, &block, block.id.escaped);
    } else {
      for (const OutBlock& each : out.outBlocks) add(each.kind, each.block, each.id.escaped);
    }
    const bool sameTurn = index > 0 && (out.role == Role::Assistant) == lastWasAssistant_;
    lastWasAssistant_ = out.role == Role::Assistant;
    turns_.push_back(index == 0 ? 0 : turns_.back() + (sameTurn ? 0 : 1));
    if (held.results == 0 || held.calls + held.others > 0) lastOther_ = index;
    lastOthers_.push_back(lastOther_);
    held_.push_back(held);
  }

  // Flags a copied result whose call is already answered by a written result, or the reverse.
  void checkSecond(const OutMessage& out, std::string_view id) {
    const auto [first, isNew] = results_.try_emplace(id, &out);
    if (isNew || first->second->verbatim == out.verbatim) return;
    flag(out.verbatim ? out.original : first->second->original);
  }

  void check(const Call& call) {
    const auto asked = places_.find(call.block);
    if (asked == places_.end()) {
      flag(call.resultOriginal);
      return;
    }
    const auto [same, isNew] = byId_.try_emplace(asked->second.id, &call);
    const bool bothCopied = copied_.contains(call.original) && copied_.contains(same->second->original);
    if (!isNew && target_ != Dialect::Gemini && !bothCopied) {
      flag(*same->second);
      flag(call);
    }
    const auto answered = call.result == nullptr ? places_.end() : places_.find(call.result);
    if (answered == places_.end()) return;
    const bool sameId = target_ == Dialect::Gemini || asked->second.id == answered->second.id;
    if (!sameId || !(follows(asked->second.message, answered->second.message) || wasThere(call))) flag(call);
    if (target_ == Dialect::Anthropic) checkTogether(asked->second.message, answered->second.message);
  }

  // Anthropic requires the results of one message's calls in one message. Its own documents may have them in several.
  void checkTogether(std::size_t call, std::size_t result) {
    const OutMessage& first = plan_.messages[firstResults_.try_emplace(call, result).first->second];
    const OutMessage& out = plan_.messages[result];
    if (first.verbatim != out.verbatim) flag(out.verbatim ? out.original : first.original);
  }

  // Returns whether a result is where the target looks for it.
  [[nodiscard]] bool follows(std::size_t call, std::size_t result) const {
    if (result <= call) return false;
    switch (target_) {
      case Dialect::Anthropic: return turns_[result] == turns_[call] + 1;
      case Dialect::OpenaiChat: return lastOthers_[result - 1] == call;
      case Dialect::Gemini: return result == call + 1;
      default: return true;
    }
  }

  [[nodiscard]] bool wasThere(const Call& call) const {
    return copied_.contains(call.resultOriginal) &&
           copied_.areInOriginalOrder(call.original, &originalAt(call.resultOriginal));
  }

  // Gemini requires as many results after a message as the message has calls, all in one message.
  void checkNumbers() {
    for (std::size_t i = 0; i + 1 < plan_.messages.size(); ++i) {
      if (held_[i].calls == 0 || held_[i].calls == held_[i + 1].results) continue;
      const OutMessage& next = plan_.messages[i + 1];
      const Original* after = next.verbatim ? &originalAt(next.original) : nullptr;
      if (after != nullptr && copied_.areInOriginalOrder(plan_.messages[i].original, after)) continue;
      flag(plan_.messages[i].original);
      flag(next.original);
    }
  }

  void flag(const Call& call) {
    flag(call.original);
    flag(call.resultOriginal);
  }
  void flag(std::int32_t original) {
    if (original >= 0 && copied_.contains(original)) broken_.push_back(original);
  }

  [[nodiscard]] const Original& originalAt(std::int32_t index) const {
    return history_.originals[static_cast<std::size_t>(index)];
  }

  const Plan& plan_;
  const History& history_;
  const CopiedOriginals& copied_;
  Dialect target_;
  std::unordered_map<const Block*, Place> places_;
  std::unordered_map<std::string_view, const Call*> byId_;  // By the id that is written.
  std::unordered_map<std::string_view, const OutMessage*> results_;
  // By message with calls: the message with their first result.
  std::unordered_map<std::size_t, std::size_t> firstResults_;
  std::vector<Held> held_;               // By message.
  std::vector<std::size_t> turns_;       // By message: its turn. Consecutive messages of one side are one turn.
  std::vector<std::size_t> lastOthers_;  // By message: the last one up to it that holds more than results.
  std::size_t lastOther_ = 0;
  bool lastWasAssistant_ = false;
  std::vector<std::int32_t> broken_;
};

}  // namespace

std::vector<std::int32_t> brokenPairs(const Plan& plan, const History& history, const Pairing& pairing,
                                      const CopiedOriginals& copied, Dialect target) {
  return PairCheck(plan, history, copied, target).run(pairing);
}

}  // namespace bough::message
