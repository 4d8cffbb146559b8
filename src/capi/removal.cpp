// The trash, erasure, and unused attachments.
#include <algorithm>

#include "base/json/json_write.h"
#include "base/try.h"
#include "bough/maintenance.h"
#include "capi/json_options.h"
#include "capi/objects.h"

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_trash(bough_store* store, bough_text session_id, bough_text* trash_id) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto session, requiredText(session_id, "session_id"));
    BOUGH_TRY(requireOutParameter(trash_id));
    constexpr std::size_t kTimeBytes = 32;
    ResultText resultText(session.size() + kTimeBytes);
    BOUGH_TRY(const auto trashed, object->store->trashSession(std::string(session)));
    resultText.text() = trashed.trashId;
    resultText.moveTo(trash_id);
    return {};
  });
}

int32_t bough_trash_list(bough_store* store, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto trashed, object->store->listTrash());
    json::Writer writer;
    writer.beginObject().key("trashed").beginArray();
    for (const TrashedSession& each : trashed) {
      writer.beginObject().member("trashId", each.trashId).member("sessionId", each.sessionId);
      writer.member("removedMs", each.removedMs).member("bytes", each.bytes).endObject();
    }
    return returnText(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_trash_restore(bough_store* store, bough_text trash_id) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto id, requiredText(trash_id, "trash_id"));
    BOUGH_TRY(object->store->restoreSession(std::string(id)));
    return {};
  });
}

int32_t bough_trash_remove(bough_store* store, bough_text trash_id) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto id, requiredText(trash_id, "trash_id"));
    // A mistyped name must not look like a successful removal.
    BOUGH_TRY(const auto trash, object->store->listTrash());
    if (std::ranges::find(trash, id, &TrashedSession::trashId) == trash.end()) {
      return fail(ErrorCode::NotFound, "there is no session of that name in the trash");
    }
    BOUGH_TRY(object->store->emptyTrash({std::string(id)}));
    return {};
  });
}

int32_t bough_erase(bough_session* session, bough_text request_json, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, requiredText(request_json, "request_json"));
    BOUGH_TRY(requireOutParameter(json));
    Erasure erasure;
    erasure.sessionId = object->session.id();
    JsonOptions reader(text);
    reader.read("entryIds", erasure.entryIds);
    reader.read("by", erasure.by);
    reader.read("reason", erasure.reason);
    BOUGH_TRY(reader.outcome());
    BOUGH_TRY(const auto report, object->store().maintenance().erase(erasure));
    json::Writer writer;
    writer.beginObject().member("timestamp", report.timestamp).key("entries").beginArray();
    for (const ErasedEntry& entry : report.entries) {
      writer.beginObject().member("entryId", entry.entryId).member("receiptId", entry.receiptId);
      writer.member("sha256", entry.sha256).member("bytes", entry.bytes).endObject();
    }
    writer.endArray();
    writer.list("rewritten", report.rewritten);
    writer.member("removedAttachments", report.removedAttachments);
    writer.list("keptAttachments", report.keptAttachments);
    writer.list("unreached", report.unreached);
    return returnText(writer.endObject().text(), json);
  });
}

int32_t bough_attachment_unused(bough_store* store, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto unused, object->store->findUnusedAttachments());
    json::Writer writer;
    writer.beginObject();
    writer.list("unused", unused);
    return returnText(writer.endObject().text(), json);
  });
}

int32_t bough_attachment_remove(bough_store* store, bough_text request_json, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, requiredText(request_json, "request_json"));
    BOUGH_TRY(requireOutParameter(json));
    std::vector<std::string> names;
    JsonOptions reader(text);
    reader.read("unused", names);
    BOUGH_TRY(reader.outcome());
    ResultText resultText(kNumbersBytes);
    BOUGH_TRY(const std::uint64_t removed, object->store->removeUnusedAttachments(names));
    json::Writer(resultText.text()).beginObject().member("removed", removed).endObject();
    resultText.moveTo(json);
    return {};
  });
}

}  // extern "C"
