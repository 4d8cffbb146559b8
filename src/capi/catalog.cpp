// Lists, search and usage.
#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/payloads.h"
#include "base/try.h"
#include "capi/json_options.h"
#include "capi/objects.h"

namespace bough::capi {
namespace {

void readFilter(JsonOptions& reader, SessionFilter& filter) {
  reader.read("agent", filter.agent);
  reader.read("key", filter.key);
  reader.read("cwd", filter.cwd);
  reader.read("title", filter.title);
  reader.read("sinceMs", filter.sinceMs);
  reader.read("untilMs", filter.untilMs);
}

void readLimit(JsonOptions& reader, std::string_view name, std::size_t& limit) {
  std::uint64_t value = limit;
  reader.read(name, value);
  limit = value;
}

// Reads a row of an earlier page, of which two members are used.
CallResult<std::optional<ListPlace>> readPlace(JsonOptions& reader) {
  std::optional<std::string> row;
  reader.readRaw("after", row);
  if (!row) return std::nullopt;
  const auto activeMs = json::findUnsigned(*row, "activeMs");
  auto sessionId = json::findString(*row, "sessionId");
  if (!activeMs || !sessionId)
    return refuse("\"after\" is not a row of a list: it has no \"activeMs\" or \"sessionId\"");
  return ListPlace{.activeMs = *activeMs, .sessionId = std::move(*sessionId)};
}

void writeSession(json::Writer& writer, const SessionSummary& row) {
  writer.beginObject().member("sessionId", row.sessionId).member("key", row.key).member("cwd", row.cwd);
  writer.member("title", row.title).member("createdMs", row.createdMs).member("activeMs", row.activeMs);
  writer.member("entries", row.entries).member("userMessages", row.userMessages);
  writer.member("assistantMessages", row.assistantMessages).member("branches", row.branches);
  writer.member("condition", toString(row.condition)).member("inputTokens", row.tokens.inputTokens);
  writer.member("outputTokens", row.tokens.outputTokens).endObject();
}

void writeUsage(json::Writer& writer, const UsageRow& row) {
  writer.beginObject().member("name", row.name).member("messages", row.messages);
  writer.member("withoutUsage", row.withoutUsage);
  writeTokens(writer, row.tokens).key("costUsd").raw(fmt::format("{:.6f}", row.costUsd));
  writer.member("costKnown", row.costKnown).endObject();
}

void endAnswer(json::Writer& writer, const std::string& outOfDate) {
  if (!outOfDate.empty()) writer.member("outOfDate", outOfDate);
  writer.endObject();
}

CallResult<UsageBy> readUsageBy(std::string_view name) {
  constexpr std::pair<std::string_view, UsageBy> kGroupings[] = {
      {"day", UsageBy::Day},         {"week", UsageBy::Week}, {"month", UsageBy::Month},
      {"session", UsageBy::Session}, {"key", UsageBy::Key},   {"model", UsageBy::Model}};
  const auto* grouping = std::ranges::find(kGroupings, name, [](const auto& pair) { return pair.first; });
  if (grouping == std::end(kGroupings)) return refuse("\"by\" is not day, week, month, session, key or model");
  return grouping->second;
}

}  // namespace
}  // namespace bough::capi

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_list(bough_store* store, bough_text query_json, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, optionalText(query_json, "query_json"));
    JsonOptions reader(text);
    ListOptions options;
    options.models = false;
    readFilter(reader, options.filter);
    readLimit(reader, "limit", options.limit);
    readLimit(reader, "skip", options.skip);
    BOUGH_TRY(options.after, readPlace(reader));
    BOUGH_TRY(reader.outcome());
    return object->withCatalog(false, [&](Catalog& catalog, const std::string& outOfDate) -> Outcome {
      BOUGH_TRY(const auto rows, catalog.list(options));
      json::Writer writer;
      writer.beginObject().key("sessions").beginArray();
      for (const SessionSummary& row : rows) writeSession(writer, row);
      writer.endArray();
      endAnswer(writer, outOfDate);
      return returnText(writer.text(), json);
    });
  });
}

int32_t bough_search(bough_store* store, bough_text words, bough_text query_json, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto query, requiredText(words, "words"));
    BOUGH_TRY(const auto text, optionalText(query_json, "query_json"));
    JsonOptions reader(text);
    SearchOptions options;
    readFilter(reader, options.filter);
    reader.read("session", options.filter.session);
    reader.read("roles", options.roles);
    readLimit(reader, "limit", options.limit);
    BOUGH_TRY(reader.outcome());
    return object->withCatalog(true, [&](Catalog& catalog, const std::string& outOfDate) -> Outcome {
      BOUGH_TRY(auto hits, catalog.search(query, options));
      json::Writer writer;
      writer.beginObject().key("hits").beginArray();
      for (SearchHit& hit : hits) {
        std::erase_if(hit.excerpt, [](char c) { return c == kMarkBegin || c == kMarkEnd; });
        writer.beginObject().member("sessionId", hit.sessionId).member("title", hit.title);
        writer.member("entryId", hit.entryId).member("role", hit.role).member("timestampMs", hit.timeMs);
        writer.member("excerpt", hit.excerpt).endObject();
      }
      writer.endArray();
      endAnswer(writer, outOfDate);
      return returnText(writer.text(), json);
    });
  });
}

int32_t bough_usage(bough_store* store, bough_text query_json, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, optionalText(query_json, "query_json"));
    JsonOptions reader(text);
    UsageOptions options;
    std::string by = "day";
    reader.read("by", by);
    reader.read("sinceMs", options.sinceMs);
    reader.read("untilMs", options.untilMs);
    reader.read("session", options.session);
    BOUGH_TRY(reader.outcome());
    BOUGH_TRY(options.by, readUsageBy(by));
    return object->withCatalog(false, [&](Catalog& catalog, const std::string& outOfDate) -> Outcome {
      BOUGH_TRY(const auto report, catalog.usage(options));
      json::Writer writer;
      writer.beginObject().key("rows").beginArray();
      for (const UsageRow& row : report.rows) writeUsage(writer, row);
      writer.endArray().key("total");
      writeUsage(writer, report.total);
      endAnswer(writer, outOfDate);
      return returnText(writer.text(), json);
    });
  });
}

}  // extern "C"
