#include "store/postgres/append_queue.h"

#include <algorithm>

namespace bough::postgres {
namespace {

constexpr int kMostGroups = 4;  // exchanges at a time
constexpr std::size_t kMostAppends = 32;
constexpr std::size_t kMostBytes = std::size_t{8} << 20;

}  // namespace

void AppendQueue::run(std::span<QueuedAppend*> appends) {
  const auto isDone = [&] { return std::ranges::all_of(appends, [](const QueuedAppend* each) { return each->done; }); };
  std::unique_lock lock(mutex_);
  waiting_.insert(waiting_.end(), appends.begin(), appends.end());
  while (!isDone()) {
    if (waiting_.empty() || running_ == kMostGroups) {
      changed_.wait(lock);
      continue;
    }
    std::vector<QueuedAppend*> group;
    std::size_t bytes = 0;
    while (!waiting_.empty() && group.size() < kMostAppends && bytes < kMostBytes) {
      bytes += waiting_.front()->call.parameters.totalBytes();
      group.push_back(waiting_.front());
      waiting_.pop_front();
    }
    ++running_;
    lock.unlock();
    runGroup(group);
    lock.lock();
    --running_;
    for (QueuedAppend* each : group) each->done = true;
    changed_.notify_all();
  }
}

void AppendQueue::runGroup(std::vector<QueuedAppend*>& group) {
  // In the same order everywhere, so that two groups never wait for one another's sessions.
  std::ranges::stable_sort(group, {}, &QueuedAppend::sessionId);
  if (group.size() > 1) {
    std::vector<Call> calls;
    calls.reserve(group.size());
    for (const QueuedAppend* each : group) calls.push_back(each->call);
    auto answers = pool_.exchange(calls);
    if (answers) {
      for (std::size_t i = 0; i < group.size(); ++i) group[i]->answer = std::move((*answers)[i]);
      return;
    }
    if (answers.error().trouble != Trouble::Refused) {
      for (QueuedAppend* each : group) each->answer = std::unexpected(answers.error().error);
      return;
    }
  }
  // One alone, or one of them makes the server refuse all: each by itself.
  for (QueuedAppend* each : group) each->answer = pool_.run(each->call);
}

}  // namespace bough::postgres
