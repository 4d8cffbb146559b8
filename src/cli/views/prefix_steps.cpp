#include "cli/views/prefix_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"

namespace bough::cli {
namespace {

// The last `most` points: before each answer of the branch, and at its end. Only so much of the branch is read.
Result<std::vector<std::string>> requestPoints(SessionStore& store, const std::string& sessionId,
                                               const std::string& end, std::size_t most) {
  constexpr std::size_t kFirstMessages = 128;
  for (std::size_t last = kFirstMessages;; last *= 4) {
    BOUGH_TRY(const auto entries,
              store.loadSessionEntries(
                  sessionId, {.last = last, .branch = end, .types = {std::string(entry_type::kMessage), "assistant"}}));
    std::vector<std::string> points;
    for (const Entry& entry : entries) {
      const auto message = normalizeEntry(entry);
      if (message && message->role == Role::Assistant && entry.parentId) points.push_back(*entry.parentId);
    }
    points.push_back(end);
    if (points.size() < most && entries.size() == last) continue;
    if (points.size() > most) points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(most));
    return points;
  }
}

std::string entryOf(const ContextMessage& part, std::string& entry) {
  if (part.entryIds.empty()) return "an added message";
  entry = part.entryIds.front();
  return "entry " + entry;
}

// Also says, in `entry`, which entry it names.
std::string reasonOf(const bough::Context& before, const bough::Context& now, std::size_t same, std::string& entry) {
  if (before.system != now.system) return "the system prompt differs: the folder, the instructions or --system changed";
  if (before.tools != now.tools) return "the tools differ";
  if (before.summaryEntryId != now.summaryEntryId) {
    entry = now.summaryEntryId;
    return fmt::format("a summary (entry {}) stands for the older messages", entry);
  }
  // Where older turns were not read, their number says nothing.
  const bool beginsLater = now.turnsLeftOut > 0 && !before.parts.empty() && !now.parts.empty() &&
                           before.parts.front().entryIds != now.parts.front().entryIds;
  if (now.turnsLeftOut != before.turnsLeftOut || beginsLater) return "the budget leaves out other turns";
  if (same >= now.parts.size()) return fmt::format("{} is not in it any more", entryOf(before.parts[same], entry));
  return fmt::format("message {} ({}) is written in another way", same + 1, entryOf(now.parts[same], entry));
}

PrefixStep compared(const bough::Context& before, const bough::Context& now) {
  PrefixStep step{.at = now.headId, .messages = now.parts.size(), .tokens = now.tokens};
  const std::size_t most = std::min(before.parts.size(), now.parts.size());
  while (step.same < most && before.parts[step.same].json == now.parts[step.same].json) ++step.same;
  // The system prompt and the tools come before the messages.
  const bool sameBeginning = before.system == now.system && before.tools == now.tools;
  step.extends = step.same == before.parts.size() && sameBeginning;
  for (std::size_t i = step.same; i < now.parts.size(); ++i) step.newTokens += estimateTokens(now.parts[i].json);
  if (step.extends && now.tokens > before.tokens) step.newTokens = now.tokens - before.tokens;
  step.newTokens = sameBeginning ? std::min(step.newTokens, step.tokens) : step.tokens;
  if (!step.extends) step.reason = reasonOf(before, now, step.same, step.reasonEntry);
  return step;
}

}  // namespace

Result<std::vector<PrefixStep>> prefixSteps(SessionStore& store, const std::string& sessionId,
                                            const ContextOptions& options, std::size_t most) {
  std::string end = options.at;
  if (end.empty()) {
    BOUGH_TRY(const auto state, store.sessionState(sessionId));
    end = state.headId;
  }
  std::vector<PrefixStep> steps;
  if (end.empty()) return steps;
  BOUGH_TRY(const auto points, requestPoints(store, sessionId, end, most + 1));
  std::optional<bough::Context> before;
  for (const std::string& point : points) {
    ContextOptions there = options;
    there.at = point;
    BOUGH_TRY(bough::Context now, buildContext(store, sessionId, there));
    if (before) steps.push_back(compared(*before, now));
    before = std::move(now);
  }
  return steps;
}

}  // namespace bough::cli
