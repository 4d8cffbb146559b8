#include "context/budget.h"

#include <algorithm>

#include "context/tokens.h"
#include "message/plan/pairing.h"

namespace bough::context {
namespace {

// Returns the input tokens of an answer; 0 when unknown.
std::uint64_t inputTokens(const message::Original& original) {
  const auto& usage = original.message.usage;
  return usage ? usage->inputTokens + usage->cacheReadTokens + usage->cacheWriteTokens : 0;
}

class Counter {
 public:
  Counter(const message::History& history, std::size_t first) : history_(history), first_(first) {
    for (std::size_t i = first; i < history.originals.size(); ++i) {
      counts_.tokens.push_back(estimateMessage(history.originals[i].message));
    }
    counts_.isMeasured.assign(counts_.tokens.size(), 0);
  }

  TokenCounts estimates() { return std::move(counts_); }

  TokenCounts run(const std::uint64_t* fixed) {
    std::size_t from = 0;
    std::uint64_t before = fixed != nullptr ? *fixed : 0;
    bool known = fixed != nullptr;
    for (std::size_t i = 0; i < counts_.tokens.size(); ++i) {
      const message::Original& original = history_.originals[first_ + i];
      const std::uint64_t given = inputTokens(original);
      if (given == 0) continue;
      if (known && given > before) spread(from, i, given - before);
      from = i;
      before = given;
      known = true;
      last_ = i;
      lastOutput_ = original.message.usage->outputTokens;
    }
    if (lastOutput_ > 0) spread(last_, last_ + 1, lastOutput_);
    return std::move(counts_);
  }

 private:
  // Distributes `measured` tokens over the messages of a range, in proportion to their estimates.
  void spread(std::size_t from, std::size_t end, std::uint64_t measured) {
    std::uint64_t estimated = 0;
    for (std::size_t i = from; i < end; ++i) estimated += counts_.tokens[i];
    if (estimated == 0 || measured > estimated * kMaxUsageFactor || measured * kMaxUsageFactor < estimated) return;
    std::uint64_t estimatedSoFar = 0;
    std::uint64_t givenSoFar = 0;
    for (std::size_t i = from; i < end; ++i) {
      estimatedSoFar += counts_.tokens[i];
      const std::uint64_t upTo = estimatedSoFar * measured / estimated;
      counts_.tokens[i] = upTo - givenSoFar;
      counts_.isMeasured[i] = 1;
      givenSoFar = upTo;
    }
  }

  const message::History& history_;
  std::size_t first_;
  TokenCounts counts_;
  std::size_t last_ = 0;
  std::uint64_t lastOutput_ = 0;
};

bool hasUserContent(const message::Original& original) {
  const Message& message = original.message;
  return message.role == Role::User && original.problem.empty() &&
         std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind != BlockKind::ToolResult; });
}

// Returns the position after the last result whose call is missing; 0 when there is none.
std::size_t endOfOrphanedResults(const message::History& history, const message::Pairing& pairing) {
  std::size_t last = 0;
  std::size_t result = 0;
  for (std::size_t i = 0; i < history.originals.size(); ++i) {
    if (history.originals[i].section != message::Section::Messages) continue;
    for (const Block& block : history.originals[i].message.blocks) {
      if (block.kind == BlockKind::ToolResult && pairing.resultCalls[result++] == message::kOrphan) last = i + 1;
    }
  }
  return last;
}

}  // namespace

TokenCounts countTokens(const message::History& history, std::size_t first, const std::uint64_t* fixed,
                        bool isUsageValid) {
  Counter counter(history, first);
  return isUsageValid ? counter.run(fixed) : counter.estimates();
}

Turns findTurns(message::History& history, std::size_t first, bool isWhole) {
  Turns turns;
  turns.unanswered.assign(history.originals.size(), 0);
  const message::Pairing pairing = message::pairCalls(history);
  // For each original, the position after the last result of its calls.
  std::vector<std::size_t> reach(history.originals.size(), 0);
  for (const message::Call& call : pairing.calls) {
    if (call.result == nullptr) {
      ++turns.unanswered[static_cast<std::size_t>(call.original)];
      continue;
    }
    std::size_t& mine = reach[static_cast<std::size_t>(call.original)];
    mine = std::max(mine, static_cast<std::size_t>(call.resultOriginal) + 1);
  }
  std::size_t answered = isWhole ? first : endOfOrphanedResults(history, pairing);
  for (std::size_t i = first; i < history.originals.size(); ++i) {
    if (answered <= i && hasUserContent(history.originals[i])) turns.starts.push_back(i);
    answered = std::max(answered, reach[i]);
  }
  return turns;
}

// The cost of messages is measured from one answer to the next. Once an answer with usage precedes the turn, or no
// answer has usage, older messages cannot change the cost of the turn.
NewestTurn findNewestTurn(const message::History& history, std::size_t first, const Turns& turns, bool isWhole) {
  NewestTurn newest{.from = first, .isWhole = isWhole || !turns.starts.empty()};
  const std::size_t count = history.originals.size();
  if (!turns.starts.empty()) newest.from = turns.starts.back();
  for (std::size_t i = count; !newest.isWhole && newest.from == first && i-- > first;) {
    if (hasUserContent(history.originals[i])) newest.from = i;
  }
  std::size_t measured = first;
  while (measured < count && inputTokens(history.originals[measured]) == 0) ++measured;
  newest.isCountFinal = newest.isWhole && (isWhole || measured < newest.from || measured == count);
  return newest;
}

}  // namespace bough::context
