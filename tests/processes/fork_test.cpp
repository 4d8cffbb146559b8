// A store that is used on both sides of fork(2).

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/system/file_system.h"
#include "bough/catalog.h"
#include "processes/helper.h"
#include "support/entries.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

// A child process that continues with a copy of this process's memory. It reports through a pipe, and ends when `work`
// ends.
class ForkedChild {
 public:
  explicit ForkedChild(const std::function<void(const std::function<void(const std::string&)>&)>& work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      std::mutex writing;
      work([&](const std::string& line) {
        const std::lock_guard lock(writing);
        const std::string text = line + "\n";
        if (::write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  ~ForkedChild() { ::close(pipe_); }

  // Returns everything that it reports until it ends, which must happen within a minute.
  std::vector<std::string> finish() {
    std::string text;
    char bytes[4096];
    pollfd polled{.fd = pipe_, .events = POLLIN, .revents = 0};
    for (;;) {
      if (::poll(&polled, 1, 60'000) == 0) {
        ADD_FAILURE() << "the child hangs";
        ::kill(pid_, SIGKILL);
      }
      const ssize_t got = ::read(pipe_, bytes, sizeof bytes);
      if (got <= 0) break;
      text.append(bytes, static_cast<std::size_t>(got));
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      lines.push_back(text.substr(0, end));
    }
    return lines;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

void expectEachOnce(SessionStore& store, const std::string& session, const std::set<std::string>& acknowledged) {
  std::map<std::string, int> found;
  for (const Entry& entry : must(store.loadSessionEntries(session))) ++found[entry.id];
  for (const std::string& id : acknowledged) EXPECT_EQ(found[id], 1) << id;
  const auto report = must(store.verifySession(session));
  EXPECT_EQ(report.problemCount, 0U);
}

// Threads of the parent work, holding arbitrary locks, while children are forked and also work.
void appendOnBothSides(const StoreOptions& options) {
  constexpr int kThreads = 4;
  constexpr int kChildren = 8;
  constexpr int kEach = 40;
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string(), options));
  must(store->createSession({.sessionId = "s"}));
  must(store->createSession({.sessionId = "t"}));
  std::set<std::string> acknowledged;
  std::mutex noting;
  const auto work = [&](const std::string& name, const std::function<void(const std::string&)>& note, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string id = name + "-" + std::to_string(i);
      const auto result = store->appendSessionEntries(i % 3 == 0 ? "t" : "s", {message("x", id)});
      note(result ? id : "bad " + result.error().message);
      if (i % 8 == 0 && !store->loadSessionEntries("s", {.last = 5})) note("bad load");
    }
  };
  std::atomic<bool> forking = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto note = [&](const std::string& id) {
        const std::lock_guard lock(noting);
        acknowledged.insert(id);
      };
      for (int round = 0; forking || round == 0; ++round) {
        work("p" + std::to_string(i) + "-" + std::to_string(round), note, 10);
      }
    });
  }
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (int c = 0; c < kChildren; ++c) {
    std::this_thread::sleep_for(std::chrono::microseconds(700 * c));
    children.push_back(std::make_unique<ForkedChild>([&](const auto& report) {
      std::vector<std::thread> mine;
      for (int i = 0; i < 2; ++i) {
        mine.emplace_back([&, i] { work("c" + std::to_string(c) + "-" + std::to_string(i), report, kEach); });
      }
      for (std::thread& thread : mine) thread.join();
      if (const auto flushed = store->flush(); !flushed) report("bad flush: " + flushed.error().message);
      if (const auto closed = store->close(); !closed) report("bad close: " + closed.error().message);
    }));
  }
  for (auto& child : children) {
    for (const std::string& line : child->finish()) {
      const std::lock_guard lock(noting);
      acknowledged.insert(line);
    }
  }
  forking = false;
  for (std::thread& thread : threads) thread.join();
  must(store->flush());
  for (const std::string& id : acknowledged) ASSERT_FALSE(id.starts_with("bad")) << id;
  ASSERT_GE(acknowledged.size(), std::size_t{kChildren} * 2 * kEach);
  std::set<std::string> first;
  std::set<std::string> second;
  for (const std::string& id : acknowledged) {
    (std::stoi(id.substr(id.rfind('-') + 1)) % 3 == 0 ? second : first).insert(id);
  }
  expectEachOnce(*store, "s", first);
  expectEachOnce(*must(SessionStore::open(folder.path().string())), "t", second);
}

TEST(Fork, ParentAndChildrenAppendDurably) {
  appendOnBothSides({});
}

TEST(Fork, ParentAndChildrenAppendBuffered) {
  appendOnBothSides({.durability = Durability::Buffered, .bufferedEntries = 7, .bufferedMs = 3});
}

// Each thread forks. Each child forks again while a thread of its own appends.
void forkFromThreads(const StoreOptions& options) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 3;
  constexpr int kEach = 6;
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string(), options));
  must(store->createSession({.sessionId = "s"}));
  const auto work = [&](const std::string& name, const std::function<void(const std::string&)>& note) {
    for (int i = 0; i < kEach; ++i) {
      const std::string id = name + std::to_string(i);
      const auto result = store->appendSessionEntries("s", {message("x", id)});
      note(result ? id : "bad " + result.error().message);
    }
  };
  const auto inChild = [&](const std::string& name, const std::function<void(const std::string&)>& report) {
    std::thread own([&] { work(name + "a", report); });
    ForkedChild grandchild([&](const auto& tell) {
      work(name + "c", tell);
      if (!store->close()) tell("bad close");
    });
    work(name + "b", report);
    for (const std::string& line : grandchild.finish()) report(line);
    own.join();
    if (!store->close()) report("bad close");
  };
  std::set<std::string> acknowledged;
  std::mutex noting;
  const auto note = [&](const std::string& id) {
    const std::lock_guard lock(noting);
    acknowledged.insert(id);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string name = "t" + std::to_string(t) + "-" + std::to_string(round);
        ForkedChild child([&](const auto& report) { inChild(name, report); });
        work(name + "p", note);
        for (const std::string& line : child.finish()) note(line);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  must(store->flush());
  for (const std::string& id : acknowledged) ASSERT_FALSE(id.starts_with("bad")) << id;
  ASSERT_EQ(acknowledged.size(), std::size_t{kThreads} * kRounds * 4 * kEach);
  expectEachOnce(*must(SessionStore::open(folder.path().string())), "s", acknowledged);
}

