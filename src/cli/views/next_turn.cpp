#include "cli/views/next_turn.h"

#include <fmt/format.h>

#include <ranges>

#include "agent/chat/setup.h"
#include "base/json/json_scan.h"
#include "base/text/timestamp.h"
#include "bough/context.h"
#include "cli/definition/settings.h"
#include "cli/names/when.h"
#include "cli/views/prefix_steps.h"

namespace bough::cli {
namespace {

// Never shows a small cost as zero.
std::string dollars(double usd) {
  return usd > 0 && usd < 0.0005 ? "<$0.001" : fmt::format("${:.3f}", usd);
}

constexpr std::size_t kEntriesRead = 200;         // how many entries to read back from the head
constexpr std::uint64_t kMostTokens = 2'000'000;  // more than any model reads
constexpr std::uint64_t kMinuteMs = 60'000;

// Returns how long a provider caches a prompt that is not used again (docs/prices.md).
std::uint64_t cacheLifetimeMs(Dialect dialect) {
  switch (dialect) {
    case Dialect::Anthropic: return 5 * kMinuteMs;
    case Dialect::OpenaiChat:
    case Dialect::OpenaiResponses: return 10 * kMinuteMs;
    case Dialect::Gemini: return 5 * kMinuteMs;
    case Dialect::Plain:
    case Dialect::Bough: break;
  }
  return 0;
}

std::string withoutProvider(const std::string& model) {
  return model.substr(model.find('/') + 1);
}

// Returns the model of an answer: as recorded by the agent that stored it, otherwise as reported by the provider.
std::string modelOf(const Entry& entry, const Message& message) {
  std::string model = entry.meta.empty() ? "" : json::findString(entry.meta, "model").value_or("");
  if (model.empty()) return message.model.decode();
  return withoutProvider(model);
}

std::uint64_t contextOf(const Usage& usage) {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

ContextOptions contextAt(const std::string& headId, Dialect dialect) {
  return {.dialect = dialect, .at = headId, .budgetTokens = kMostTokens};
}

// Returns true when the next request begins with the previous one. `bough context --explain` decides it in the same
// way.
bool beginsAsTheLast(SessionStore& store, const std::string& sessionId, const std::string& headId, Dialect dialect) {
  const auto steps = prefixSteps(store, sessionId, contextAt(headId, dialect), 1);
  return steps && (steps->empty() || steps->back().extendsPrevious);
}

}  // namespace

std::optional<NextTurn> nextTurnOf(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   const PriceTable& prices, std::uint64_t nowMs,
                                   const std::function<bool()>& promptChanges) {
  if (headId.empty()) return std::nullopt;
  const auto entries = store.loadSessionEntries(sessionId, {.last = kEntriesRead, .branch = headId});
  if (!entries) return std::nullopt;
  NextTurn next;
  bool changed = false;    // the model or its system prompt changed since the last answer
  bool compacted = false;  // the context was compacted since
  for (const Entry& entry : std::views::reverse(*entries)) {
    compacted = compacted || entry.type == entry_type::kCompactionSummary;
    changed = changed || entry.type == entry_type::kModelChange || entry.type == entry_type::kSystemPromptOverride;
    if (entry.type == entry_type::kModelChange && next.model.empty()) {
      next.model = withoutProvider(json::findString(entry.payload, "model").value_or(""));
    }
    if (!holdsMessage(entry)) continue;
    const auto message = normalizeEntry(entry);
    if (!message) continue;
    // Interrupted answers, and those that an agent wrote itself, report no usage.
    const std::uint64_t read = message->usage ? contextOf(*message->usage) : 0;
    if (message->role != Role::Assistant || read == 0) {
      next.contextTokens += estimateTokens(entry.payload);
      continue;
    }
    next.contextTokens += read + message->usage->outputTokens;
    const std::uint64_t answered = parseTimestamp(entry.timestamp).value_or(0);
    next.ageMs = nowMs > answered ? nowMs - answered : 0;
    next.warm = !changed && !compacted && next.ageMs < cacheLifetimeMs(message->dialect) &&
                beginsAsTheLast(store, sessionId, headId, message->dialect) && !promptChanges();
    if (compacted) {
      const auto context = buildContext(store, sessionId, contextAt(headId, message->dialect));
      if (context) next.contextTokens = context->tokens;
    }
    if (next.model.empty()) next.model = modelOf(entry, *message);
    if (const ModelPrice* price = prices.find(next.model)) {
      const double millions = static_cast<double>(next.contextTokens) / 1e6;
      // Tokens that are not in the cache are written into it; some providers have a separate price for that.
      next.coldUsd = millions * (price->cacheWrite > 0 ? price->cacheWrite : price->input);
      next.warmUsd = millions * (price->cacheRead > 0 ? price->cacheRead : price->input);
    }
    return next;
  }
  return std::nullopt;
}

std::optional<NextTurn> nextTurnOf(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   const PriceTable& prices, std::uint64_t nowMs) {
  return nextTurnOf(store, sessionId, headId, prices, nowMs, [&] {
    const agent::StartingPoint at{.sessionId = sessionId, .headId = headId};
    return agent::promptChanges(store, at, userInstructions()).value_or(false);
  });
}

std::string thousands(std::uint64_t count) {
  if (count < 1'000) return fmt::format("{}", count);
  return count < 1'000'000 ? fmt::format("{:.1f}k", static_cast<double>(count) / 1e3)
                           : fmt::format("{:.1f}M", static_cast<double>(count) / 1e6);
}

std::string nextTurnText(const NextTurn& next) {
  std::string out = fmt::format("{} tokens of context", thousands(next.contextTokens));
  if (!next.coldUsd) return out;
  const std::string age = formatDuration(next.ageMs);
  if (next.warm) {
    return out + fmt::format("; the cache is likely warm ({} since the last answer): about {} to read it, cold {}", age,
                             dollars(*next.warmUsd), dollars(*next.coldUsd));
  }
  return out + fmt::format("; the cache is likely cold ({} since the last answer): about {} to read it, warm {}", age,
                           dollars(*next.coldUsd), dollars(*next.warmUsd));
}

std::string nextTurnPrice(const NextTurn& next, bool warm) {
  if (!next.coldUsd) return "-";
  return warm ? dollars(*next.warmUsd) + " warm" : dollars(*next.coldUsd) + " cold";
}

}  // namespace bough::cli
