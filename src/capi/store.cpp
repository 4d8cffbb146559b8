// Stores and sessions: open, create, close.
#include "base/json/json_write.h"
#include "base/model/out_of_date.h"
#include "base/try.h"
#include "capi/json_options.h"
#include "capi/objects.h"

namespace bough::capi {

Outcome StoreObject::catchUp(std::unique_ptr<Catalog>& catalog, bool search, std::string& outOfDate) const {
  if (!catalog) {
    BOUGH_TRY(catalog, Catalog::open(*store));
  }
  CatchUpOptions options;
  options.search = search;
  auto done = catalog->catchUp(options);
  if (done) return {};
  if (!canAnswerDespite(done.error())) return std::unexpected(std::move(done.error()));
  outOfDate = std::move(done.error().message);
  return {};
}

namespace {

CallResult<StoreOptions> readStoreOptions(const bough_store_options* options) {
  BOUGH_TRY(const auto read, completeOptions(options, bough_store_options_init));
  if (read.durability != BOUGH_SYNC && read.durability != BOUGH_BUFFERED) {
    return refuse("durability is neither BOUGH_SYNC nor BOUGH_BUFFERED");
  }
  if (read.buffered_ms < 0 || read.lock_timeout_ms < 0) return refuse("a time is negative");
  StoreOptions store;
  store.durability = read.durability == BOUGH_SYNC ? Durability::Sync : Durability::Buffered;
  store.bufferedEntries = read.buffered_entries;
  store.bufferedMs = read.buffered_ms;
  store.create = read.create != 0;
  store.attachmentBytes = read.attachment_bytes;
  store.lockTimeoutMs = read.lock_timeout_ms;
  return store;
}

CallResult<NewSession> readNewSession(const bough_new_session* options) {
  BOUGH_TRY(const auto read, completeOptions(options, bough_new_session_init));
  NewSession session;
  BOUGH_TRY(session.sessionId, optionalText(read.id, "id"));
  BOUGH_TRY(session.key, optionalText(read.key, "key"));
  BOUGH_TRY(session.cwd, optionalText(read.cwd, "cwd"));
  BOUGH_TRY(session.title, optionalText(read.title, "title"));
  return session;
}

}  // namespace
}  // namespace bough::capi

using namespace bough;
using namespace bough::capi;

extern "C" {

void bough_store_options_init(bough_store_options* options, uint32_t struct_size) {
  const StoreOptions defaults;
  initOptions(options, struct_size,
              {sizeof(bough_store_options), BOUGH_SYNC, defaults.bufferedEntries, defaults.bufferedMs,
               defaults.create ? 1 : 0, defaults.attachmentBytes, defaults.lockTimeoutMs});
}

void bough_new_session_init(bough_new_session* options, uint32_t struct_size) {
  initOptions(options, struct_size,
              {sizeof(bough_new_session), {nullptr, 0}, {nullptr, 0}, {nullptr, 0}, {nullptr, 0}});
}

int32_t bough_store_open(bough_text location, const bough_store_options* options, bough_store** out) {
  return runCall(nullptr, [&]() -> Outcome {
    BOUGH_TRY(requireOutParameter(out));
    BOUGH_TRY(const auto text, optionalText(location, "location"));
    BOUGH_TRY(const auto read, readStoreOptions(options));
    std::string path(text);
    if (location.data == nullptr) {
      BOUGH_TRY(path, defaultLocation());
    }
    BOUGH_TRY(auto store, SessionStore::open(path, read));
    return returnObject(std::make_shared<StoreObject>(std::move(store)), out);
  });
}

int32_t bough_store_close(bough_store* store) {
  if (store == nullptr) return BOUGH_OK;
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    auto closed = object->store->close();
    if (closed || !closed.error().retryable) removeObject(store);
    if (!closed) return std::unexpected(Failure(std::move(closed.error())));
    return {};
  });
}

int32_t bough_store_flush(bough_store* store) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(object->store->flush());
    return {};
  });
}

int32_t bough_store_list_ids(bough_store* store, bough_text* json) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto ids, object->store->listSessions());
    json::Writer writer;
    writer.beginObject();
    writer.list("sessionIds", ids);
    return returnText(writer.endObject().text(), json);
  });
}

int32_t bough_session_create(bough_store* store, const bough_new_session* options, bough_session** out) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto session, readNewSession(options));
    BOUGH_TRY(requireOutParameter(out));
    BOUGH_TRY(auto made, object->store->create(session));
    return returnObject(std::make_shared<SessionObject>(object, std::move(made)), out);
  });
}

int32_t bough_session_open(bough_store* store, bough_text id, bough_session** out) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto sessionId, requiredText(id, "id"));
    BOUGH_TRY(auto found, object->store->session(std::string(sessionId)));
    BOUGH_TRY(found.state());  // fails when the session does not exist
    return returnObject(std::make_shared<SessionObject>(object, std::move(found)), out);
  });
}

void bough_session_close(bough_session* session) {
  if (std::dynamic_pointer_cast<SessionObject>(findObject(session))) removeObject(session);
}

int32_t bough_session_id(bough_session* session, bough_text* id) {
  return runCallOn<SessionObject>(session,
                                  [&](const auto& object) -> Outcome { return returnText(object->session.id(), id); });
}

int32_t bough_session_state(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto state, object->session.state());
    json::Writer writer;
    writer.beginObject().member("sessionId", state.sessionId).member("entryCount", state.entryCount);
    writer.member("tailId", state.tailId).member("headId", state.headId).key("origin");
    if (state.origin) {
      writer.beginObject().member("sessionId", state.origin->sessionId).member("entryId", state.origin->entryId);
      writer.endObject();
    } else {
      writer.null();
    }
    writer.member("archived", state.archived).member("bytes", state.bytes);
    return returnText(writer.member("problemCount", state.problemCount).endObject().text(), json);
  });
}

int32_t bough_fork(bough_session* session, bough_text entry_id, const bough_new_session* options, bough_session** out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto entry, requiredText(entry_id, "entry_id"));
    BOUGH_TRY(const auto made, readNewSession(options));
    BOUGH_TRY(requireOutParameter(out));
    BOUGH_TRY(auto fork, object->session.fork(std::string(entry), made));
    return returnObject(std::make_shared<SessionObject>(object->parent, std::move(fork)), out);
  });
}

int32_t bough_attachment_put(bough_store* store, bough_text bytes, bough_text* sha256) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto content, optionalText(bytes, "bytes"));
    BOUGH_TRY(requireOutParameter(sha256));
    constexpr std::size_t kDigits = 64;
    ResultText resultText(kDigits);
    BOUGH_TRY(const auto name, object->store->putAttachment(content));
    resultText.text() = name;
    resultText.moveTo(sha256);
    return {};
  });
}

int32_t bough_attachment_get(bough_store* store, bough_text sha256, bough_text* bytes) {
  return runCallOn<StoreObject>(store, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto name, requiredText(sha256, "sha256"));
    BOUGH_TRY(const auto content, object->store->readAttachment(std::string(name)));
    return returnText(content, bytes);
  });
}

}  // extern "C"
