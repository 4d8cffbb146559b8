#include "bough/agent/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "agent/loop/answer_parts.h"
#include "agent/loop/compaction.h"
#include "agent/loop/interruption.h"
#include "agent/loop/requests.h"
#include "agent/loop/stale_thinking.h"
#include "agent/loop/tool_runner.h"
#include "agent/parts/prompts.h"
#include "agent/providers/provider_error.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/model/payloads.h"
#include "base/system/environment.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/try.h"

namespace bough::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What a compaction keeps, it keeps on purpose; a second compaction right after it would change nothing.
constexpr std::size_t kStepsBetweenCompactions = 5;
// For one request, when the provider keeps saying that it is too long.
constexpr int kMostCompactions = 3;

// The first limit for an answer. Models that can write more get a larger limit only when this one was too small.
constexpr std::uint64_t kUsualOutput = 32'000;

std::uint64_t millisecondsSince(SteadyClock::time_point begin) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin).count());
}

// Returns the meta of a stored answer: its model, its duration, and how it broke off.
std::string answerMeta(const Answer& answer, const std::string& model, std::uint64_t durationMs, bool hasUsage) {
  json::Writer writer;
  writer.beginObject().member("agent", kAgentName).member("model", model).member("durationMs", durationMs);
  if (!hasUsage) writer.key("usage").raw("null");
  if (answer.aborted) writer.member("aborted", true);
  if (answer.error) writer.member("error", answer.error->message);
  if (!answer.partial.empty()) writer.key("partial").raw(answer.partial);
  return writer.endObject().take();
}

std::string totalsPayload(const TurnTotals& totals) {
  json::Writer writer;
  writer.beginObject().member("kind", kTurnKind).member("model", totals.model).member("stopReason", totals.stopReason);
  writeUsage(writer, totals.usage);
  writeUsage(writer, totals.usage, "counted");  // with the entries of the requests, everything is counted; nothing is
                                                // left to count here
  if (totals.withoutUsage > 0) writer.member("withoutUsage", totals.withoutUsage);
  return writer.member("durationMs", totals.durationMs).member("toolCount", totals.toolCount).endObject().take();
}

void addUsage(const AnswerParts& parts, TurnTotals& totals) {
  totals.usage += parts.usage;
  totals.withoutUsage += parts.hasUsage ? 0U : 1U;
}

// Returns true when the provider refuses the request, so that a retry would fail as well.
bool isRefused(const Error& error) {
  return error.code == ErrorCode::InvalidArgument && !error.retryable;
}

// Returns true when the newest turn exceeds the window, by our own count or by the provider's. The hint about a budget
// is meant for `bough context`.
bool exceedsWindow(const Error& error) {
  return isTooLong(error.message) || error.hint.starts_with("raise the budget");
}

constexpr const char* kTooLongHint =
    "say less at once, or choose a model with a larger window: /model, --model; --window says how large it is";

std::string newId() {
  static IdGenerator generator(systemEnvironment().clock, systemEnvironment().random);
  return generator.next();
}

// The error text of a server is stored; it may hold any bytes.
void makeStorable(Error& error) {
  error.message = text::printableLines(error.message);
  error.hint = text::printableLines(error.hint);
}

class Turn {
 public:
  Turn(const Agent& agent, const StartingPoint& start)
      : agent_(agent),
        journal_(agent.store, start.sessionId, start.headId, start.tailId, newId(), agent.options.turn),
        report_{.end = start, .totals = {.model = agent.provider.name()}} {}

  Result<TurnReport> run(const UserMessage& message) {
    std::string meta = json::Writer().beginObject().member("agent", kAgentName).endObject().take();
    BOUGH_TRY(const std::string stored,
              journal_.begin(entry_type::kMessage, userPayload(message), agent_.options.onConflict, std::move(meta)));
    BOUGH_TRY(beginTurn());
    beforePrompt_ = report_.end.headId;
    agent_.listener.onEvent({.kind = EventKind::UserMessage, .text = message.text, .entryId = stored});
    return runSteps();
  }

