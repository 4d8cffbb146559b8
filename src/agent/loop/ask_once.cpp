#include "agent/loop/ask_once.h"

#include <bough/convert.h>
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/answer_parts.h"
#include "agent/loop/requests.h"
#include "agent/providers/models.h"
#include "base/json/json_write.h"
#include "base/try.h"

namespace bough::agent {

Result<std::string> askOnce(const Agent& agent, std::string_view instruction, std::string_view subject, Usage& paid) {
  json::Writer writer;
  writer.beginObject().key("messages").beginArray().beginObject().member("role", "user");
  writer.member("content", fmt::format("{}\n\n{}", instruction, subject)).endObject().endArray().endObject();
  BOUGH_TRY(const auto request, convertHistory(writer.text(), Dialect::Bough, agent.provider.dialect()));
  const std::uint64_t most = agent.provider.limits().maxOutput;
  // A thinking model may use up a small limit before it has finished the answer, or even begun it.
  for (std::uint64_t limit = std::min<std::uint64_t>(8'192, most);; limit = most) {
    BOUGH_TRY(const Answer answer,
              agent.provider.stream({.context = request.document, .thinkingLevel = {}, .maxOutputTokens = limit},
                                    {.onLost = [&](const Usage& lost) { paid += lost; }}, agent.cancel));
    if (answer.message.empty()) return fail(ErrorCode::Io, "the answer broke off", "try again");
    BOUGH_TRY(AnswerParts parts, partsOf(answer, agent.provider.dialect()));
    paid += parts.usage;
    if (answer.aborted) return fail(ErrorCode::Io, "the answer broke off", "try again");
    // An answer cut by a filter is unusable: as a summary, it would lose the rest of the conversation.
    if (parts.refused || parts.isBlocked()) return fail(ErrorCode::Io, parts.problem(), "try again");
    const bool isComplete = !parts.isCutOff() && !parts.text.empty();
    if (isComplete) return std::move(parts.text);
    if (limit < most) continue;
    return parts.isCutOff() ? fail(ErrorCode::Io, "the answer was cut off at the model's limit",
                                   "choose another model: /model, --model")
                            : fail(ErrorCode::Io, "the answer is empty", "try again");
  }
}

}  // namespace bough::agent
