// A C++ program whose callback throws: the following ends, what it was given is destroyed, and the session goes on.
#include <bough/bough_c.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace {

std::atomic<int> called = 0;
std::atomic<bool> destroyed = false;

void require(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

void append(bough_session* session) {
  bough_entry entry{};
  entry.type = bough_text_of("message");
  entry.payload = bough_text_of(R"({"dialect":"bough","message":{"role":"user","content":"hello"}})");
  bough_text id{};
  require(bough_append(session, &entry, 1, nullptr, nullptr, &id) == BOUGH_OK, "append");
  bough_free(id);
}

std::int32_t throwing(void* /*data*/, bough_entries* entries, std::int32_t /*code*/) {
  bough_entries_close(entries);
  ++called;
  throw std::runtime_error("not our business");
}

}  // namespace

int main() {
  bough_store* store = nullptr;
  bough_session* session = nullptr;
  bough_follower* follower = nullptr;
  require(bough_store_open(bough_text_of("memory:"), nullptr, &store) == BOUGH_OK, "open");
  require(bough_session_create(store, nullptr, &session) == BOUGH_OK, "create");
  require(bough_follower_open(session, {nullptr, 0}, &follower) == BOUGH_OK, "follow");
  const auto destroy = [](void*) {
    destroyed = true;
    destroyed.notify_all();
  };
  require(bough_follower_start(follower, throwing, nullptr, destroy) == BOUGH_OK, "start");
  append(session);
  destroyed.wait(false);
  append(session);
  bough_follower_close(follower);
  require(called == 1, "a callback that threw is not called again");
  bough_session_close(session);
  require(bough_store_close(store) == BOUGH_OK, "close");
  return 0;
}
