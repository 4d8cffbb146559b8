// ATIF 1.8, the Agent Trajectory Interchange Format: one JSON object per trajectory, with steps numbered from 1.
#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/trace/trace.h"

namespace bough::transcript {
namespace {

std::string_view sourceOf(Role role) {
  return role == Role::Assistant ? "agent" : role == Role::User ? "user" : "system";
}

// Prompt tokens include all input; cached tokens are a part of them.
void writeMetrics(json::Writer& writer, const Usage& used) {
  writer.key("metrics").beginObject();
  writer.member("prompt_tokens", used.inputTokens + used.cacheReadTokens + used.cacheWriteTokens);
  writer.member("completion_tokens", used.outputTokens).member("cached_tokens", used.cacheReadTokens);
  writer.key("extra").beginObject().member("cache_write_tokens", used.cacheWriteTokens);
  writer.member("reasoning_tokens", used.reasoningTokens).endObject().endObject();
}

void writeCalls(json::Writer& writer, const TraceStep& step) {
  writer.key("tool_calls").beginArray();
  bool anyResult = false;
  for (const TraceCall& call : step.calls) {
    writer.beginObject().member("tool_call_id", call.id).member("function_name", call.name);
    writer.key("arguments").raw(call.arguments).endObject();
    anyResult = anyResult || !call.results.empty();
  }
  writer.endArray();
  if (!anyResult) return;
  writer.key("observation").beginObject().key("results").beginArray();
  for (const TraceCall& call : step.calls) {
    for (const TraceResult& result : call.results) {
      writer.beginObject().member("source_call_id", call.id).member("content", result.text);
      if (result.isError) writer.key("extra").beginObject().member("is_error", true).endObject();
      writer.endObject();
    }
  }
  writer.endArray().endObject();
}

void writeStep(json::Writer& writer, const TraceStep& step, std::uint64_t number, bool copied) {
  writer.beginObject().member("step_id", number);
  if (parseTimestamp(step.entry->timestamp)) writer.member("timestamp", step.entry->timestamp);
  writer.member("source", sourceOf(step.role));
  const bool isAgent = step.role == Role::Assistant;
  if (isAgent && !step.model.empty()) writer.member("model_name", step.model);
  writer.member("message", step.text);
  if (isAgent && !step.thinking.empty()) writer.member("reasoning_content", step.thinking);
  if (isAgent && !step.calls.empty()) writeCalls(writer, step);
  if (isAgent && step.usage) writeMetrics(writer, *step.usage);
  if (copied) writer.member("is_copied_context", true);
  writer.key("extra").beginObject().member("entry_id", step.entry->id);
  if (!step.id.empty()) writer.member("message_id", step.id);
  writer.endObject().endObject();
}

}  // namespace

Result<void> writeAtif(const WriteTraceOptions& options, const std::string& name, const TraceBranch& branch,
                       std::size_t copied, const TraceSink& out) {
  std::string text;
  json::Writer writer(text);
  const TranscriptFacts& facts = options.facts;
  writer.beginObject().member("schema_version", "ATIF-v1.8").member("session_id", facts.sessionId);
  writer.member("trajectory_id", name).key("agent").beginObject();
  writer.member("name", facts.agent.empty() ? "bough" : facts.agent);
  writer.member("version", facts.version.empty() ? "unknown" : facts.version);
  if (!facts.model.empty()) writer.member("model_name", facts.model);
  writer.endObject().key("steps").beginArray();
  Usage total;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < branch.size(); ++i) {
    const TraceStep step = branch.read(i);
    if (step.usage) total += *step.usage;
    ++number;
    writeStep(writer, step, number, number <= copied);
    BOUGH_TRY(flushTrace(text, out));
  }
  writer.endArray().key("final_metrics").beginObject();
  writer.member("total_prompt_tokens", total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens);
  writer.member("total_completion_tokens", total.outputTokens).member("total_cached_tokens", total.cacheReadTokens);
  writer.member("total_steps", number).endObject();
  if (!facts.title.empty() || !facts.cwd.empty()) {
    writer.key("extra").beginObject();
    if (!facts.title.empty()) writer.member("title", facts.title);
    if (!facts.cwd.empty()) writer.member("cwd", facts.cwd);
    writer.endObject();
  }
  writer.endObject();
  return out(text + "\n");
}

}  // namespace bough::transcript
