// Writes OpenTelemetry spans as OTLP/JSON: one span for the session, with one child span for each answer and each tool
// call. The attributes are those of the GenAI conventions or of OpenInference. Ids are made from the ids of the
// entries, so the same session gives the same trace.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/trace/trace.h"

namespace bough::transcript {
namespace {

constexpr std::uint64_t kInternal = 1;  // SPAN_KIND_INTERNAL
constexpr std::uint64_t kClient = 3;    // SPAN_KIND_CLIENT
constexpr std::uint64_t kError = 2;     // STATUS_CODE_ERROR

std::string traceIdOf(const std::string& text) {
  return Sha256::of("trace:" + text).substr(0, 32);
}

std::string spanIdOf(const std::string& text) {
  return Sha256::of("span:" + text).substr(0, 16);
}

constexpr std::string_view kUnknownProvider = "unknown";

std::string_view providerOf(const TraceStep& step) {
  switch (step.dialect) {
    case Dialect::Anthropic: return "anthropic";
    case Dialect::OpenaiChat:
    case Dialect::OpenaiResponses: return "openai";
    case Dialect::Gemini: return "gcp.gemini";
    default: break;
  }
  if (step.model.find("claude") != std::string::npos) return "anthropic";
  if (step.model.find("gemini") != std::string::npos) return "gcp.gemini";
  return step.model.starts_with("gpt") || step.model.starts_with("o") ? "openai" : kUnknownProvider;
}

// The attributes of one span. Integers are strings in OTLP/JSON.
class Attributes {
 public:
  explicit Attributes(json::Writer& writer) : writer_(writer) { writer_.key("attributes").beginArray(); }
  void end() { writer_.endArray(); }

  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) open(name).member("stringValue", value).endObject().endObject();
  }
  void number(std::string_view name, std::uint64_t value) {
    open(name).member("intValue", fmt::format("{}", value)).endObject().endObject();
  }
  void list(std::string_view name, std::string_view value) {
    json::Writer& writer = open(name).key("arrayValue").beginObject().key("values").beginArray();
    writer.beginObject().member("stringValue", value).endObject().endArray().endObject().endObject().endObject();
  }

 private:
  json::Writer& open(std::string_view name) {
    return writer_.beginObject().member("key", name).key("value").beginObject();
  }

  json::Writer& writer_;
};

// Writes a message in the form of the GenAI conventions.
void writeMessage(json::Writer& writer, const TraceStep& step, bool isOutput) {
  writer.beginObject().member("role", toString(step.role)).key("parts").beginArray();
  if (!step.thinking.empty())
    writer.beginObject().member("type", "reasoning").member("content", step.thinking).endObject();
  if (!step.text.empty()) writer.beginObject().member("type", "text").member("content", step.text).endObject();
  for (const TraceCall& call : step.calls) {
    writer.beginObject().member("type", "tool_call").member("id", call.id).member("name", call.name);
    writer.key("arguments").raw(call.arguments).endObject();
  }
  writer.endArray();
  if (isOutput) writer.member("finish_reason", step.calls.empty() ? "stop" : "tool_call");
  writer.endObject();
}

void writeResults(json::Writer& writer, const TraceStep& answer) {
  for (const TraceCall& call : answer.calls) {
    for (const TraceResult& result : call.results) {
      writer.beginObject().member("role", "tool").key("parts").beginArray().beginObject();
      writer.member("type", "tool_call_response").member("id", call.id).member("response", result.text);
      writer.endObject().endArray().endObject();
    }
  }
}

class SpanWriting {
 public:
  SpanWriting(const WriteTraceOptions& options, bool openInference, const TraceSink& out)
      : options_(options), openInference_(openInference), sink_(out), traceId_(traceIdOf(options.facts.sessionId)) {}

  Result<void> run(const std::vector<TraceBranch>& branches) {
    for (const TraceBranch& branch : branches) {
      firstMs_ = firstMs_ == 0 ? branch.firstMs() : std::min(firstMs_, branch.firstMs());
      lastMs_ = std::max(lastMs_, branch.lastMs());
      for (std::size_t i = 0; i < branch.size() && provider_ == kUnknownProvider; ++i) {
        if (branch.role(i) == Role::Assistant) provider_ = providerOf(branch.read(i));
      }
    }
    writer_.beginObject().key("resourceSpans").beginArray().beginObject().key("resource").beginObject();
    Attributes resource(writer_);
    resource.text("service.name", agentName());
    resource.text("service.version", options_.facts.version);
    resource.end();
    writer_.endObject().key("scopeSpans").beginArray().beginObject().key("scope").beginObject();
    writer_.member("name", "bough").endObject().key("spans").beginArray();
    writeSession();
    for (const TraceBranch& branch : branches) BOUGH_TRY(writeBranch(branch));
    writer_.endArray().endObject().endArray().endObject().endArray().endObject();
    return sink_(out_ + "\n");
  }

 private:
  [[nodiscard]] std::string agentName() const { return options_.facts.agent.empty() ? "bough" : options_.facts.agent; }

