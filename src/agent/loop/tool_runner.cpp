#include "agent/loop/tool_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "agent/loop/file_copies.h"
#include "agent/parts/json_parts.h"
#include "agent/parts/prompts.h"
#include "base/model/shown.h"
#include "base/system/threads.h"
#include "base/text/text.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kCallsAtOnce = 64;  // calls that are prepared at the same time; each may hold an open folder

// Stores results and reports them to the listener, one at a time.
class Results {
 public:
  Results(const Agent& agent, Journal& journal) : agent_(agent), journal_(journal) {}

  Result<void> start(const ToolCall& call, const std::optional<Place>& changes) {
    std::optional<std::string> copy;
    if (changes) copy = fileCopyPayload(call.id, *changes, agent_.environment.secrets);
    BOUGH_TRY(const std::string stored, journal_.startTool(call.id, call.name, std::move(copy)));
    notifyListener({.kind = EventKind::ToolStart,
                    .text = call.arguments,
                    .entryId = stored,
                    .toolCallId = call.id,
                    .name = call.name});
    return {};
  }

  Result<void> add(const ToolCall& call, const ToolOutcome& outcome, std::string meta = {}) {
    BOUGH_TRY(auto stored,
              journal_.append(entry_type::kMessage, resultPayload(call.id, call.name, outcome.text, outcome.isError),
                              std::move(meta)));
    notifyListener({.kind = EventKind::ToolResult,
                    .text = outcome.text,
                    .entryId = stored,
                    .toolCallId = call.id,
                    .name = call.name,
                    .isError = outcome.isError});
    return {};
  }

  Result<void> refuse(const ToolCall& call, std::string_view why) {
    return add(call, {.text = std::string(why), .isError = true});
  }

 private:
  void notifyListener(const AgentEvent& event) {
    const std::lock_guard lock(mutex_);
    agent_.listener.onEvent(event);
  }

  const Agent& agent_;
  Journal& journal_;
  std::mutex mutex_;
};

struct ReadyCall {
  ToolCall call;
  std::function<ToolOutcome(const CancelToken&)> run;
  std::optional<Place> changes{};
  std::string refused{};  // why the call must not run after all
};

// Returns why a call would need permission, for the model when there is nobody to ask: where a file really is, or an
// argument that an allowed command does not cover. The model does not learn which commands are allowed.
std::string permissionReason(std::string_view question) {
  constexpr std::size_t kMostBytes = 300;
  constexpr std::string_view kAllowedBut = " is allowed, but ";
  if (question.starts_with("run: ")) {
    const std::size_t at = question.find(kAllowedBut);
    question = at == std::string_view::npos ? "" : question.substr(at + kAllowedBut.size());
    question = question.substr(0, question.find('\n'));
  }
  return question.empty() ? "" : fmt::format(" ({})", text::excerpt(question, kMostBytes));
}

// Returns why a call must not run; empty when it may run.
std::string reasonNotToRun(const Agent& agent, const ToolCall& call, const PreparedCall& prepared) {
  if (agent.cancel.requested()) return std::string(kStopped);
  if (agent.options.askNothing || !prepared.question) return {};
  const auto allowed = agent.listener.allowPrepared(call, prepared);
  if (!allowed && agent.cancel.requested()) return std::string(kStopped);
  if (!allowed) return fmt::format("{}{}. {}", kNobodyToAsk, permissionReason(*prepared.question), kGoOnWithout);
  return *allowed ? std::string() : std::string(kDenied);
}

Result<void> runCall(const Agent& agent, Results& results, const ReadyCall& ready) {
  if (!ready.refused.empty()) return results.refuse(ready.call, ready.refused);
  if (agent.cancel.requested()) return results.refuse(ready.call, kStopped);
  BOUGH_TRY(results.start(ready.call, ready.changes));
  const ToolOutcome outcome = ready.run(agent.cancel);
  return results.add(ready.call, outcome, ready.changes ? changedFileMeta(*ready.changes) : std::string());
}

using CallsWithSameId = std::vector<ReadyCall>;

CallsWithSameId* findId(std::vector<CallsWithSameId>& calls, const std::string& id) {
  const auto found = std::ranges::find(calls, id, [](const CallsWithSameId& each) { return each.front().call.id; });
  return found == calls.end() ? nullptr : &*found;
}

Result<void> runSequentially(const Agent& agent, Results& results, const CallsWithSameId& calls) {
  for (const ReadyCall& each : calls) {
    BOUGH_TRY(runCall(agent, results, each));
  }
  return {};
}

