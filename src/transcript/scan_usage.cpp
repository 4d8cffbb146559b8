// What the answers in transcripts cost, from the files alone.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/system/bounded_queue.h"
#include "base/system/byte_budget.h"
#include "base/system/threads.h"
#include "base/try.h"
#include "transcript/agents/claude_code/usage.h"

namespace bough {

using transcript::claude_code::FoundAnswer;
using transcript::claude_code::FoundUsage;

Result<TranscriptUsage> scanTranscriptUsage(
    const std::function<Result<void>(const std::function<bool(FoundTranscript&&)>& use)>& walk) {
  struct Work {
    FoundTranscript file;
    std::uint32_t number = 0;
  };
  constexpr unsigned kMostThreads = 8;
  constexpr std::size_t kMostWaiting = 1024;
  BoundedQueue<Work> found(kMostWaiting);
  FoundUsage all;
  std::mutex mutex;
  ByteBudget budget(std::uint64_t{64} << 20);  // a file may be one line
  ThreadFailure failure;
  const auto scan = [&](std::size_t) {
    failure.guard([&] {
      FoundUsage own;
      for (auto work = found.pop(); work; work = found.pop()) {
        const ByteBudget::Share share(budget, work->file.sizeBytes);
        transcript::claude_code::scanUsage(work->file.path, work->number, own);
      }
      own.bringTogether();
      const std::scoped_lock lock(mutex);
      all.take(std::move(own));
    });
    if (failure.failed()) found.stop();
  };
  auto threads = startThreads(std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads), scan);
  std::uint32_t files = 0;
  std::string other;  // an agent whose files are not understood here
  const auto giveOut = [&](FoundTranscript&& file) {
    if (file.agent != "claude-code") other = file.agent;
    if (!other.empty()) return false;
    const std::uint32_t number = files++;
    if (!threads.empty()) return found.push({.file = std::move(file), .number = number});
    transcript::claude_code::scanUsage(file.path, number, all);
    return true;
  };
  Result<void> walked;
  try {
    walked = walk(giveOut);
  } catch (...) {
    found.stop();  // or the threads would wait for ever
    throw;
  }
  found.finish();
  threads.clear();
  failure.rethrow();
  BOUGH_TRY(walked);
  if (!other.empty()) {
    return fail(ErrorCode::Unsupported, fmt::format("the usage in files of {} is not found by a scan", other), "");
  }
  all.bringTogether();
  TranscriptUsage usage{.answers = {},
                        .models = {all.models.begin(), all.models.end()},
                        .files = files,
                        .unreadable = all.unreadable,
                        .example = std::move(all.example)};
  usage.answers.reserve(all.answers.size());
  for (const FoundAnswer& each : all.answers) {
    usage.answers.push_back({.id = each.id,
                             .certain = each.certain,
                             .model = usage.models[each.model],
                             .timeMs = each.timeMs,
                             .tokens = each.tokens});
  }
  return usage;
}

}  // namespace bough
