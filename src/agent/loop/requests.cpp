#include "agent/loop/requests.h"

namespace bough::agent {

void writeUsage(json::Writer& writer, const Usage& usage, std::string_view name) {
  writer.key(name).beginObject();
  writer.member("inputTokens", usage.inputTokens).member("outputTokens", usage.outputTokens);
  writer.member("cacheReadTokens", usage.cacheReadTokens).member("cacheWriteTokens", usage.cacheWriteTokens);
  writer.member("reasoningTokens", usage.reasoningTokens).endObject();
}

std::string requestPayload(std::string_view purpose, std::string_view model, const Usage& usage) {
  std::string payload;
  json::Writer writer(payload);
  writer.beginObject().member("kind", kRequestKind).member("purpose", purpose).member("model", model);
  writeUsage(writer, usage);
  writer.endObject();
  return payload;
}

}  // namespace bough::agent
