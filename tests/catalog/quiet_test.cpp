// A list without changes writes nothing and opens no log, as reported by the kernel.
#include <sys/inotify.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "catalog_support.h"

namespace bough {
namespace {

// Records what happens to the files of a folder.
class Witness {
 public:
  explicit Witness(const std::string& folder) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    ::inotify_add_watch(fd_, folder.c_str(), IN_OPEN | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVE | IN_ATTRIB);
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { ::close(fd_); }

  struct Seen {
    std::set<std::string> opened;
    std::set<std::string> changed;
  };
  Seen seen() const {
    Seen seen;
    alignas(inotify_event) char buffer[16384];
    for (ssize_t got = 0; (got = ::read(fd_, buffer, sizeof buffer)) > 0;) {
      for (ssize_t at = 0; at < got;) {
        inotify_event event{};
        std::memcpy(&event, buffer + at, sizeof event);
        const std::string name = event.len > 0 ? buffer + at + sizeof event : "";
        ((event.mask & IN_OPEN) != 0 ? seen.opened : seen.changed).insert(name);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
    return seen;
  }

 private:
  int fd_;
};

class QuietTest : public CatalogTest {
 protected:
  // Waits until the file system's clock has advanced since the catalog was written.
  void waitUntilQuiet() {
    const auto written = std::filesystem::last_write_time(folder / "catalog.db");
    while (std::filesystem::file_time_type::clock::now() < written + std::chrono::milliseconds(30)) {
      std::this_thread::yield();
    }
  }
};

TEST_F(QuietTest, ASecondListWritesNothingAndReadsNoLog) {
  for (int i = 0; i < 5; ++i) make({.sessionId = "s" + std::to_string(i)}, {said("user", "hello")});
  must(store->archiveSession("s1"));
  const auto list = [&] {
    auto mine = must(SessionStore::open(folder.path().string(), {.create = false}));
    auto catalog = must(Catalog::open(*mine));
    must(catalog->catchUp());
    return idsOf(must(catalog->list()));
  };
  const Ids first = list();
  waitUntilQuiet();
  const Witness root(folder.path().string());
  const Witness sessions(folder / "sessions");
  const Witness archive(folder / "archive");
  EXPECT_EQ(list(), first);
  for (const Witness* each : {&root, &sessions, &archive}) EXPECT_EQ(each->seen().changed, std::set<std::string>());
}

TEST_F(QuietTest, NoLogIsOpened) {
  for (int i = 0; i < 5; ++i) make({.sessionId = "s" + std::to_string(i)}, {said("user", "hello")});
  open();
  waitUntilQuiet();
  auto mine = must(SessionStore::open(folder.path().string(), {.create = false}));
  const Witness sessions(folder / "sessions");
  auto catalog = must(Catalog::open(*mine));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->list()).size(), 5u);
  for (const std::string& name : sessions.seen().opened) EXPECT_EQ(name, "");  // the folder itself may be listed
  append("s1", {said("user", "more")});
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->session("s1")).userMessages, 2u);
}

TEST_F(QuietTest, WhatAnotherWritesMeanwhileIsSeen) {
  make({.sessionId = "a"}, {said("user", "hello")});
  open();
  waitUntilQuiet();
  auto quiet = must(Catalog::open(*store));
  EXPECT_EQ(must(quiet->count()), 1u);
  make({.sessionId = "b"}, {said("user", "hello")});
  open();  // another catalog takes it in and closes, which writes the file
  EXPECT_EQ(must(quiet->count()), 2u);
}

}  // namespace
}  // namespace bough
