// Finds what the answers in transcripts cost from the files alone.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "base/model/merge_by_id.h"
#include "base/system/bounded_queue.h"
#include "base/system/byte_budget.h"
#include "base/system/huge_pages.h"
#include "base/system/threads.h"
#include "base/try.h"
#include "transcript/agents/claude_code/usage.h"

namespace bough {

using transcript::claude_code::FoundAnswer;
using transcript::claude_code::FoundUsage;

namespace {

// Combines the results of all threads, each answer once.
TranscriptUsage bringTogether(std::deque<FoundUsage>& parts) {
  struct Found {
    std::uint64_t id = 0;
    FoundAnswer* answer = nullptr;
    std::string_view model = {};
  };
  TranscriptUsage usage;
  std::vector<Found, HugePageAllocator<Found>> all;
  std::size_t count = 0;
  for (const FoundUsage& part : parts) count += part.answers.size();
  all.reserve(count);
  for (FoundUsage& part : parts) {
    std::vector<std::string_view> models;
    for (std::string& name : part.models) models.push_back(usage.models.emplace_back(std::move(name)));
    for (FoundAnswer& each : part.answers) all.push_back({.id = each.id, .answer = &each, .model = models[each.model]});
    usage.unreadable += part.unreadable;
    if (usage.example.empty()) usage.example = std::move(part.example);
  }
  mergeById(all, [](Found& known, const Found& copy) {
    if (!takeCopy(*known.answer, *copy.answer)) known = copy;
  });
  usage.answers.reserve(all.size());
  wantHugePages(usage.answers.data(), all.size() * sizeof(AnswerUsage));
  for (const auto& [id, answer, model] : all) {
    usage.answers.push_back(
        {.id = id, .certain = answer->certain, .model = model, .timeMs = answer->timeMs, .tokens = answer->tokens});
  }
  return usage;
}

}  // namespace

Result<TranscriptUsage> scanTranscriptUsage(
    const std::function<Result<void>(const std::function<bool(FoundTranscript&&)>& use)>& walk) {
  struct Work {
    FoundTranscript file;
    std::uint32_t number = 0;
  };
  constexpr unsigned kMostThreads = 8;
  constexpr std::size_t kMostWaiting = 1024;
  BoundedQueue<Work> found(kMostWaiting);
  std::deque<FoundUsage> parts;  // one per thread
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
      const std::scoped_lock lock(mutex);
      parts.push_back(std::move(own));
    });
    if (failure.failed()) found.stop();
  };
  auto threads = startThreads(std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads), scan);
  if (threads.empty()) parts.emplace_back();
  std::uint32_t files = 0;
  std::string other;  // an agent whose files this function does not understand
  const auto giveOut = [&](FoundTranscript&& file) {
    if (file.agent != "claude-code") other = file.agent;
    if (!other.empty()) return false;
    const std::uint32_t number = files++;
    if (!threads.empty()) return found.push({.file = std::move(file), .number = number});
    transcript::claude_code::scanUsage(file.path, number, parts.front());
    return true;
  };
  Result<void> walked;
  try {
    walked = walk(giveOut);
  } catch (...) {
    found.stop();  // otherwise the threads would wait forever
    throw;
  }
  found.producerDone();
  threads.clear();
  failure.rethrow();
  BOUGH_TRY(walked);
  if (!other.empty()) {
    return fail(ErrorCode::Unsupported, fmt::format("the usage in files of {} is not found by a scan", other), "");
  }
  TranscriptUsage usage = bringTogether(parts);
  usage.files = files;
  return usage;
}

}  // namespace bough
