#include "context/budget.h"

#include <algorithm>

#include "context/tokens.h"
#include "message/plan/pairing.h"

namespace bough::context {
namespace {

// A difference beyond this factor of the estimate is none of the messages': something else changed between the
// requests.
constexpr std::uint64_t kPlausible = 4;

class Counter {
 public:
  Counter(const message::History& history, std::size_t first) : history_(history), first_(first) {
    for (std::size_t i = first; i < history.originals.size(); ++i) {
      counts_.tokens.push_back(estimateMessage(history.originals[i].message));
    }
    counts_.counted.assign(counts_.tokens.size(), 0);
  }

  TokenCounts run(const std::uint64_t* fixed) {
    std::size_t from = 0;
    std::uint64_t before = fixed != nullptr ? *fixed : 0;
    bool known = fixed != nullptr;
    for (std::size_t i = 0; i < counts_.tokens.size(); ++i) {
      const auto& usage = history_.originals[first_ + i].message.usage;
      if (!usage) continue;
      const std::uint64_t given = usage->inputTokens + usage->cacheReadTokens + usage->cacheWriteTokens;
      if (given == 0) continue;
      if (known && given > before) spread(from, i, given - before);
      from = i;
      before = given;
      known = true;
      last_ = i;
      lastOutput_ = usage->outputTokens;
    }
    if (lastOutput_ > 0) spread(last_, last_ + 1, lastOutput_);
    return std::move(counts_);
  }

 private:
  // Gives `measured` tokens to the messages of a stretch, in the proportion of their estimates.
  void spread(std::size_t from, std::size_t end, std::uint64_t measured) {
    std::uint64_t estimated = 0;
    for (std::size_t i = from; i < end; ++i) estimated += counts_.tokens[i];
    if (estimated == 0 || measured > estimated * kPlausible || measured * kPlausible < estimated) return;
    std::uint64_t estimatedSoFar = 0;
    std::uint64_t givenSoFar = 0;
    for (std::size_t i = from; i < end; ++i) {
      estimatedSoFar += counts_.tokens[i];
      const std::uint64_t upTo = estimatedSoFar * measured / estimated;
      counts_.tokens[i] = upTo - givenSoFar;
      counts_.counted[i] = 1;
      givenSoFar = upTo;
    }
  }

  const message::History& history_;
  std::size_t first_;
  TokenCounts counts_;
  std::size_t last_ = 0;
  std::uint64_t lastOutput_ = 0;
};

bool saysSomething(const message::Original& original) {
  const Message& message = original.message;
  return message.role == Role::User && original.problem.empty() &&
         std::ranges::any_of(message.blocks, [](const Block& block) { return block.kind != BlockKind::ToolResult; });
}

// The place after the last result whose call is not there; 0 when there is none.
std::size_t afterOrphans(const message::History& history, const message::Pairing& pairing) {
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

TokenCounts countTokens(const message::History& history, std::size_t first, const std::uint64_t* fixed) {
  return Counter(history, first).run(fixed);
}

Turns findTurns(message::History& history, std::size_t first, bool complete) {
  Turns turns;
  turns.unanswered.assign(history.originals.size(), 0);
  const message::Pairing pairing = message::pairCalls(history);
  // For each original, the place after the last result of its calls.
  std::vector<std::size_t> reach(history.originals.size(), 0);
  for (const message::Call& call : pairing.calls) {
    if (call.result == nullptr) {
      ++turns.unanswered[static_cast<std::size_t>(call.original)];
      continue;
    }
    std::size_t& mine = reach[static_cast<std::size_t>(call.original)];
    mine = std::max(mine, static_cast<std::size_t>(call.resultOriginal) + 1);
  }
  std::size_t answered = complete ? first : afterOrphans(history, pairing);
  for (std::size_t i = first; i < history.originals.size(); ++i) {
    if (answered <= i && saysSomething(history.originals[i])) turns.starts.push_back(i);
    answered = std::max(answered, reach[i]);
  }
  return turns;
}

}  // namespace bough::context