TEST(Fork, ThreadsForkAndTheirChildrenForkAgainDurably) {
  forkFromThreads({});
}

TEST(Fork, ThreadsForkAndTheirChildrenForkAgainBuffered) {
  forkFromThreads({.durability = Durability::Buffered, .bufferedEntries = 7, .bufferedMs = 3});
}

TEST(Fork, WhatWaitsInTheBufferIsWrittenByTheParentAlone) {
  TempFolder folder;
  auto store = must(SessionStore::open(
      folder.path().string(), {.durability = Durability::Buffered, .bufferedEntries = 1000, .bufferedMs = 1'000'000}));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "waits")}));
  ForkedChild child([&](const auto& report) {
    if (!store->appendSessionEntries("s", {message("x", "child")})) report("bad append");
    if (!store->close()) report("bad close");
    store.reset();
  });
  EXPECT_TRUE(child.finish().empty());
  auto other = must(SessionStore::open(folder.path().string()));
  EXPECT_EQ(must(other->loadSessionEntries("s")).back().id, "child");
  EXPECT_EQ(must(other->loadSessionEntries("s")).size(), 2U);
  must(store->flush());
  expectEachOnce(*store, "s", {"waits", "child"});
}

TEST(Fork, AForkedSessionAndItsLabelsWorkOnBothSides) {
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  must(store->appendSessionEntries("s", {message("x", "a"), message("x", "b")}));
  const std::string branch = must(store->branchFromEntry("s", "a")).sessionId;
  must(store->appendSessionEntries(branch, {message("x", "p")}));
  ForkedChild child([&](const auto& report) {
    if (!store->appendSessionEntries(branch, {message("x", "c")})) report("bad append");
    if (!store->labelEntry(branch, "a", "mark")) report("bad label");
    const auto again = store->branchFromEntry(branch, "c");
    if (!again) return report("bad fork");
    const auto entries = store->loadSessionEntries(again->sessionId);
    if (!entries) return report("bad load");
    for (const Entry& entry : *entries) report(entry.id.size() < 5 ? entry.id : "header");
  });
  EXPECT_EQ(child.finish(), (std::vector<std::string>{"header", "a", "p", "c"}));
  must(store->appendSessionEntries(branch, {message("x", "q")}));
  expectEachOnce(*store, branch, {"a", "p", "c", "q"});
}

TEST(Fork, BothSidesOfAFollowerSeeEverything) {
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  auto follower = must(store->follow("s"));
  EXPECT_EQ(must(follower.next(5000)).size(), 1U);
  const auto follow = [&](const std::function<void(const std::string&)>& report) {
    for (std::size_t seen = 0; seen < 20;) {
      const auto entries = follower.next(20'000);
      if (!entries || entries->empty()) return report("bad follow");
      seen += entries->size();
      for (const Entry& entry : *entries) report(entry.id);
    }
  };
  ForkedChild child([&](const auto& report) { follow(report); });
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) must(store->appendSessionEntries("s", {message("x", "e" + std::to_string(i))}));
  });
  std::vector<std::string> mine;
  follow([&](const std::string& id) { mine.push_back(id); });
  writer.join();
  EXPECT_EQ(mine.size(), 20U);
  EXPECT_EQ(child.finish(), mine);
}

