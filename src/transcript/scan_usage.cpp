// What the answers in transcripts cost, from the files alone.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/system/byte_budget.h"
#include "transcript/agents/claude_code/usage.h"
#include "transcript/model/agent.h"

namespace bough {

using namespace transcript;

Result<std::vector<TranscriptAnswer>> scanTranscriptUsage(const std::vector<FoundTranscript>& files) {
  for (const FoundTranscript& file : files) {
    if (file.agent == "claude-code") continue;
    return fail(ErrorCode::Unsupported, fmt::format("the usage in files of {} is not found by a scan", file.agent), "");
  }
  // Large files first, so that no thread has one left when the others are done.
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return files[i].sizeBytes; });
  constexpr unsigned kMostThreads = 8;
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  std::vector<TranscriptAnswer> answers;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  ByteBudget budget(std::uint64_t{64} << 20);  // a file may be one line
  const auto work = [&] {
    std::vector<TranscriptAnswer> own;
    for (std::size_t i = next++; i < order.size(); i = next++) {
      const ByteBudget::Share share(budget, files[order[i]].sizeBytes);
      // A file that is gone meanwhile used nothing more.
      (void)claude_code::scanUsage(files[order[i]].path, order[i], own);
    }
    const std::scoped_lock lock(mutex);
    if (answers.empty()) return answers.swap(own);
    answers.reserve(answers.size() + own.size());
    std::ranges::move(own, std::back_inserter(answers));
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return answers;
}

}  // namespace bough