  static std::uint64_t timeOf(const TraceStep& step) { return parseTimestamp(step.entry->timestamp).value_or(0); }
  static std::uint64_t timeOf(const TraceResult& result) { return parseTimestamp(result.timestamp).value_or(0); }

  void beginSpan(const std::string& id, const std::string& parent, std::string_view name, std::uint64_t kind,
                 std::uint64_t beginMs, std::uint64_t endMs) {
    constexpr std::uint64_t kNanoseconds = 1'000'000;
    constexpr std::uint64_t kLastMs = INT64_MAX / kNanoseconds;  // in the year 2262
    beginMs = std::min(beginMs, kLastMs);
    endMs = std::min(endMs, kLastMs);
    writer_.beginObject().member("traceId", traceId_).member("spanId", id);
    if (!parent.empty()) writer_.member("parentSpanId", parent);
    writer_.member("name", name).member("kind", kind);
    writer_.member("startTimeUnixNano", fmt::format("{}", std::min(beginMs, endMs) * kNanoseconds));
    writer_.member("endTimeUnixNano", fmt::format("{}", endMs * kNanoseconds));
  }

  void endSpan(bool failed) {
    writer_.key("status").beginObject();
    if (failed) writer_.member("code", kError);
    writer_.endObject().endObject();
  }

  void writeSession() {
    root_ = spanIdOf(options_.facts.sessionId);
    beginSpan(root_, {}, fmt::format("invoke_agent {}", agentName()), kInternal, firstMs_, lastMs_);
    Attributes attributes(writer_);
    if (openInference_) {
      attributes.text("openinference.span.kind", "AGENT");
      attributes.text("session.id", options_.facts.sessionId);
      attributes.text("agent.name", agentName());
    } else {
      attributes.text("gen_ai.operation.name", "invoke_agent");
      attributes.text("gen_ai.provider.name", provider_);
      attributes.text("gen_ai.agent.name", agentName());
      attributes.text("gen_ai.conversation.id", options_.facts.sessionId);
    }
    attributes.end();
    endSpan(false);
  }

  Result<void> writeBranch(const TraceBranch& branch) {
    std::vector<TraceStep> input;  // what is new since the last answer
    std::size_t from = 0;          // the first step of the branch that is not in `input` yet
    for (std::size_t i = 0; i < branch.size(); ++i) {
      if (branch.role(i) != Role::Assistant) continue;
      for (; from < i; ++from) input.push_back(branch.read(from));
      TraceStep answer = branch.read(from++);
      if (written_.insert(answer.entry->id).second) writeAnswer(answer, input);
      input.clear();
      input.push_back(std::move(answer));
      BOUGH_TRY(flushTrace(out_, sink_));
    }
    return {};
  }

  // `input` is the previous answer, whose results are new, and what was said since.
  void writeAnswer(const TraceStep& step, const std::vector<TraceStep>& input) {
    const std::uint64_t endMs = timeOf(step);
    std::uint64_t beginMs = input.empty() ? endMs : timeOf(input.back());
    for (const TraceStep& each : input) {
      for (const TraceCall& call : each.calls) {
        for (const TraceResult& result : call.results) beginMs = std::max(beginMs, timeOf(result));
      }
    }
    const std::string id = spanIdOf(step.entry->id);
    beginSpan(id, root_, step.model.empty() ? std::string("chat") : fmt::format("chat {}", step.model), kClient,
              beginMs, endMs);
    Attributes attributes(writer_);
    openInference_ ? addOpenInference(attributes, step, input) : addGenAi(attributes, step, input);
    attributes.end();
    endSpan(false);
    std::unordered_set<std::string> names;
    for (const TraceCall& call : step.calls) {
      std::string name = step.entry->id + "\n" + call.id;
      while (!names.insert(name).second) name += '\n';  // an answer may use an id twice
      writeCall(call, step, spanIdOf(name), id);
    }
  }

  void addGenAi(Attributes& attributes, const TraceStep& step, const std::vector<TraceStep>& input) {
    attributes.text("gen_ai.operation.name", "chat");
    attributes.text("gen_ai.provider.name", providerOf(step));
    attributes.text("gen_ai.conversation.id", options_.facts.sessionId);
    attributes.text("gen_ai.request.model", step.model);
    attributes.text("gen_ai.response.model", step.model);
    attributes.text("gen_ai.response.id", step.id);
    if (!step.stopReason.empty()) attributes.list("gen_ai.response.finish_reasons", step.stopReason);
    if (step.usage) {
      const Usage& used = *step.usage;
      attributes.number("gen_ai.usage.input_tokens", used.inputTokens + used.cacheReadTokens + used.cacheWriteTokens);
      attributes.number("gen_ai.usage.output_tokens", used.outputTokens);
      attributes.number("gen_ai.usage.cache_read.input_tokens", used.cacheReadTokens);
      attributes.number("gen_ai.usage.cache_write.input_tokens", used.cacheWriteTokens);
      if (used.reasoningTokens > 0) attributes.number("gen_ai.usage.reasoning.output_tokens", used.reasoningTokens);
    }
    json::Writer writer;
    writer.beginArray();
    for (const TraceStep& each : input) {
      each.role == Role::Assistant ? writeResults(writer, each) : writeMessage(writer, each, false);
    }
    attributes.text("gen_ai.input.messages", writer.endArray().text());
    json::Writer outputs;
    outputs.beginArray();
    writeMessage(outputs, step, true);
    outputs.endArray();
    attributes.text("gen_ai.output.messages", outputs.text());
  }