  Result<TurnReport> resume(ResumeWhat what) {
    BOUGH_TRY(const Interruption found, findInterruption(agent_.store, report_.end));
    if (found.kind == Interruption::Kind::None) return std::move(report_);
    if (found.kind == Interruption::Kind::OthersMessage && what == ResumeWhat::Own) return std::move(report_);
    BOUGH_TRY(beginTurn());
    if (found.kind == Interruption::Kind::Calls) {
      unreadAnswerId_ = found.entryId;
      BOUGH_TRY(const std::size_t recovered, recoverCalls(agent_, journal_, found.entryId));
      report_.totals.toolCount += recovered;
    } else {
      BOUGH_TRY(const Entry message, agent_.store.loadEntry(journal_.sessionId(), found.entryId));
      beforePrompt_ = message.parentId.value_or("");
    }
    resumed_ = true;
    return runSteps();
  }

 private:
  // A user may ask for a branch beside another chat's turn: that turn continues.
  Result<void> beginTurn() {
    const bool begun = agent_.options.turn || agent_.options.onConflict == OnConflict::Branch;
    return begun ? Result<void>() : journal_.beginTurn();
  }

  Result<TurnReport> runSteps() {
    for (std::size_t step = 0; !done_; ++step) {
      if (step == agent_.options.maxSteps)
        return stopTurn("stopped after " + counted(step, "answer"), "; say `go on` for more");
      if (agent_.cancel.requested()) return stopTurn("stopped");
      BOUGH_TRY(runStep());
    }
    return endTurn();
  }

  Result<void> runStep() {
    auto context = readContext();
    const auto begin = SteadyClock::now();
    auto answer = ask(context, maxOutput());
    for (int tries = 0; tries < kMostCompactions && context && !answer && isTooLong(answer.error().message); ++tries) {
      // The provider's window is smaller than ours: what was sent exceeds it.
      BOUGH_TRY(const bool shorter, compactContext(std::min(window(), context->tokens)));
      if (!shorter) break;
      context = contextAt(journal_.parentId());
      answer = ask(context, maxOutput());
    }
    if (answer && agent_.provider.limits().maxOutput > maxOutput()) {
      BOUGH_TRY(const bool usedUp, recordIfOnlyReasoning(*answer));
      if (usedUp) answer = ask(context, agent_.provider.limits().maxOutput);
    }
    if (!answer && isRefused(answer.error())) {
      BOUGH_TRY(auto other, askWithoutResults(answer.error()));
      if (other) answer = std::move(*other);
    }
    if (!answer && exceedsWindow(answer.error())) answer.error().hint = kTooLongHint;
    if (!answer) return handleMissingAnswer(answer.error());
    return storeAnswer(*answer, millisecondsSince(begin));
  }

  // Called when the results since the last answer with calls are too long, or are refused by the provider. They would
  // be refused with every later prompt, too. Tells the model instead that the results are withheld; they stay stored,
  // as a branch. Returns std::nullopt when there are no results, or when the request fails without them as well: then
  // the results are not the cause.
  Result<std::optional<Answer>> askWithoutResults(const Error& error) {
    if (unreadAnswerId_.empty()) return std::nullopt;
    const std::string withResults = journal_.parentId();
    BOUGH_TRY(const Entry asked, agent_.store.loadEntry(journal_.sessionId(), std::exchange(unreadAnswerId_, {})));
    BOUGH_TRY(const auto message, normalizeEntry(asked));
    std::vector<Entry> batch;
    for (const Block& block : message.blocks) {
      if (block.kind != BlockKind::ToolCall) continue;
      batch.push_back(journal_.makeEntry(entry_type::kMessage,
                                         resultPayload(block.id.decode(), block.name.decode(), kResultRefused, true)));
    }
    journal_.goBackTo(asked.id);
    BOUGH_TRY(journal_.append(std::move(batch)));
    agent_.listener.onEvent({.kind = EventKind::Notice,
                             .text = "the results of the tools are withheld: " + error.message,
                             .isError = true});
    if (auto answer = ask(contextAt(journal_.parentId()), maxOutput())) return std::move(*answer);
    journal_.goBackTo(withResults);
    return std::nullopt;
  }

