#include "agent/loop/ask_once.h"

#include <bough/convert.h>
#include <fmt/format.h>

#include <algorithm>

#include "agent/providers/models.h"
#include "base/json_write.h"

namespace bough::agent {

Result<std::string> askOnce(const Agent& agent, std::string_view instruction, std::string_view about) {
  std::string document;
  json::Writer writer(document);
  writer.beginObject().key("messages").beginArray().beginObject().member("role", "user");
  writer.member("content", fmt::format("{}\n\n{}", instruction, about)).endObject().endArray().endObject();
  auto request = convertHistory(document, Dialect::Bough, agent.provider.dialect());
  if (!request) return std::unexpected(request.error());
  const std::uint64_t maxOutput = agent.provider.limits().maxOutput;
  auto answer = agent.provider.stream(
      {.context = request->document, .thinkingLevel = {}, .maxOutputTokens = std::min<std::uint64_t>(4'096, maxOutput)},
      {}, agent.cancel);
  if (!answer) return std::unexpected(answer.error());
  if (answer->aborted || answer->message.empty()) return fail(ErrorCode::Io, "the answer broke off", "try again");
  const auto message = normalize(answer->message, agent.provider.dialect());
  if (!message) return std::unexpected(message.error());
  std::string text;
  for (const Block& block : message->blocks) {
    if (block.kind == BlockKind::Text) text += block.text.decode();
  }
  if (text.empty()) return fail(ErrorCode::Io, "the answer is empty", "try again");
  return text;
}

}  // namespace bough::agent
