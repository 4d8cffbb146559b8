#include "message/plan/gemini_rules.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/json/json_write.h"

namespace bough::message {
namespace {

// Returns a user message that nobody wrote.
OutMessage synthetic(Plan& plan, std::string_view text, std::string_view reason, Reporter& reporter) {
  const std::string& kept = plan.texts.emplace_back(json::quoted(text));
  OutMessage out{.role = Role::User};
  out.outBlocks.push_back(
      {.kind = BlockKind::Text,
       .text = {.escaped = std::string_view(kept).substr(1, kept.size() - 2), .present = true, .oddEscapes = false}});
  reporter.note(Change::Synthetic, "", "message", reason);
  return out;
}

class GeminiRules {
 public:
  GeminiRules(Plan& plan, const History& history, const Pairing& pairing, Reporter& reporter)
      : plan_(plan), history_(history), pairing_(pairing), reporter_(reporter) {}

  void run(bool request) {
    if (!request) joinGeminiResults();
    separateCalls();
    for (OutMessage& out : plan_.messages) {
      if (out.role != Role::Assistant || out.verbatim) continue;
      const auto first = std::ranges::find_if(
          out.outBlocks, [](const OutBlock& outBlock) { return outBlock.kind == BlockKind::ToolCall; });
      if (first == out.outBlocks.end()) continue;
      if (!first->stored) first->needsPlaceholderSignature = true;
      if (first->stored) signIfFirst(*first);
    }
  }

 private:
  void separateCalls() {
    std::vector<OutMessage> arranged;
    arranged.reserve(plan_.messages.size());
    for (OutMessage& out : plan_.messages) {
      const bool bothAssistant =
          !arranged.empty() && arranged.back().role == Role::Assistant && out.role == Role::Assistant;
      if (bothAssistant && !wereNeighbours(arranged.back(), out) && hasCalls(out, history_)) {
        arranged.push_back(
            synthetic(plan_, "(continue)", "the target wants a user turn before a function call", reporter_));
      }
      arranged.push_back(std::move(out));
    }
    plan_.messages = std::move(arranged);
  }

  // The signature of a turn is at its first call. A call that has only now become the first has none.
  void signIfFirst(OutBlock& call) {
    const Original& original = history_.originals[static_cast<std::size_t>(call.original)];
    const std::string_view raw = call.block->raw;
    if (!original.lostCall || !call.block->signature.empty() || !raw.ends_with('}')) return;
    std::string& text = plan_.texts.emplace_back(raw.substr(0, raw.size() - 1));
    text.append(",\"thoughtSignature\":\"").append(kPlaceholderSignature).append("\"}");
    call.raw = text;
    reporter_.note(Change::Altered, original, call.block, "thoughtSignature",
                   "the call before it, which had the signature, does not come back");
  }

  static bool hasCalls(const OutMessage& out, const History& history) {
    if (!out.verbatim) {
      return std::ranges::any_of(out.outBlocks,
                                 [](const OutBlock& outBlock) { return outBlock.kind == BlockKind::ToolCall; });
    }
    const Message& message = history.originals[static_cast<std::size_t>(out.original)].message;
    return std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind == BlockKind::ToolCall; });
  }

  // Returns the results in a message that stays unchanged; empty when it has none.
  [[nodiscard]] std::vector<OutBlock> storedResults(const OutMessage& out) const {
    std::vector<OutBlock> outBlocks;
    const Original& original = history_.originals[static_cast<std::size_t>(out.original)];
    if (original.message.role != Role::User && original.message.role != Role::Tool) return outBlocks;
    for (const Block& block : original.message.blocks) {
      outBlocks.push_back({.kind = block.kind, .stored = true, .original = out.original, .block = &block});
    }
    const bool any =
        std::ranges::any_of(outBlocks, [](const OutBlock& each) { return each.kind == BlockKind::ToolResult; });
    if (!any || !original.problem.empty()) outBlocks.clear();
    return outBlocks;
  }

  // All results of a turn's calls must be in one turn: those of other providers are joined with Gemini's own results,
  // in the order of the calls, before everything else.
  void joinGeminiResults() {
    const auto mayJoin = [](const OutMessage& before, const OutMessage& out) {
      return out.verbatim && !before.verbatim && before.role == Role::Tool;
    };
    if (std::ranges::adjacent_find(plan_.messages, mayJoin) == plan_.messages.end()) return;
    std::unordered_map<const Block*, std::size_t> callOf;
    for (std::size_t i = 0; i < pairing_.calls.size(); ++i) callOf.emplace(pairing_.calls[i].result, i);
    const auto order = [&](const OutBlock& outBlock) {
      const auto call = callOf.find(outBlock.block);
      return outBlock.block == nullptr || call == callOf.end() ? SIZE_MAX : call->second;
    };
    std::vector<OutMessage> kept;
    bool joined = false;  // The last message in `kept` was joined and is not sorted yet.
    const auto sortLast = [&] {
      if (std::exchange(joined, false)) std::ranges::stable_sort(kept.back().outBlocks, {}, order);
    };
    for (OutMessage& out : plan_.messages) {
      const bool follows = !kept.empty() && mayJoin(kept.back(), out);
      std::vector<OutBlock> stored = follows ? storedResults(out) : std::vector<OutBlock>();
      if (stored.empty()) {
        sortLast();
        kept.push_back(std::move(out));
        continue;
      }
      reporter_.note(Change::Altered, history_.originals[static_cast<std::size_t>(out.original)], nullptr, "message",
                     "joined by the other results of its calls, which the target takes in one turn only");
      std::ranges::move(stored, std::back_inserter(kept.back().outBlocks));
      joined = true;
    }
    sortLast();
    plan_.messages = std::move(kept);
  }

  // Returns whether the messages were adjacent in their own document.
  [[nodiscard]] bool wereNeighbours(const OutMessage& before, const OutMessage& out) const {
    if (!before.verbatim || !out.verbatim) return false;
    const auto placeOf = [&](const OutMessage& each) {
      return history_.originals[static_cast<std::size_t>(each.original)].documentPlace;
    };
    return placeOf(before) + 1 == placeOf(out);
  }

  Plan& plan_;
  const History& history_;
  const Pairing& pairing_;
  Reporter& reporter_;
};

}  // namespace

void beginWith(Plan& plan, std::string_view text, std::string_view reason, Reporter& reporter) {
  plan.messages.insert(plan.messages.begin(), synthetic(plan, text, reason, reporter));
}

void arrangeForGemini(Plan& plan, const History& history, const Pairing& pairing, bool request, Reporter& reporter) {
  GeminiRules(plan, history, pairing, reporter).run(request);
}

}  // namespace bough::message