TEST(Fork, ACatalogIsNotSharedWithTheParent) {
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s", .title = "first"}));
  auto catalog = must(Catalog::open(*store));
  must(catalog->catchUp());
  ForkedChild child([&](const auto& report) {
    if (!store->createSession({.sessionId = "t", .title = "second"})) report("bad create");
    if (!catalog->catchUp()) report("bad catch up");
    for (const auto& row : catalog->list().value_or(std::vector<SessionSummary>())) report(row.sessionId);
    catalog.reset();
    store.reset();
  });
  auto lines = child.finish();
  EXPECT_EQ((std::set<std::string>(lines.begin(), lines.end())), (std::set<std::string>{"s", "t"}));
  must(catalog->catchUp());
  EXPECT_EQ(must(catalog->list()).size(), 2U);
  EXPECT_TRUE(must(catalog->check(true)).empty());
}

TEST(Fork, AStoreInMemoryStaysWithTheParent) {
  auto store = must(SessionStore::open("memory:"));
  must(store->createSession({.sessionId = "s"}));
  ForkedChild child([&](const auto& report) {
    const auto result = store->appendSessionEntries("s", {message("x", "a")});
    report(!result && result.error().code == ErrorCode::Unsupported ? "refused" : "bad");
  });
  EXPECT_EQ(child.finish(), (std::vector<std::string>{"refused"}));
  must(store->appendSessionEntries("s", {message("x", "a")}));
}

// A lock lasts as long as any descriptor of the open file, so a child must not keep its parent's descriptors.
TEST(Fork, ALockEndsWithTheProcessThatTookIt) {
  TempFolder folder;
  auto root = posixFileSystem().openRoot(folder.path().string(), true);
  auto file = (*root)->open("f", OpenMode::OpenOrCreate);
  int ends[2];
  int ready[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  ForkedChild holder([&](const auto& report) {
    auto own = (*root)->open("f", OpenMode::ReadWrite);
    const pid_t heir = ::fork();
    char byte = 0;
    if (heir == 0) {
      ::close(ends[1]);
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(ends[0], &byte, 1);
      ::_exit(0);
    }
    (void)!::read(ready[0], &byte, 1);
    report((*own)->tryLock(LockKind::Exclusive) ? "locked" : "bad");
    ::close(ends[0]);
    ::_exit(0);
  });
  int status = 0;
  ::waitpid(holder.pid(), &status, 0);
  EXPECT_TRUE((*file)->tryLock(LockKind::Exclusive).has_value()) << "the heir still holds it";
  for (const int end : {ends[0], ends[1], ready[0], ready[1]}) ::close(end);
}

TEST(Fork, ALockOfAFileThatIsClosedDuringTheForkEnds) {
  constexpr int kChildren = 200;
  TempFolder folder;
  auto root = posixFileSystem().openRoot(folder.path().string(), true);
  ASSERT_TRUE((*root)->open("f", OpenMode::OpenOrCreate));
  int ends[2];
  int ready[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  char byte = 0;
  std::atomic<bool> forking = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (forking) {
        const auto file = (*root)->open("f", OpenMode::ReadWrite);
        EXPECT_TRUE((*file)->tryLock(LockKind::Shared));
      }
    });
  }
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      ::close(ends[1]);
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(ends[0], &byte, 1);
      ::_exit(0);
    }
    (void)!::read(ready[0], &byte, 1);
  }
  forking = false;
  for (std::thread& thread : threads) thread.join();
  const auto file = (*root)->open("f", OpenMode::ReadWrite);
  EXPECT_TRUE((*file)->tryLock(LockKind::Exclusive)) << "a child still holds it";
  for (const int end : {ends[0], ends[1], ready[0], ready[1]}) ::close(end);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

// SQLite has process-wide mutexes, and the store also uses the catalog.
TEST(Fork, ChildrenThatAreForkedWhileCatalogsWorkDoNotHang) {
  constexpr int kChildren = 40;
  TempFolder folder;
  auto store = must(SessionStore::open(folder.path().string()));
  must(store->createSession({.sessionId = "s"}));
  std::atomic<bool> forking = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; forking; ++round) {
        must(store->appendSessionEntries("s", {message("x", "p" + std::to_string(i) + "-" + std::to_string(round))}));
        const auto catalog = must(Catalog::open(*store));
        must(catalog->catchUp());
        EXPECT_EQ(must(catalog->list()).size(), 1U);
      }
    });
  }
  for (int c = 0; c < kChildren; ++c) {
    ForkedChild child([&](const auto& report) {
      if (!store->appendSessionEntries("s", {message("x", "c" + std::to_string(c))})) report("bad append");
      if (!store->verifySession("s")) report("bad verify");
      const auto catalog = Catalog::open(*store);
      if (!catalog || !(*catalog)->catchUp()) return report("bad catalog");
      if ((*catalog)->list().value_or(std::vector<SessionSummary>()).size() != 1) report("bad list");
    });
    EXPECT_EQ(child.finish(), std::vector<std::string>());
    if (HasFailure()) break;
  }
  forking = false;
  for (std::thread& thread : threads) thread.join();
  expectEachOnce(*store, "s", {"p0-0", "p1-0", "c0", "c39"});
}

}  // namespace
}  // namespace bough
