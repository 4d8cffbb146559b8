// Verify, repair, migrate, archive; forks; torn bytes.
#include <climits>

#include "base/json/json_write.h"
#include "base/try.h"
#include "bough/torn.h"
#include "capi/json_options.h"
#include "capi/objects.h"

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_verify(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto report, object->store().verifySession(object->session.id()));
    json::Writer writer;
    writer.beginObject().member("entries", report.entries).member("bytes", report.bytes);
    writer.member("problemCount", report.problemCount).member("noteCount", report.noteCount);
    writer.key("problems").beginArray();
    for (const Problem& problem : report.problems) {
      writer.beginObject().member("kind", toString(problem.kind)).member("offset", problem.offset);
      writer.member("bytes", problem.bytes).member("message", problem.message).endObject();
    }
    return returnText(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_repair(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(json));
    ResultText resultText(kNumbersBytes);
    BOUGH_TRY(const auto report, object->store().repairSession(object->session.id()));
    json::Writer writer(resultText.text());
    writer.beginObject().member("tornBytes", report.tornBytes).member("damagedLines", report.damagedLines);
    writer.member("indexRebuilt", report.indexRebuilt).endObject();
    resultText.moveTo(json);
    return {};
  });
}

int32_t bough_migrate(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(json));
    constexpr std::size_t kMaxPathBytes = std::size_t{6} * PATH_MAX;  // each byte as \u00XX
    ResultText resultText(kNumbersBytes + kMaxPathBytes);
    BOUGH_TRY(const auto result, object->store().migrateSession(object->session.id()));
    json::Writer writer(resultText.text());
    writer.beginObject().key("fromFormat").number(std::int64_t{result.fromFormat});
    writer.key("toFormat").number(std::int64_t{result.toFormat});
    writer.member("entries", result.entries).member("keptAs", result.keptAs).endObject();
    resultText.moveTo(json);
    return {};
  });
}

int32_t bough_archive(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(json));
    ResultText resultText(kNumbersBytes);
    BOUGH_TRY(const auto result, object->store().archiveSession(object->session.id()));
    json::Writer writer(resultText.text());
    writer.beginObject().member("bytesBefore", result.bytesBefore).member("bytesAfter", result.bytesAfter).endObject();
    resultText.moveTo(json);
    return {};
  });
}

int32_t bough_forks(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto forks, object->store().forksOf(object->session.id()));
    json::Writer writer;
    writer.beginObject();
    writer.list("sessionIds", forks);
    return returnText(writer.endObject().text(), json);
  });
}

int32_t bough_detach(bough_session* session, int32_t rest) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    const StoreMaintenance maintenance = object->store().maintenance();
    BOUGH_TRY(rest != 0 ? maintenance.detachRest(object->session.id()) : maintenance.detach(object->session.id()));
    return {};
  });
}

int32_t bough_torn(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto report, readTorn(object->store(), object->session.id()));
    json::Writer writer;
    writer.beginObject().member("fileBytes", report.fileBytes).key("records").beginArray();
    for (const TornRecord& record : report.records) {
      writer.beginObject().member("offset", record.offset).member("bytes", record.bytes);
      writer.member("timestamp", record.timestamp).key("entries").beginArray();
      for (const Entry& entry : record.entries) {
        writer.beginObject().member("entryId", entry.id).member("type", entry.type).endObject();
      }
      writer.endArray().member("unreadableBytes", record.unreadableBytes).endObject();
    }
    return returnText(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_torn_put_back(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(json));
    ResultText resultText(kNumbersBytes);
    BOUGH_TRY(const auto done, putBackTorn(object->store(), object->session.id()));
    json::Writer writer(resultText.text());
    writer.beginObject().member("appendedCount", done.appendedCount).member("storedCount", done.storedCount);
    writer.member("movedCount", done.movedCount).member("keptBytes", done.keptBytes).endObject();
    resultText.moveTo(json);
    return {};
  });
}

int32_t bough_torn_drop(bough_session* session, uint64_t file_bytes) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(dropTorn(object->store(), object->session.id(), file_bytes));
    return {};
  });
}

}  // extern "C"
