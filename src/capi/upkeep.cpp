// Verify, repair, migrate, archive, trash.
#include "base/json/json_write.h"
#include "base/try.h"
#include "capi/objects.h"

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_verify(bough_session* session, bough_text* json) {
  return guarded(session, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<SessionObject>(session));
    BOUGH_TRY(const auto report, object->store().verifySession(object->id));
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("entries", report.entries).member("bytes", report.bytes);
    writer.member("problemCount", report.problemCount).member("noteCount", report.noteCount);
    writer.key("problems").beginArray();
    for (const Problem& problem : report.problems) {
      writer.beginObject().member("kind", toString(problem.kind)).member("offset", problem.offset);
      writer.member("bytes", problem.bytes).member("message", problem.message).endObject();
    }
    writer.endArray().endObject();
    return give(out, json);
  });
}

int32_t bough_repair(bough_session* session, bough_text* json) {
  return guarded(session, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<SessionObject>(session));
    BOUGH_TRY(const auto report, object->store().repairSession(object->id));
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("tornBytes", report.tornBytes).member("damagedLines", report.damagedLines);
    writer.member("indexRebuilt", report.indexRebuilt).endObject();
    return give(out, json);
  });
}

int32_t bough_migrate(bough_session* session, bough_text* json) {
  return guarded(session, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<SessionObject>(session));
    BOUGH_TRY(const auto result, object->store().migrateSession(object->id));
    std::string out;
    json::Writer writer(out);
    writer.beginObject().key("fromFormat").number(std::int64_t{result.fromFormat});
    writer.key("toFormat").number(std::int64_t{result.toFormat});
    writer.member("entries", result.entries).member("keptAs", result.keptAs).endObject();
    return give(out, json);
  });
}

int32_t bough_archive(bough_session* session, bough_text* json) {
  return guarded(session, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<SessionObject>(session));
    BOUGH_TRY(const auto result, object->store().archiveSession(object->id));
    std::string out;
    json::Writer writer(out);
    writer.beginObject().member("bytesBefore", result.bytesBefore).member("bytesAfter", result.bytesAfter).endObject();
    return give(out, json);
  });
}

int32_t bough_trash(bough_store* store, bough_text session_id, bough_text* trash_id) {
  return guarded(store, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<StoreObject>(store));
    BOUGH_TRY(const auto session, given(session_id, "session_id"));
    if (trash_id == nullptr) return refuse("there is no place for the result");
    BOUGH_TRY(const auto trashed, object->store->trashSession(std::string(session)));
    return give(trashed.trashId, trash_id);
  });
}

int32_t bough_trash_list(bough_store* store, bough_text* json) {
  return guarded(store, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<StoreObject>(store));
    BOUGH_TRY(const auto trashed, object->store->listTrash());
    std::string out;
    json::Writer writer(out);
    writer.beginObject().key("trashed").beginArray();
    for (const TrashedSession& each : trashed) {
      writer.beginObject().member("trashId", each.trashId).member("sessionId", each.sessionId);
      writer.member("removedMs", each.removedMs).member("bytes", each.bytes).endObject();
    }
    writer.endArray().endObject();
    return give(out, json);
  });
}

int32_t bough_trash_restore(bough_store* store, bough_text trash_id) {
  return guarded(store, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<StoreObject>(store));
    BOUGH_TRY(const auto id, given(trash_id, "trash_id"));
    BOUGH_TRY(object->store->restoreSession(std::string(id)));
    return {};
  });
}

int32_t bough_trash_remove(bough_store* store, bough_text trash_id) {
  return guarded(store, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<StoreObject>(store));
    BOUGH_TRY(const auto id, given(trash_id, "trash_id"));
    BOUGH_TRY(object->store->emptyTrash({std::string(id)}));
    return {};
  });
}

}  // extern "C"