  Result<Answer> ask(const Result<Context>& context, std::uint64_t maxOutputTokens) {
    if (!context) return std::unexpected(context.error());
    Usage lost;
    auto answer = agent_.provider.stream(
        {.context = agent_.provider.bindsThinking() ? requestWithoutStaleThinking(*context) : context->requestJson(),
         .thinkingLevel = agent_.options.thinkingLevel,
         .maxOutputTokens = maxOutputTokens},
        {.onDelta = [this](const Delta& delta) { forwardDelta(delta); },
         .onRetry =
             [this](const RetryNotice& retry) {
               agent_.listener.onEvent(
                   {.kind = EventKind::Retry, .text = text::printableLines(retry.reason), .waitMs = retry.waitMs});
             },
         .onLost = [&](const Usage& usage) { lost += usage; }},
        agent_.cancel);
    if (hasTokens(lost)) {
      report_.totals.usage += lost;
      BOUGH_TRY(journal_.append(entry_type::kCustom, requestPayload("broke off", agent_.provider.name(), lost)));
    }
    if (!answer) {
      makeStorable(answer.error());
    } else {
      if (answer->error) makeStorable(*answer->error);
      if (!isUtf8(answer->partial)) answer->partial.clear();
    }
    return answer;
  }

  // Returns true when a model spent its whole limit on thinking and said nothing. Stores the usage of that answer.
  Result<bool> recordIfOnlyReasoning(const Answer& answer) {
    if (answer.aborted || answer.message.empty()) return false;
    const auto parts = partsOf(answer, agent_.provider.dialect());
    if (!parts || !parts->text.empty() || !parts->calls.empty() || !parts->isCutOff()) return false;
    addUsage(*parts, report_.totals);
    BOUGH_TRY(journal_.append(entry_type::kCustom,
                              requestPayload("used up by reasoning", agent_.provider.name(), parts->usage)));
    agent_.listener.onEvent(
        {.kind = EventKind::Notice, .text = "the answer was used up by reasoning; asking again for a longer one"});
    return true;
  }

  // Returns the context. Compacts it when it has grown too large, or when even the newest turn no longer fits.
  Result<Context> readContext() {
    auto context = contextAt(journal_.parentId());
    const double share = agent_.options.compactShare;
    const double limit = share * static_cast<double>(window());
    if (context) report_.contextTokens = context->tokens;
    ++stepsSinceCompaction_;
    // A context that still fits can wait some steps after a compaction; one that does not fit cannot wait.
    const bool isLarge =
        context && static_cast<double>(context->tokens) > limit && stepsSinceCompaction_ >= kStepsBetweenCompactions;
    const bool tooLarge = context ? context->turnsLeftOut > 0 : context.error().code == ErrorCode::InvalidArgument;
    if (share <= 0 || (!isLarge && !tooLarge)) return context;
    BOUGH_TRY(const bool made, compactContext(window()));
    if (!made) return context;
    context = contextAt(journal_.parentId());
    if (context) report_.contextTokens = context->tokens;
    return context;
  }

  // Returns false when there is nothing to leave out, or when no summary could be made.
  Result<bool> compactContext(std::uint64_t windowTokens) {
    stepsSinceCompaction_ = 0;
    auto summary = compact(agent_, journal_, windowTokens);
    if (!summary) {
      agent_.listener.onEvent(
          {.kind = EventKind::Notice, .text = "the conversation could not be compacted: " + summary.error().message});
      return false;
    }
    if (!*summary) return false;
    agent_.listener.onEvent({.kind = EventKind::Notice,
                             .text = fmt::format("compacted: {} now a summary",
                                                 counted((*summary)->messages, "message is", "messages are"))});
    return true;
  }

  [[nodiscard]] std::uint64_t maxOutput() const { return std::min(agent_.provider.limits().maxOutput, kUsualOutput); }

  [[nodiscard]] std::uint64_t window() const {
    return agent_.options.windowTokens > 0 ? agent_.options.windowTokens : agent_.provider.limits().window;
  }

