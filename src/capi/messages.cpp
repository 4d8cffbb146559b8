// Contexts and conversion.
#include "base/json/json_write.h"
#include "base/text/utf8.h"
#include "base/try.h"
#include "bough/context.h"
#include "capi/json_options.h"
#include "capi/objects.h"

namespace bough::capi {
namespace {

Given<ContextOptions> readContextOptions(std::string_view text) {
  JsonOptions read(text);
  ContextOptions options;
  std::string dialect = "anthropic";
  read.take("dialect", dialect);
  read.take("at", options.at);
  read.take("budgetTokens", options.budgetTokens);
  read.take("keepPendingCalls", options.keepPendingCalls);
  read.take("strict", options.strict);
  read.take("systemPrompt", options.systemPrompt);
  read.takeRaw("tools", options.tools);
  read.take("thinkingAsText", options.thinkingAsText);
  BOUGH_TRY(read.outcome());
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
  return guardedOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, givenOr(options_json, "options_json"));
    BOUGH_TRY(const auto options, readContextOptions(text));
    BOUGH_TRY(const auto context, buildContext(object->store(), object->session.id(), options));
    json::Writer writer;
    writer.beginObject().member("dialect", toString(context.dialect)).member("headId", context.headId);
    writer.member("model", context.model);
    writeJson(writer, "system", context.system);
    writeJson(writer, "tools", context.tools);
    writeJson(writer, "messages", context.messages);
    writer.member("tokens", context.tokens).member("turnsLeftOut", context.turnsLeftOut);
    return give(writer.key("report").raw(context.report.toJson()).endObject().text(), json);
  });
}

int32_t bough_unfinished_calls(bough_session* session, bough_text* json) {
  return guardedOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto calls, unfinishedToolCalls(object->store(), object->session.id()));
    json::Writer writer;
    writer.beginObject().key("calls").beginArray();
    for (const UnfinishedToolCall& call : calls) {
      writer.beginObject().member("entryId", call.entryId).member("toolCallId", call.toolCallId);
      writer.member("name", call.name);
      writeJson(writer, "input", call.input);
      writer.member("started", call.started).endObject();
    }
    return give(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_convert(bough_text document, bough_text from, bough_text to, bough_text way_back, bough_text* json) {
  return guarded(nullptr, [&]() -> Outcome {
    BOUGH_TRY(const auto text, given(document, "document"));
    if (!isUtf8(text)) return refuse("document is not UTF-8");  // the result would not be JSON either
    BOUGH_TRY(const auto fromName, given(from, "from"));
    BOUGH_TRY(const auto toName, given(to, "to"));
    BOUGH_TRY(const auto source, parseDialect(fromName));
    BOUGH_TRY(const auto target, parseDialect(toName));
    BOUGH_TRY(const auto kept, givenOr(way_back, "way_back"));
    const WayBack wayBack{std::string(kept)};
    BOUGH_TRY(const auto done, convertHistory(text, source, target, {}, kept.empty() ? nullptr : &wayBack));
    json::Writer writer;
    writer.beginObject().member("document", done.document).member("wayBack", done.wayBack.json);
    return give(writer.key("report").raw(done.report.toJson()).endObject().text(), json);
  });
}

int32_t bough_migrate_provider(bough_session* session, bough_text dialect, bough_session** out, bough_text* report) {
  return guardedOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto name, given(dialect, "dialect"));
    BOUGH_TRY(const auto target, parseDialect(name));
    BOUGH_TRY(needPlace(out));
    BOUGH_TRY(auto migrated, migrate(object->store(), object->session.id(), target));
    BOUGH_TRY(auto fork, object->store().session(migrated.sessionId));
    auto opened = std::make_shared<SessionObject>(object->parent, std::move(fork));
    if (report == nullptr) return giveObject(std::move(opened), out);
    // Return either both results or none.
    bough_text told{};
    BOUGH_TRY(give(migrated.report.toJson(), &told));
    const Outcome handed = giveObject(std::move(opened), out);
    if (!handed) bough_free(told);
    if (handed) *report = told;
    return handed;
  });
}

}  // extern "C"
