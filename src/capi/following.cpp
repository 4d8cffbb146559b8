// Cursors and followers.
#include "base/system/threads.h"
#include "base/try.h"
#include "capi/objects.h"

namespace bough::capi {
namespace {

// Runs a callback of the program. A callback that throws ends the follower, like a callback that returns 0.
bool call(const auto& callback) noexcept {
  try {
    return callback();
  } catch (...) {
    return false;
  }
}

// Passes new entries to the callback, until the callback or the follower ends.
void runCallback(FollowerObject& object, bough_follow_callback callback, void* data) noexcept {
  while (!object.stopped) {
    bough_entries* handle = nullptr;
    const std::int32_t code = runCall(nullptr, [&]() -> Outcome {
      BOUGH_TRY(const auto use, object.exclusiveUse.begin());
      BOUGH_TRY(auto entries, object.follower.next(-1));
      return entries.empty() ? Outcome() : returnEntries(entries, &handle);
    });
    if (code != BOUGH_OK) {
      call([&] { return callback(data, nullptr, code) != 0; });
      return;
    }
    if (handle != nullptr && !call([&] { return callback(data, handle, BOUGH_OK) != 0; })) return;
  }
}

}  // namespace

FollowerObject::~FollowerObject() {
  stop();
  join();
}

void FollowerObject::stop() {
  stopped = true;
  if (isInterruptedByFork()) return;
  follower.stop();
}

Result<void> FollowerObject::start(std::function<void()> run) {
  const std::lock_guard lock(threadMutex_);
  BOUGH_TRY(thread_, startThread("for the callback", std::move(run)));
  hasCallback = true;
  return {};
}

void FollowerObject::join() {
  const std::lock_guard lock(threadMutex_);  // several threads may close the follower at once
  if (thread_.joinable()) thread_.join();
}

}  // namespace bough::capi

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_cursor_open(bough_session* session, bough_text position, bough_cursor** out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto at, optionalText(position, "position"));
    BOUGH_TRY(auto cursor, object->session.cursor(std::string(at)));
    return returnObject(std::make_shared<CursorObject>(object, std::move(cursor)), out);
  });
}

int32_t bough_cursor_next(bough_cursor* cursor, size_t count, bough_entries** out) {
  return runCallOn<CursorObject>(cursor, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(out));
    if (count == 0) return refuse("count is 0; no entries mean the end");
    BOUGH_TRY(const auto use, object->exclusiveUse.begin());
    SessionCursor& reader = object->cursor;
    return object->pending.next(reader.position(), count, [&] { return reader.next(count); }, out);
  });
}

int32_t bough_cursor_position(bough_cursor* cursor, bough_text* position) {
  return runCallOn<CursorObject>(cursor, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto use, object->exclusiveUse.begin());
    return returnText(object->pending.position(object->cursor.position()), position);
  });
}

void bough_cursor_close(bough_cursor* cursor) {
  if (std::dynamic_pointer_cast<CursorObject>(findObject(cursor))) removeObject(cursor);
}

int32_t bough_follower_open(bough_session* session, bough_text position, bough_follower** out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto at, optionalText(position, "position"));
    BOUGH_TRY(auto follower, object->session.follow(std::string(at)));
    return returnObject(std::make_shared<FollowerObject>(object, std::move(follower)), out);
  });
}

int32_t bough_follower_next(bough_follower* follower, int32_t timeout_ms, bough_entries** out) {
  return runCallOn<FollowerObject>(follower, [&](const auto& object) -> Outcome {
    if (timeout_ms < -1) return refuse("timeout_ms is negative");
    BOUGH_TRY(requireOutParameter(out));
    if (object->hasCallback) return refuse("the follower has a callback");
    BOUGH_TRY(const auto use, object->exclusiveUse.begin());
    if (object->stopped) return returnEntries({}, out);
    SessionFollower& reader = object->follower;
    return object->pending.next(reader.position(), SIZE_MAX, [&] { return reader.next(timeout_ms); }, out);
  });
}

int32_t bough_follower_position(bough_follower* follower, bough_text* position) {
  return runCallOn<FollowerObject>(follower, [&](const auto& object) -> Outcome {
    if (object->hasCallback) return refuse("the follower has a callback: the last entry it got is its position");
    BOUGH_TRY(const auto use, object->exclusiveUse.begin());
    return returnText(object->pending.position(object->follower.position()), position);
  });
}

int32_t bough_follower_stop(bough_follower* follower) {
  return runCallOn<FollowerObject>(follower, [&](const auto& object) -> Outcome {
    object->stop();
    return {};
  });
}

int32_t bough_follower_start(bough_follower* follower, bough_follow_callback callback, void* data,
                             void (*destroy)(void*)) {
  return runCallOn<FollowerObject>(follower, [&](const auto& object) -> Outcome {
    if (callback == nullptr) return refuse("there is no callback");
    constexpr std::string_view kTwice = "the follower has a callback already";
    if (object->hasCallback) return refuse(kTwice);  // its thread holds the turn while it waits for entries
    BOUGH_TRY(const auto use, object->exclusiveUse.begin());
    if (object->hasCallback) return refuse(kTwice);
    // The object outlives its thread: close joins it.
    const auto run = [object = object.get(), callback, data, destroy] {
      object->callbackThread = std::this_thread::get_id();
      runCallback(*object, callback, data);
      call([&] { return destroy == nullptr || (destroy(data), true); });
    };
    BOUGH_TRY(object->start(run));
    return {};
  });
}

void bough_follower_close(bough_follower* follower) {
  const auto object = std::dynamic_pointer_cast<FollowerObject>(findObject(follower));
  if (!object) return;
  object->stop();
  if (object->callbackThread == std::this_thread::get_id()) return;  // its own callback: ends when the callback returns
  removeObject(follower);
  if (!object->isInterruptedByFork()) object->join();
}

}  // extern "C"