  Result<Context> contextAt(const std::string& headId) {
    // The model's answer must fit into the window as well.
    const std::uint64_t answer = std::min(maxOutput(), window() / 4);
    ContextOptions options{.dialect = agent_.provider.dialect(), .at = headId, .budgetTokens = window() - answer};
    if (agent_.options.systemPrompt) {
      options.systemPrompt = agent_.options.systemPrompt;
      options.tools = toolDefinitions(agent_.tools);
    }
    return buildContext(agent_.store, journal_.sessionId(), options);
  }

  void forwardDelta(const Delta& delta) {
    if (delta.kind == DeltaKind::ToolCall) {
      if (!delta.text.empty()) agent_.listener.onEvent({.kind = EventKind::ToolCall, .name = std::string(delta.text)});
      return;
    }
    agent_.listener.onEvent({.kind = delta.kind == DeltaKind::Text ? EventKind::Text : EventKind::Thinking,
                             .text = std::string(delta.text)});
  }

  // Stores the answer before any of its tools runs. The answer that ends the turn is stored together with the turn's
  // usage.
  Result<void> storeAnswer(const Answer& answer, std::uint64_t durationMs) {
    if (answer.message.empty()) return storeWithoutMessage(answer);
    auto parts = partsOf(answer, agent_.provider.dialect());
    if (!parts) return handleMissingAnswer(parts.error());
    beforePrompt_.reset();
    unreadAnswerId_.clear();
    addUsage(*parts, report_.totals);
    report_.text = parts->text;
    report_.totals.stopReason = parts->stopReason;
    std::vector<Entry> batch;
    batch.push_back(journal_.makeEntry(entry_type::kMessage, messagePayload(agent_.provider.dialect(), answer.message),
                                       answerMeta(answer, agent_.provider.name(), durationMs, parts->hasUsage)));
    batch.back().id = newId();
    const std::string entryId = batch.back().id;
    if (!parts->calls.empty()) unreadAnswerId_ = entryId;
    // Store the results of calls that must not run together with the answer; otherwise a restart would run them.
    std::vector<AgentEvent> refused;
    std::erase_if(parts->calls, [&, all = *parts](const ToolCall& call) {
      const std::string_view why = answer.aborted ? std::string_view() : all.reasonNotToRun(call);
      if (why.empty()) return false;
      batch.push_back(journal_.makeEntry(entry_type::kMessage, resultPayload(call.id, call.name, why, true)));
      batch.back().id = newId();
      refused.push_back({.kind = EventKind::ToolResult,
                         .text = std::string(why),
                         .entryId = batch.back().id,
                         .toolCallId = call.id,
                         .name = call.name,
                         .isError = true});
      return true;
    });
    std::string problem = answer.aborted ? "" : parts->problem();
    done_ = answer.aborted || (parts->calls.empty() && !(parts->isCutOff() && !refused.empty()));
    if (done_ && parts->isCutOff() && !problem.empty()) problem += "; say `go on` for the rest";
    if (done_) batch.push_back(lastEntry(answer));
    BOUGH_TRY(journal_.append(std::move(batch)));
    agent_.listener.onEvent({.kind = EventKind::AssistantMessage,
                             .text = parts->text,
                             .entryId = entryId,
                             .usage = parts->usage,
                             .withoutUsage = parts->hasUsage ? 0U : 1U,
                             .durationMs = durationMs});
    for (const AgentEvent& each : refused) agent_.listener.onEvent(each);
    if (answer.aborted) return reportAborted(answer);
    if (done_) report_.problem = problem;
    if (!problem.empty()) agent_.listener.onEvent({.kind = EventKind::Notice, .text = problem, .isError = done_});
    report_.totals.toolCount += parts->calls.size();
    return runCalls(agent_, journal_, parts->calls);
  }

  Result<void> storeWithoutMessage(const Answer& answer) {
    if (!answer.aborted) {
      return handleMissingAnswer(
          fail(ErrorCode::Io, "the provider's answer was empty", "send the message again, or rephrase it").error());
    }
    done_ = true;
    std::vector<Entry> batch;
    batch.push_back(lastEntry(answer));
    BOUGH_TRY(journal_.append(std::move(batch)));
    return reportAborted(answer);
  }

