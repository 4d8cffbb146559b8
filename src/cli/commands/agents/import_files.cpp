#include "cli/commands/agents/import_files.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unordered_set>

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

// The files that are being imported, and the sessions that some file has.
class Work {
 public:
  Work(SessionStore& store, const std::vector<std::string>& paths)
      : store_(store), paths_(paths), results_(paths.size(), fail(ErrorCode::Conflict, "not imported yet")) {}

  void run() {
    for (std::size_t i = take(); i < paths_.size(); i = take()) {
      results_[i] = import(paths_[i]);
      const std::scoped_lock lock(mutex_);
      bytes_ -= sizeOf(paths_[i]);
      --running_;
      changed_.notify_all();
    }
  }

  std::vector<Result<ImportResult>> results() { return std::move(results_); }

 private:
  // One line may be as long as this; the memory for several of them would be too much.
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{32} << 20;

  static std::uintmax_t sizeOf(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    return error ? kMostBytes : std::min(size, kMostBytes);
  }

  // The next file, when there is room for it.
  std::size_t take() {
    std::unique_lock lock(mutex_);
    if (next_ == paths_.size()) return next_;
    const std::size_t mine = next_++;
    const std::uintmax_t size = sizeOf(paths_[mine]);
    changed_.wait(lock, [&] { return running_ == 0 || bytes_ + size <= kMostBytes; });
    bytes_ += size;
    ++running_;
    return mine;
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
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  std::uintmax_t bytes_ = 0;
  std::unordered_set<std::string> sessions_;
};

}  // namespace

std::vector<Result<ImportResult>> importInTurn(SessionStore& store, const std::vector<std::string>& paths) {
  std::vector<Result<ImportResult>> results;
  for (const std::string& path : paths) results.push_back(importTranscript(store, path));
  return results;
}

std::vector<Result<ImportResult>> importAtOnce(SessionStore& store, const std::vector<std::string>& paths) {
  constexpr unsigned kMostThreads = 4;
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  Work work(store, paths);
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < count; ++i) threads.emplace_back([&] { work.run(); });
  work.run();
  threads.clear();
  return work.results();
}

}  // namespace bough::cli