Result<void> runInParallel(const Agent& agent, Results& results, const std::vector<CallsWithSameId>& calls) {
  if (calls.size() == 1) return runSequentially(agent, results, calls.front());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Result<void> first;
  const auto work = [&](std::size_t) {
    for (std::size_t i = next++; i < calls.size(); i = next++) {
      auto ran = runSequentially(agent, results, calls[i]);
      const std::lock_guard lock(mutex);
      if (!ran && first) first = std::move(ran);
    }
  };
  ThreadFailure failure;
  auto threads = startThreads(std::min(kThreads, calls.size()) - 1,
                              [&](std::size_t number) { failure.guard([&] { work(number); }); });
  work(0);
  threads.clear();
  failure.rethrow();
  return first;
}

// Runs calls in parallel. Some servers give several calls of an answer the same id; only the order of their results
// tells them apart, so these calls run one after the other.
Result<void> runBatch(const Agent& agent, Results& results, std::span<const ToolCall> calls) {
  std::vector<CallsWithSameId> ready;
  for (const ToolCall& call : calls) {
    PreparedCall prepared = prepareCall(agent.tools, call, agent.environment);
    std::string why = reasonNotToRun(agent, call, prepared);
    CallsWithSameId* const same = findId(ready, call.id);
    if (!why.empty() && same == nullptr) {
      BOUGH_TRY(results.refuse(call, why));
      continue;
    }
    CallsWithSameId& place = same != nullptr ? *same : ready.emplace_back();
    place.push_back({.call = call,
                     .run = std::move(prepared.run),
                     .changes = std::move(prepared.changes),
                     .refused = std::move(why)});
  }
  return ready.empty() ? Result<void>() : runInParallel(agent, results, ready);
}

Result<void> applyChoice(const RecoveryChoice& choice, Results& results, const ToolCall& call,
                         std::vector<ToolCall>& runnable) {
  switch (choice.action) {
    case RecoveryChoice::Action::RunAgain: runnable.push_back(call); return {};
    case RecoveryChoice::Action::Skip: return results.refuse(call, kSkipped);
    case RecoveryChoice::Action::GiveResult: return results.add(call, {.text = choice.text});
    case RecoveryChoice::Action::Unknown: break;
  }
  return results.refuse(call, kOutcomeUnknown);
}

}  // namespace

std::string abortedPayload(std::string_view reason, std::string_view partial) {
  json::Writer writer;
  writer.beginObject().member("kind", kTurnAbortedKind).member("reason", reason);
  if (!partial.empty()) writer.key("partial").raw(partial);
  return writer.endObject().take();
}

std::string argumentsOf(const Block& block) {
  if (block.freeform) return json::quoted(block.text.decode());
  if (block.input.starts_with('"')) {
    const std::string text = decoded(stringBody(block.input));
    return text.find_first_not_of(" \t\r\n") == std::string::npos ? "{}" : text;
  }
  return block.input.empty() ? "{}" : std::string(block.input);
}

std::string toolDefinitions(const std::vector<Tool>& tools) {
  json::Writer writer;
  writer.beginArray();
  for (const Tool& tool : tools) {
    writer.beginObject().member("name", tool.name).member("description", tool.description);
    writer.key("input_schema").raw(tool.parameters).endObject();
  }
  return writer.endArray().take();
}

Result<void> runCalls(const Agent& agent, Journal& journal, const std::vector<ToolCall>& calls) {
  Results results(agent, journal);
  for (std::span<const ToolCall> rest = calls; !rest.empty();
       rest = rest.subspan(std::min(kCallsAtOnce, rest.size()))) {
    BOUGH_TRY(runBatch(agent, results, rest.first(std::min(kCallsAtOnce, rest.size()))));
  }
  return {};
}

Result<std::size_t> recoverCalls(const Agent& agent, Journal& journal, const std::string& answerEntryId) {
  BOUGH_TRY(auto open, unfinishedToolCalls(agent.store, journal.sessionId(), journal.parentId()));
  std::erase_if(open, [&](const UnfinishedToolCall& each) { return each.entryId != answerEntryId; });
  Results results(agent, journal);
  std::vector<ToolCall> runnable;
  for (const UnfinishedToolCall& each : open) {
    const bool quoted = each.input.starts_with('"');
    const ToolCall call{
        .id = each.toolCallId, .name = each.name, .arguments = quoted ? decoded(stringBody(each.input)) : each.input};
    const Tool* tool = findTool(agent.tools, each.name);
    if (!each.started || (tool != nullptr && tool->safeToRepeat)) {
      runnable.push_back(call);
      continue;
    }
    if (std::ranges::find(runnable, call.id, &ToolCall::id) != runnable.end()) {
      // The result of the earlier call must come first.
      BOUGH_TRY(runCalls(agent, journal, std::exchange(runnable, {})));
    }
    BOUGH_TRY(applyChoice(agent.listener.recover(each), results, call, runnable));
  }
  BOUGH_TRY(runCalls(agent, journal, runnable));
  return open.size();
}

}  // namespace bough::agent
