#include "agent/loop/answer_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/tool_runner.h"
#include "agent/parts/prompts.h"
#include "base/json/json_scan.h"
#include "base/model/usage_counts.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace bough::agent {
namespace {

// The Responses API says "incomplete" and gives the reason elsewhere.
std::string lowerCaseStopReason(const Answer& answer, const std::string& stopReason) {
  std::string end = stopReason;
  if (stopReason == "incomplete") {
    const auto details = json::findMember(answer.message, "incomplete_details");
    if (details) end = json::findString(*details, "reason").value_or(end);
  }
  std::ranges::transform(end, end.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return end;
}

// These APIs have one normal end, and new names appear for abnormal ones.
bool isUnusual(Dialect dialect, std::string_view stopReason) {
  if (stopReason.empty()) return false;
  if (dialect == Dialect::Gemini) return stopReason != "STOP" && stopReason != "FINISH_REASON_UNSPECIFIED";
  return dialect == Dialect::OpenaiResponses && stopReason != "completed";
}

// The error for an unusable answer. It is the provider's fault: the prompt was not refused.
std::unexpected<Error> unusable(std::string_view why) {
  return fail(ErrorCode::Io, fmt::format("the provider's answer cannot be used: {}", why),
              "send the message again, or change the model");
}

}  // namespace

bool AnswerParts::isCutOff() const {
  return normalizedStopReason == "max_tokens" || normalizedStopReason == "length" ||
         normalizedStopReason == "max_output_tokens" || normalizedStopReason == "model_context_window_exceeded";
}

// The model, or a filter over it, refused the answer; its calls must not run.
bool AnswerParts::isBlocked() const {
  if (unusual && !isCutOff()) return true;
  constexpr std::string_view kRefusals[] = {"refusal",
                                            "content_filter",
                                            "safety",
                                            "prohibited_content",
                                            "blocklist",
                                            "recitation",
                                            "spii",
                                            "image_safety",
                                            "language",
                                            "other",
                                            "malformed_function_call",
                                            "malformed_response",
                                            "missing_thought_signature",
                                            "too_many_tool_calls",
                                            "image_prohibited_content",
                                            "image_recitation",
                                            "image_other",
                                            "no_image",
                                            "error",
                                            "unexpected_tool_call"};
  return std::ranges::find(kRefusals, normalizedStopReason) != std::end(kRefusals);
}

std::string AnswerParts::problem() const {
  if (isCutOff())
    return fmt::format("the answer is cut off: it reached the limit of tokens ({})", normalizedStopReason);
  if (normalizedStopReason == "pause_turn")
    return "the model paused before its answer was finished (pause_turn); say `go on`";
  if (refused) return "the model refused to answer";
  if (isBlocked()) return fmt::format("the answer was refused or blocked ({})", normalizedStopReason);
  return calls.empty() && text::trimmed(text).empty() ? "the answer is empty" : "";
}

std::string_view AnswerParts::reasonNotToRun(const ToolCall& call) const {
  if (refused || isBlocked()) return kAnswerRefused;
  return isCutOff() && call.id == calls.back().id ? kAnswerCutOff : std::string_view();
}

Result<AnswerParts> partsOf(const Answer& answer, Dialect dialect) {
  const auto read = normalize(answer.message, dialect);
  if (!read) return unusable(read.error().message);
  const Message& message = *read;
  if (!isUtf8(answer.message)) return unusable("it is not UTF-8");
  if (message.role != Role::Assistant) return unusable(fmt::format("its role is {}", toString(message.role)));
  AnswerParts parts;
  for (const Block& block : message.blocks) {
    if (block.kind == BlockKind::Text || block.kind == BlockKind::Refusal) parts.text += block.text.decode();
    parts.refused = parts.refused || block.kind == BlockKind::Refusal;
    if (block.kind != BlockKind::ToolCall) continue;
    parts.calls.push_back({.id = block.id.decode(), .name = block.name.decode(), .arguments = argumentsOf(block)});
  }
  parts.stopReason = message.stopReason.decode();
  parts.normalizedStopReason = lowerCaseStopReason(answer, parts.stopReason);
  parts.unusual = isUnusual(dialect, parts.stopReason);
  parts.hasUsage = message.usage && !isUsageUnknown(*message.usage);
  parts.usage = message.usage.value_or(Usage{});
  return parts;
}

}  // namespace bough::agent
