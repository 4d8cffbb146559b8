#include "transcript/agents/codex/costs.h"

#include <cstdint>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough::transcript::codex {
namespace {

// `before`: the previous value of a running count, which is subtracted.
std::string infoOf(std::string_view usage, std::string_view before, const std::string& id, const std::string& model) {
  const auto count = [&](std::string_view name) {
    const std::uint64_t now = json::findUnsigned(usage, name).value_or(0);
    const std::uint64_t was = json::findUnsigned(before, name).value_or(0);
    return now > was ? now - was : 0;
  };
  const std::uint64_t cached = count("cached_input_tokens") + count("cache_write_input_tokens");
  const std::uint64_t input = count("input_tokens");
  std::string info = "\"usage\":";
  json::Writer writer(info);
  writer.beginObject().member("inputTokens", input > cached ? input - cached : 0);
  writer.member("outputTokens", count("output_tokens")).member("cacheReadTokens", count("cached_input_tokens"));
  writer.member("cacheWriteTokens", count("cache_write_input_tokens"));
  writer.member("reasoningTokens", count("reasoning_output_tokens")).member("id", id).member("model", model);
  writer.endObject();
  return info;
}

}  // namespace

std::string Costs::costOfRecord(const Members& record, const std::string& model) {
  hasRecords_ = true;
  return infoOf(record.raw("usage"), {}, record.text("response_id"), model);
}

std::string Costs::increaseOfTotal(const Members& event, const std::string& thread, const std::string& model) {
  const std::string_view info = event.raw("info");
  const auto total = json::findMember(info, "total_token_usage");
  const auto last = json::findMember(info, "last_token_usage");
  if (hasRecords_ || (!total && !last) || (total && *total == lastTotal_)) return {};
  const std::string before = lastTotal_;
  lastTotal_ = total.value_or("");
  constexpr std::size_t kShort = 24;
  const std::string id = total ? "codex-" + Sha256::of(thread + lastTotal_).substr(0, kShort) : std::string();
  return total ? infoOf(*total, before, id, model) : infoOf(*last, {}, id, model);
}

}  // namespace bough::transcript::codex
