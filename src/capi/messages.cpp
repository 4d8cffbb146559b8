// Contexts and conversion.
#include "base/json/json_write.h"
#include "base/text/utf8.h"
#include "base/try.h"
#include "bough/context.h"
#include "capi/json_options.h"
#include "capi/objects.h"

namespace bough::capi {
namespace {

CallResult<ContextOptions> readContextOptions(std::string_view text) {
  JsonOptions reader(text);
  ContextOptions options;
  std::string dialect = "anthropic";
  reader.read("dialect", dialect);
  reader.read("at", options.at);
  reader.read("budgetTokens", options.budgetTokens);
  reader.read("keepPendingCalls", options.keepPendingCalls);
  reader.read("strict", options.strict);
  reader.read("systemPrompt", options.systemPrompt);
  reader.readRaw("tools", options.tools);
  reader.read("thinkingAsText", options.thinkingAsText);
  BOUGH_TRY(reader.outcome());
  BOUGH_TRY(options.dialect, parseDialect(dialect));
  return options;
}

void writeJson(json::Writer& writer, std::string_view name, std::string_view value) {
  writer.key(name);
  value.empty() ? writer.null() : writer.raw(value);
}

}  // namespace
}  // namespace bough::capi

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_context(bough_session* session, bough_text options_json, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, optionalText(options_json, "options_json"));
    BOUGH_TRY(const auto options, readContextOptions(text));
    BOUGH_TRY(const auto context, buildContext(object->store(), object->session.id(), options));
    json::Writer writer;
    writer.beginObject().member("dialect", toString(context.dialect)).member("headId", context.headId);
    writer.member("model", context.model);
    writeJson(writer, "system", context.system);
    writeJson(writer, "tools", context.tools);
    writeJson(writer, "messages", context.messages);
    writer.member("tokens", context.tokens).member("turnsLeftOut", context.turnsLeftOut);
    return returnText(writer.key("report").raw(context.report.toJson()).endObject().text(), json);
  });
}

int32_t bough_unfinished_calls(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto calls, unfinishedToolCalls(object->store(), object->session.id()));
    json::Writer writer;
    writer.beginObject().key("calls").beginArray();
    for (const UnfinishedToolCall& call : calls) {
      writer.beginObject().member("entryId", call.entryId).member("toolCallId", call.toolCallId);
      writer.member("name", call.name);
      writeJson(writer, "input", call.input);
      writer.member("started", call.started).endObject();
    }
    return returnText(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_convert(bough_text document, bough_text from, bough_text to, bough_text way_back, bough_text* json) {
  return runCall(nullptr, [&]() -> Outcome {
    BOUGH_TRY(const auto text, requiredText(document, "document"));
    if (!isUtf8(text)) return refuse("document is not UTF-8");  // the result would not be JSON either
    BOUGH_TRY(const auto fromName, requiredText(from, "from"));
    BOUGH_TRY(const auto toName, requiredText(to, "to"));
    BOUGH_TRY(const auto source, parseDialect(fromName));
    BOUGH_TRY(const auto target, parseDialect(toName));
    BOUGH_TRY(const auto kept, optionalText(way_back, "way_back"));
    const WayBack wayBack{std::string(kept)};
    BOUGH_TRY(const auto done, convertHistory(text, source, target, {}, kept.empty() ? nullptr : &wayBack));
    json::Writer writer;
    writer.beginObject().member("document", done.document).member("wayBack", done.wayBack.json);
    return returnText(writer.key("report").raw(done.report.toJson()).endObject().text(), json);
  });
}

int32_t bough_migrate_provider(bough_session* session, bough_text dialect, bough_session** out, bough_text* report) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto name, requiredText(dialect, "dialect"));
    BOUGH_TRY(const auto target, parseDialect(name));
    BOUGH_TRY(requireOutParameter(out));
    BOUGH_TRY(auto migrated, migrate(object->store(), object->session.id(), target));
    BOUGH_TRY(auto fork, object->store().session(migrated.sessionId));
    auto opened = std::make_shared<SessionObject>(object->parent, std::move(fork));
    if (report == nullptr) return returnObject(std::move(opened), out);
    // Return either both results or none.
    bough_text reportText{};
    BOUGH_TRY(returnText(migrated.report.toJson(), &reportText));
    const Outcome returned = returnObject(std::move(opened), out);
    if (!returned) bough_free(reportText);
    if (returned) *report = reportText;
    return returned;
  });
}

}  // extern "C"