  // Handles a missing answer. If a retry may help, the turn stays open and is sent once more at the next start.
  // Otherwise closes the turn with its reason, so that it never blocks the next prompt. A refused prompt would be
  // refused again as part of the next request, so the conversation continues from before it, and the prompt stays as a
  // branch.
  Result<void> handleMissingAnswer(Error error) {
    const bool refused = error.code == ErrorCode::InvalidArgument;
    if (error.retryable && !resumed_) return std::unexpected(std::move(error));
    if (refused) error.code = ErrorCode::Io;
    if (refused && beforePrompt_) {
      journal_.goBackTo(*beforePrompt_);
      error.message += "; the message is left out of the conversation";
    }
    return storeWithoutMessage({.aborted = true, .error = std::move(error)});
  }

  Result<void> reportAborted(const Answer& answer) {
    report_.aborted = true;
    agent_.listener.onEvent({.kind = EventKind::Aborted,
                             .text = answer.error ? answer.error->message : std::string("stopped"),
                             .isError = answer.error.has_value()});
    if (!answer.error) return {};
    Error error = *answer.error;
    // The provider refused it; the caller made no error.
    if (error.code == ErrorCode::InvalidArgument) error.code = ErrorCode::Io;
    return std::unexpected(std::move(error));
  }

  Entry lastEntry(const Answer& answer) {
    report_.totals.durationMs = millisecondsSince(begin_);
    if (!answer.aborted) return journal_.makeEntry(entry_type::kCustom, totalsPayload(report_.totals));
    return journal_.makeEntry(entry_type::kCustom,
                              abortedPayload(answer.error ? answer.error->message : "stopped by the user",
                                             answer.message.empty() ? answer.partial : std::string()));
  }

  Result<TurnReport> stopTurn(const std::string& why, std::string_view whatNext = "") {
    BOUGH_TRY(journal_.append(entry_type::kCustom, abortedPayload(why)));
    report_.aborted = true;
    agent_.listener.onEvent({.kind = EventKind::Aborted, .text = std::string(why).append(whatNext)});
    return endTurn();
  }

  Result<TurnReport> endTurn() {
    report_.end = {.sessionId = journal_.sessionId(), .headId = journal_.parentId(), .tailId = journal_.tailId()};
    report_.totals.durationMs = millisecondsSince(begin_);
    agent_.listener.onEvent({.kind = EventKind::TurnEnd,
                             .entryId = report_.end.headId,
                             .usage = report_.totals.usage,
                             .withoutUsage = report_.totals.withoutUsage,
                             .durationMs = report_.totals.durationMs,
                             .toolCount = report_.totals.toolCount,
                             .contextTokens = report_.contextTokens});
    return std::move(report_);
  }

  const Agent& agent_;
  Journal journal_;
  TurnReport report_;
  SteadyClock::time_point begin_ = SteadyClock::now();
  bool done_ = false;
  bool resumed_ = false;
  std::optional<std::string> beforePrompt_;  // empty after the first answer
  std::string unreadAnswerId_;               // the answer whose calls have results that the model has not read yet
  std::size_t stepsSinceCompaction_ = kStepsBetweenCompactions;
};

}  // namespace

std::string_view toString(EventKind kind) {
  switch (kind) {
    case EventKind::UserMessage: return "user_message";
    case EventKind::Thinking: return "thinking";
    case EventKind::Text: return "text";
    case EventKind::ToolCall: return "tool_call";
    case EventKind::AssistantMessage: return "assistant_message";
    case EventKind::ToolStart: return "tool_start";
    case EventKind::ToolResult: return "tool_result";
    case EventKind::Retry: return "retry";
    case EventKind::Notice: return "notice";
    case EventKind::Aborted: return "aborted";
    case EventKind::TurnEnd: return "turn_end";
  }
  return "";
}

Result<StartingPoint> startingPoint(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(auto state, store.sessionState(sessionId));
  return StartingPoint{.sessionId = sessionId, .headId = state.headId, .tailId = state.tailId};
}

Result<TurnReport> runTurn(const Agent& agent, const StartingPoint& start, const UserMessage& message) {
  return Turn(agent, start).run(message);
}

Result<TurnReport> resumeTurn(const Agent& agent, const StartingPoint& start, ResumeWhat what) {
  return Turn(agent, start).resume(what);
}

}  // namespace bough::agent
