#include "log/group_commit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <map>
#include <thread>

namespace bough {
namespace {

struct Work {
  int thread = 0;
  int number = 0;
  bool done = false;
};

TEST(GroupCommit, EveryWorkIsCommittedOnceInTheOrderOfItsThread) {
  constexpr int kThreads = 16;
  constexpr int kEach = 200;
  std::vector<std::pair<int, int>> committed;  // only the leader accesses it
  std::atomic<int> leaders = 0;
  GroupCommit<Work> commits(
      [&](const std::vector<Work*>& group) {
        ASSERT_EQ(leaders.fetch_add(1), 0) << "one group at a time";
        ASSERT_FALSE(group.empty());
        for (Work* work : group) {
          committed.emplace_back(work->thread, work->number);
          work->done = true;
        }
        leaders.fetch_sub(1);
      },
      1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Work work{.thread = t, .number = i};
        commits.run(work, 1);
        ASSERT_TRUE(work.done);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(committed.size(), static_cast<std::size_t>(kThreads * kEach));
  std::map<int, int> next;
  for (const auto& [thread, number] : committed) ASSERT_EQ(number, next[thread]++);
}

TEST(GroupCommit, WhatGathersWhileALeaderWorksIsOneGroup) {
  std::latch leaderIn(1);
  std::latch release(1);
  std::vector<std::size_t> sizes;
  GroupCommit<Work> commits(
      [&](const std::vector<Work*>& group) {
        sizes.push_back(group.size());
        if (sizes.size() == 1) {
          leaderIn.count_down();
          release.wait();
        }
      },
      1000);
  Work first;
  std::thread leader([&] { commits.run(first, 1); });
  leaderIn.wait();
  std::vector<std::thread> others;
  std::atomic<int> started = 0;
  std::vector<Work> works(7);
  for (Work& work : works) {
    others.emplace_back([&] {
      ++started;
      commits.run(work, 1);
    });
  }
  while (started < 7) std::this_thread::yield();
  release.count_down();
  leader.join();
  for (std::thread& other : others) other.join();
  std::size_t total = 0;
  for (const std::size_t size : sizes) total += size;
  EXPECT_EQ(total, 8U);
  EXPECT_EQ(sizes.front(), 1U);
}

TEST(GroupCommit, AGroupEndsBeforeItGetsTooHeavy) {
  std::latch leaderIn(1);
  std::latch release(1);
  std::vector<std::vector<int>> groups;
  GroupCommit<Work> commits(
      [&](const std::vector<Work*>& group) {
        std::vector<int>& seen = groups.emplace_back();
        for (const Work* work : group) seen.push_back(work->number);
        if (groups.size() == 1) {
          leaderIn.count_down();
          release.wait();
        }
      },
      10);
  Work first{.thread = 0, .number = 0};
  std::thread leader([&] { commits.run(first, 50); });  // larger than a group may be, and alone
  leaderIn.wait();
  std::vector<Work> works(6);
  std::vector<std::thread> others;
  for (int i = 0; i < 6; ++i) {
    works[static_cast<std::size_t>(i)].number = 4;
    others.emplace_back([&, i] { commits.run(works[static_cast<std::size_t>(i)], 4); });
  }
  release.count_down();
  leader.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(groups.front().size(), 1U);
  for (const auto& group : groups) EXPECT_LE(group.size(), 2U) << "three of weight 4 are heavier than 10";
}

}  // namespace
}  // namespace bough
