#include "cli/views/prefix_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/try.h"
#include "bough/tree.h"

namespace bough::cli {
namespace {

// Where a request was made, its answer, and its model. The last request has no answer yet, and takes the model before
// it.
struct RequestPoint {
  std::string entryId{};
  std::string answerId{};
  std::string model{};
};

// Returns the last `most` points: before each answer of the branch, and at its end. Reads no more of the branch than
// needed.
Result<std::vector<RequestPoint>> requestPoints(SessionStore& store, const std::string& sessionId,
                                                const std::string& end, std::size_t most) {
  constexpr std::size_t kFirstMessages = 128;
  for (std::size_t last = kFirstMessages;; last *= 4) {
    BOUGH_TRY(const auto entries,
              store.loadSessionEntries(
                  sessionId, {.last = last, .branch = end, .types = {std::string(entry_type::kMessage), "assistant"}}));
    std::vector<RequestPoint> points;
    for (const Entry& entry : entries) {
      const auto message = normalizeEntry(entry);
      if (!message || message->role != Role::Assistant || !entry.parentId) continue;
      if (!points.empty() && points.back().answerId == *entry.parentId) {
        points.back().answerId = entry.id;  // a part of the same answer
      } else {
        points.push_back({.entryId = *entry.parentId, .answerId = entry.id, .model = message->model.decode()});
      }
    }
    points.push_back({.entryId = end, .model = points.empty() ? std::string() : points.back().model});
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

// Returns the reason. Sets `entry` to the entry that it names.
std::string reasonOf(const bough::Context& before, const bough::Context& now, std::size_t same, std::string& entry,
                     bool& isRewritten) {
  if (before.system != now.system) return "the system prompt differs: the folder, the instructions or --system changed";
  if (before.tools != now.tools) return "the tools differ";
  if (before.summaryEntryId != now.summaryEntryId) {
    entry = now.summaryEntryId;
    return fmt::format("a summary (entry {}) replaces the older messages", entry);
  }
  // If older turns were not read, the number of turns left out means nothing.
  const bool beginsLater = now.turnsLeftOut > 0 && !before.parts.empty() && !now.parts.empty() &&
                           before.parts.front().entryIds != now.parts.front().entryIds;
  if (now.turnsLeftOut != before.turnsLeftOut || beginsLater) return "the budget leaves out other turns";
  isRewritten = true;
  if (same >= now.parts.size())
    return fmt::format("{} is no longer in the request", entryOf(before.parts[same], entry));
  return fmt::format("message {} ({}) has another form", same + 1, entryOf(now.parts[same], entry));
}

PrefixStep compared(const bough::Context& before, const bough::Context& now) {
  PrefixStep step{.at = now.headId, .messages = now.parts.size(), .tokens = now.tokens};
  const std::size_t most = std::min(before.parts.size(), now.parts.size());
  while (step.sameMessages < most && before.parts[step.sameMessages].json == now.parts[step.sameMessages].json)
    ++step.sameMessages;
  // The system prompt and the tools come before the messages.
  const bool sameBeginning = before.system == now.system && before.tools == now.tools;
  step.extendsPrevious = step.sameMessages == before.parts.size() && sameBeginning;
  for (std::size_t i = step.sameMessages; i < now.parts.size(); ++i)
    step.newTokens += estimateTokens(now.parts[i].json);
  if (step.extendsPrevious && now.tokens > before.tokens) step.newTokens = now.tokens - before.tokens;
  step.newTokens = sameBeginning ? std::min(step.newTokens, step.tokens) : step.tokens;
  if (!step.extendsPrevious) step.reason = reasonOf(before, now, step.sameMessages, step.reasonEntry, step.isRewritten);
  return step;
}

// Returns the model of a request: as the branch says, otherwise the one that answered.
std::string modelAt(const bough::Context& built, const RequestPoint& point) {
  if (built.model.empty()) return point.model;
  return built.provider.empty() ? built.model : built.provider + "/" + built.model;
}

// Each model has a separate cache.
void compareModels(const std::string& before, const std::string& now, PrefixStep& step) {
  if (before.empty() || now.empty() || before == now) return;
  step.extendsPrevious = false;
  step.sameMessages = 0;
  step.newTokens = step.tokens;
  step.reason = fmt::format("the model changed from {} to {}; each model has a cache of its own", before, now);
  step.reasonEntry.clear();
}

// Anthropic's cache keeps messages only for one thinking setting.
void compareThinking(const bough::Context& before, const bough::Context& now, PrefixStep& step) {
  const auto level = [](const bough::Context& built) {
    return built.thinkingLevel.empty() ? std::string("off") : built.thinkingLevel;
  };
  const bool startsOver = before.system != now.system || before.tools != now.tools;
  if (now.dialect != Dialect::Anthropic || startsOver || level(before) == level(now)) return;
  step.extendsPrevious = false;
  step.sameMessages = 0;
  step.newTokens = 0;
  for (const ContextMessage& part : now.parts) step.newTokens += estimateTokens(part.json);
  step.newTokens = std::min(step.newTokens, step.tokens);
  step.reason = fmt::format("thinking changed from {} to {}; the provider caches messages separately for each of them",
                            level(before), level(now));
  step.reasonEntry.clear();
}

// The redactions of a session and when they were made. Contexts are built from the current session: redacted content is
// missing from all of them, although every request before the redaction contained it.
class Redactions {
 public:
  static Result<Redactions> of(SessionStore& store, const std::string& sessionId) {
    Redactions made(store, sessionId);
    BOUGH_TRY(const auto entries, store.loadSessionEntries(sessionId, {.type = std::string(entry_type::kRedaction)}));
    for (const Entry& entry : entries) {
      const std::string target = json::findString(entry.payload, "entryId").value_or("");
      const auto at = made.sequence(entry.id);
      const auto of = made.sequence(target);
      if (at && of) made.all_.push_back({.at = *at, .target = *of, .entryId = target});
    }
    if (made.all_.empty()) return made;
    BOUGH_TRY(made.tree_, store.loadTree(sessionId));
    return made;
  }

  void compare(const bough::Context& before, const RequestPoint& last, const bough::Context& now,
               const RequestPoint& point, PrefixStep& step) const {
    const Sequence since = sequence(last.answerId).value_or(kNoSequence);
    const Sequence until = sequence(point.answerId).value_or(kNoSequence);
    for (const Redaction& each : all_) {
      if (each.at <= since || !isOnBranch(each.target, last.entryId)) continue;
      const std::size_t place = placeOf(each.target, now);
      if (each.at > until) {
        if (step.isRewritten && place <= step.sameMessages + 1) extend(before, now, step);
      } else if (place <= step.sameMessages) {
        step.extendsPrevious = false;
        step.sameMessages = place;
        step.newTokens = 0;
        for (std::size_t i = place; i < now.parts.size(); ++i) step.newTokens += estimateTokens(now.parts[i].json);
        step.newTokens = std::min(step.newTokens, step.tokens);
        step.reason = fmt::format("entry {} was redacted", each.entryId);
        step.reasonEntry = each.entryId;
      }
    }
  }

 private:
  struct Redaction {
    Sequence at = 0;
    Sequence target = 0;
    std::string entryId{};
  };

  Redactions(SessionStore& store, std::string sessionId) : store_(&store), sessionId_(std::move(sessionId)) {}

  [[nodiscard]] std::optional<Sequence> sequence(const std::string& entryId) const {
    const auto found = entryId.empty() ? Result<Sequence>(kNoSequence) : store_->sequenceOf(sessionId_, entryId);
    return found && *found != kNoSequence ? std::optional(*found) : std::nullopt;
  }
  [[nodiscard]] bool isOnBranch(Sequence target, const std::string& end) const {
    const auto at = sequence(end);
    return at && tree_->commonAncestor(target, *at) == target;
  }
  // Returns the first message that holds the entry or comes after it.
  [[nodiscard]] std::size_t placeOf(Sequence target, const bough::Context& built) const {
    const auto found = std::ranges::find_if(built.parts, [&](const ContextMessage& part) {
      return std::ranges::any_of(part.entryIds, [&](const std::string& id) { return sequence(id) >= target; });
    });
    return static_cast<std::size_t>(found - built.parts.begin());
  }
  static void extend(const bough::Context& before, const bough::Context& now, PrefixStep& step) {
    step.extendsPrevious = true;
    step.sameMessages = std::min(before.parts.size(), now.parts.size());
    step.newTokens = now.tokens - std::min(now.tokens, before.tokens);
    step.reason.clear();
    step.reasonEntry.clear();
  }

  SessionStore* store_;
  std::string sessionId_;
  std::vector<Redaction> all_;
  std::optional<SessionTree> tree_;
};

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
  BOUGH_TRY(const Redactions redactions, Redactions::of(store, sessionId));
  std::optional<bough::Context> before;
  for (std::size_t i = 0; i < points.size(); ++i) {
    ContextOptions there = options;
    there.at = points[i].entryId;
    BOUGH_TRY(bough::Context now, buildContext(store, sessionId, there));
    if (before) {
      PrefixStep step = compared(*before, now);
      redactions.compare(*before, points[i - 1], now, points[i], step);
      compareThinking(*before, now, step);
      compareModels(modelAt(*before, points[i - 1]), modelAt(now, points[i]), step);
      steps.push_back(std::move(step));
    }
    before = std::move(now);
  }
  return steps;
}

}  // namespace bough::cli