  static void addMessage(Attributes& attributes, const std::string& prefix, const TraceStep& step) {
    attributes.text(prefix + "message.role", toString(step.role));
    attributes.text(prefix + "message.content", step.text);
    for (std::size_t i = 0; i < step.calls.size(); ++i) {
      const std::string call = fmt::format("{}message.tool_calls.{}.tool_call.", prefix, i);
      attributes.text(call + "id", step.calls[i].id);
      attributes.text(call + "function.name", step.calls[i].name);
      attributes.text(call + "function.arguments", step.calls[i].arguments);
    }
  }

  void addOpenInference(Attributes& attributes, const TraceStep& step, const std::vector<TraceStep>& input) {
    attributes.text("openinference.span.kind", "LLM");
    attributes.text("session.id", options_.facts.sessionId);
    attributes.text("llm.system", providerOf(step));
    attributes.text("llm.model_name", step.model);
    if (step.usage) {
      const Usage& used = *step.usage;
      const std::uint64_t prompt = used.inputTokens + used.cacheReadTokens + used.cacheWriteTokens;
      attributes.number("llm.token_count.prompt", prompt);
      attributes.number("llm.token_count.completion", used.outputTokens);
      attributes.number("llm.token_count.total", prompt + used.outputTokens);
      attributes.number("llm.token_count.prompt_details.cache_read", used.cacheReadTokens);
      attributes.number("llm.token_count.prompt_details.cache_write", used.cacheWriteTokens);
      attributes.number("llm.token_count.completion_details.reasoning", used.reasoningTokens);
    }
    std::size_t number = 0;
    const auto next = [&] { return fmt::format("llm.input_messages.{}.", number++); };
    for (const TraceStep& each : input) {
      if (each.role != Role::Assistant) addMessage(attributes, next(), each);
      for (const TraceCall& call : each.calls) {
        for (const TraceResult& result : call.results) {
          const std::string prefix = next();
          attributes.text(prefix + "message.role", "tool");
          attributes.text(prefix + "message.tool_call_id", call.id);
          attributes.text(prefix + "message.content", result.text);
        }
      }
    }
    addMessage(attributes, "llm.output_messages.0.", step);
    attributes.text("output.value", step.text);
  }

  void writeCall(const TraceCall& call, const TraceStep& step, const std::string& id, const std::string& parent) {
    const std::uint64_t beginMs = timeOf(step);
    std::uint64_t endMs = beginMs;
    std::string text;
    bool failed = false;
    for (const TraceResult& result : call.results) {
      endMs = std::max(endMs, timeOf(result));
      text += (text.empty() ? "" : "\n") + result.text;
      failed = failed || result.isError;
    }
    beginSpan(id, parent, fmt::format("execute_tool {}", call.name), kInternal, beginMs, endMs);
    Attributes attributes(writer_);
    if (openInference_) {
      attributes.text("openinference.span.kind", "TOOL");
      attributes.text("session.id", options_.facts.sessionId);
      attributes.text("tool.name", call.name);
      attributes.text("tool_call.id", call.id);
      attributes.text("input.value", call.arguments);
      attributes.text("input.mime_type", "application/json");
      attributes.text("output.value", text);
    } else {
      attributes.text("gen_ai.operation.name", "execute_tool");
      attributes.text("gen_ai.tool.name", call.name);
      attributes.text("gen_ai.tool.type", "function");
      attributes.text("gen_ai.tool.call.id", call.id);
      attributes.text("gen_ai.tool.call.arguments", call.arguments);
      attributes.text("gen_ai.tool.call.result", text);
      if (failed) attributes.text("error.type", "_OTHER");
    }
    attributes.end();
    endSpan(failed);
  }

  const WriteTraceOptions& options_;
  bool openInference_;
  const TraceSink& sink_;
  std::string traceId_;
  std::string root_;
  std::string_view provider_ = kUnknownProvider;  // of the first answer with a known provider
  std::uint64_t firstMs_ = 0;
  std::uint64_t lastMs_ = 0;
  std::unordered_set<std::string> written_;  // answers that several branches share are written once
  std::string out_;                          // text that was not passed on yet
  json::Writer writer_{out_};
};

}  // namespace

Result<void> writeOtlp(const WriteTraceOptions& options, const std::vector<TraceBranch>& branches, bool openInference,
                       const TraceSink& out) {
  return SpanWriting(options, openInference, out).run(branches);
}

}  // namespace bough::transcript
