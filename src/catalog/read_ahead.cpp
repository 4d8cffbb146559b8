#include "catalog/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/system/threads.h"
#include "base/try.h"

namespace bough::catalog {
namespace {

// For fewer entries, a thread costs more than it saves.
constexpr std::uint64_t kThreadFrom = 16;
constexpr std::size_t kBatchBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxBatches = 8;

ReadEntry prepared(const ReadRange& range, std::uint64_t sequence, Entry& entry) {
  ReadEntry made{.sequence = sequence, .entry = std::move(entry)};
  if (!isConversation(made.entry)) return made;
  const bool wantText = sequence >= range.textFrom;
  made.facts = readFacts(made.entry, wantText);
  if (wantText && range.forIndex) made.text = IndexText(made.facts.text);
  return made;
}

Result<void> readAll(SessionStore& store, const ReadRange& range, const std::function<void(ReadEntry)>& use) {
  if (range.known != nullptr) {
    std::uint64_t sequence = range.from;
    for (Entry& entry : *range.known) use(prepared(range, sequence++, entry));
    return {};
  }
  return store.readOwnEntries(range.sessionId, range.from, range.count,
                              [&](std::uint64_t sequence, Entry& entry) { use(prepared(range, sequence, entry)); });
}

// A queue of batches: the reading thread adds them, the caller takes them. Either side can end it.
class Batches {
 public:
  using Batch = std::vector<ReadEntry>;

  void put(Batch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < kMaxBatches || closed_; });
    if (!closed_) waiting_.push_back(std::move(batch));
    changed_.notify_all();
  }
  void end(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    thrown_ = std::move(thrown);
    changed_.notify_all();
  }
  // Returns false at the end.
  bool take(Batch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty() || ended_; });
    if (waiting_.empty()) {
      if (thrown_) std::rethrow_exception(thrown_);
      return false;
    }
    batch = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  bool closed_ = false;
  bool ended_ = false;
  std::exception_ptr thrown_;
};

class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    batches_.close();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> start(SessionStore& store, const ReadRange& range) {
    BOUGH_TRY(thread_, startThread("to read ahead", [this, &store, &range] { run(store, range); }));
    return {};
  }
  bool take(Batches::Batch& batch) { return batches_.take(batch); }
  Result<void> outcome() {
    thread_.join();
    return outcome_;
  }

 private:
  void run(SessionStore& store, const ReadRange& range) {
    try {
      Batches::Batch batch;
      std::size_t bytes = 0;
      const auto handOver = [&] {
        if (!batch.empty()) batches_.put(std::exchange(batch, {}));
        bytes = 0;
      };
      outcome_ = readAll(store, range, [&](ReadEntry read) {
        bytes += read.entry.payload.size();
        batch.push_back(std::move(read));
        if (bytes >= kBatchBytes) handOver();
      });
      handOver();
      batches_.end(nullptr);
    } catch (...) {
      batches_.end(std::current_exception());
    }
  }

  Batches batches_;
  Result<void> outcome_;
  std::jthread thread_;  // last member, because it uses the others
};

}  // namespace

bool isConversation(const Entry& entry) {
  return !isControlType(entry.type) && entry.type != entry_type::kSessionHeader;
}

Result<void> readAhead(SessionStore& store, const ReadRange& range, const std::function<void(ReadEntry&)>& use) {
  const auto readHere = [&] { return readAll(store, range, [&](ReadEntry read) { use(read); }); };
  if (range.count < kThreadFrom) return readHere();
  Reader reader;
  if (!reader.start(store, range)) return readHere();
  for (Batches::Batch batch; reader.take(batch);) {
    for (ReadEntry& read : batch) use(read);
  }
  return reader.outcome();
}

}  // namespace bough::catalog
