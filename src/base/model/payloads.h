// Parts of payloads that several rooms read or write.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "bough/message.h"

namespace bough {

/// Returns the payload of a `message` entry. `message` is JSON.
inline std::string messagePayload(Dialect dialect, std::string_view message) {
  json::Writer writer;
  return writer.beginObject().member("dialect", toString(dialect)).key("message").raw(message).endObject().take();
}

/// Returns the thinking level that a `thinking_level_change` or `runtime_init` entry sets; std::nullopt when it sets
/// none.
inline std::optional<std::string> thinkingLevelIn(std::string_view payload) {
  auto level = json::findString(payload, "thinkingLevel");
  return level ? level : json::findString(payload, "level");
}

/// Writes the counts of billed tokens as members.
inline json::Writer& writeTokens(json::Writer& writer, const Usage& usage) {
  writer.member("inputTokens", usage.inputTokens).member("outputTokens", usage.outputTokens);
  return writer.member("cacheReadTokens", usage.cacheReadTokens).member("cacheWriteTokens", usage.cacheWriteTokens);
}

/// Writes `"usage":{…}`, or the same object under another name.
inline void writeUsage(json::Writer& writer, const Usage& usage, std::string_view name = "usage") {
  writer.key(name).beginObject();
  writeTokens(writer, usage).member("reasoningTokens", usage.reasoningTokens);
  if (usage.cacheWriteHourTokens > 0) writer.member("cacheWriteHourTokens", usage.cacheWriteHourTokens);
  writer.endObject();
}

}  // namespace bough
