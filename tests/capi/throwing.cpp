// Callbacks of a C++ program. When one throws, following ends, its user data is destroyed, and the session still works.
// Also a follower that is started twice, or closed by several threads at once.
#include <bough/bough_c.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

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

std::int32_t ignoring(void* data, bough_entries* entries, std::int32_t /*code*/) {
  bough_entries_close(entries);
  ++*static_cast<std::atomic<int>*>(data);
  static_cast<std::atomic<int>*>(data)->notify_all();
  return 1;
}

// While the callback's thread waits for entries, possibly forever.
void startTwice(bough_session* session) {
  bough_follower* follower = nullptr;
  std::atomic<int> seen = 0;
  require(bough_follower_open(session, {nullptr, 0}, &follower) == BOUGH_OK, "follow");
  require(bough_follower_start(follower, ignoring, &seen, nullptr) == BOUGH_OK, "start");
  seen.wait(0);
  require(bough_follower_start(follower, ignoring, &seen, nullptr) == BOUGH_INVALID_ARGUMENT, "a second start");
  bough_follower_close(follower);
}

void closeFromManyThreads(bough_session* session) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 200; ++round) {
    bough_follower* follower = nullptr;
    std::atomic<int> seen = 0;
    std::atomic<int> ready = 0;
    require(bough_follower_open(session, {nullptr, 0}, &follower) == BOUGH_OK, "follow");
    require(bough_follower_start(follower, ignoring, &seen, nullptr) == BOUGH_OK, "start");
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        bough_follower_close(follower);
      });
    }
  }
}

void throwOnce(bough_session* session) {
  bough_follower* follower = nullptr;
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
}

}  // namespace

int main() {
  bough_store* store = nullptr;
  bough_session* session = nullptr;
  require(bough_store_open(bough_text_of("memory:"), nullptr, &store) == BOUGH_OK, "open");
  require(bough_session_create(store, nullptr, &session) == BOUGH_OK, "create");
  throwOnce(session);
  startTwice(session);
  closeFromManyThreads(session);
  bough_session_close(session);
  require(bough_store_close(store) == BOUGH_OK, "close");
  return 0;
}
