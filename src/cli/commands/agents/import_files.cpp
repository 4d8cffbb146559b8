#include "cli/commands/agents/import_files.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <unordered_set>

#include "base/system/byte_budget.h"
#include "base/system/threads.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

// The files to import, and the sessions that a file has claimed.
class ParallelImport {
 public:
  ParallelImport(SessionStore& store, const std::vector<std::string>& paths)
      : store_(store), paths_(paths), results_(paths.size(), fail(ErrorCode::Conflict, "not imported yet")) {}

  void run() {
    for (std::size_t i = next_++; i < paths_.size(); i = next_++) {
      const ByteBudget::Share share(budget_, sizeOf(paths_[i]));
      results_[i] = import(paths_[i]);
    }
  }

  std::vector<Result<ImportResult>> results() { return std::move(results_); }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{32} << 20;  // a file may be a single line

  static std::uint64_t sizeOf(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    return error ? kMostBytes : size;
  }

  Result<ImportResult> import(const std::string& path) {
    const auto facts = peekTranscript(path);
    if (!facts) return std::unexpected(facts.error());
    if (!facts->parentEntryId.empty()) return fail(ErrorCode::Conflict, "it continues a session that comes first");
    {
      const std::scoped_lock lock(mutex_);
      if (!sessions_.insert(transcriptSessionId(*facts)).second) {
        return fail(ErrorCode::Conflict, "another file of the session is being imported");
      }
    }
    return importTranscript(store_, path);
  }

  SessionStore& store_;
  const std::vector<std::string>& paths_;
  std::vector<Result<ImportResult>> results_;
  std::atomic<std::size_t> next_ = 0;
  ByteBudget budget_{kMostBytes};
  std::mutex mutex_;
  std::unordered_set<std::string> sessions_;
};

}  // namespace

std::vector<Result<ImportResult>> importSequentially(SessionStore& store, const std::vector<std::string>& paths) {
  std::vector<Result<ImportResult>> results;
  for (const std::string& path : paths) results.push_back(importTranscript(store, path));
  return results;
}

std::vector<Result<ImportResult>> importInParallel(SessionStore& store, const std::vector<std::string>& paths) {
  constexpr unsigned kMostThreads = 4;
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  ParallelImport work(store, paths);
  ThreadFailure failure;
  auto threads = startThreads(count - 1, [&](std::size_t) { failure.guard([&] { work.run(); }); });
  work.run();
  threads.clear();
  failure.rethrow();
  return work.results();
}

}  // namespace bough::cli
