// What a durable append costs beyond the write and the sync that it cannot do without.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <thread>

#include "bough/store.h"
#include "generate.h"
#include "harness.h"
#include "peers.h"

namespace bough::bench {
namespace {

constexpr std::size_t kLineBytes = 500;
constexpr std::size_t kEnvelopeBytes = 186;  // of a line around its payload

// The floor: one file, one write and one fdatasync an append.
class RawFile {
 public:
  explicit RawFile(const std::string& name)
      : descriptor_(::open((workFolder() + "/" + name).c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600)) {
    require(descriptor_ >= 0, "opening " + name);
  }
  ~RawFile() { ::close(descriptor_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  void append(const std::string& bytes) const {
    require(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
    require(::fdatasync(descriptor_) == 0, "fdatasync");
  }

 private:
  int descriptor_;
};

struct OurSession {
  std::unique_ptr<SessionStore> store;
  std::string id;

  explicit OurSession(const std::string& name) {
    auto opened = SessionStore::open(workFolder() + "/" + name);
    require(opened.has_value(), "opening a store");
    store = std::move(*opened);
    auto made = store->createSession();
    require(made.has_value(), "creating a session");
    id = made->sessionId;
  }
  void append(std::vector<Entry> entries) const {
    require(store->appendSessionEntries(id, std::move(entries)).has_value(), "append");
  }
};

// Does two things in turn, operation by operation, the order changing each time, and returns the median of each.
// `prepare` comes right before each of `ours`, and is not measured: what a caller hands over it has just made.
std::pair<double, double> alternating(const std::function<void()>& prepare, const std::function<void()>& ours,
                                      const std::function<void()>& floor) {
  constexpr int kOperations = 2000;
  std::vector<double> oursTimes;
  std::vector<double> floorTimes;
  for (int i = 0; i < kOperations; ++i) {
    if (i % 2 != 0) floorTimes.push_back(timed(floor));
    prepare();
    oursTimes.push_back(timed(ours));
    if (i % 2 == 0) floorTimes.push_back(timed(floor));
  }
  return {median(oursTimes), median(floorTimes)};
}

std::vector<Row> peers(std::size_t count, const std::function<void()>& rawAppend) {
  std::vector<Row> rows;
  for (const Peer& peer : durablePeers(workFolder(), kLineBytes, count)) {
    const auto [peerTime, floorTime] = alternating([] {}, peer.append, rawAppend);
    rows.push_back({.name = fmt::format("  the same with {}", peer.name),
                    .ours = peerTime * 1e6,
                    .floor = floorTime * 1e6,
                    .unit = "µs"});
  }
  return rows;
}

std::vector<Row> batches(const std::string& name, std::size_t count, double bound) {
  const OurSession ours("append-" + std::to_string(count));
  const RawFile raw("raw-" + std::to_string(count));
  Generator generator(1);
  const std::vector<Entry> batch(count, generator.message(kLineBytes - kEnvelopeBytes));
  const std::string lines(count * kLineBytes, 'x');
  const auto rawAppend = [&] { raw.append(lines); };
  std::vector<Entry> next;
  const auto [ourTime, rawTime] = alternating([&] { next = batch; }, [&] { ours.append(std::move(next)); }, rawAppend);
  std::vector<Row> rows{{.name = name, .ours = ourTime * 1e6, .floor = rawTime * 1e6, .unit = "µs", .bound = bound}};
  std::ranges::move(inChild([&] { return peers(count, rawAppend); }), std::back_inserter(rows));
  return rows;
}

// How often `append` is done in a second by 16 threads together.
double rate(const std::function<void()>& append) {
  constexpr int kThreads = 16;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  std::vector<std::thread> threads;
  const double seconds = timed([&] {
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        while (!stop) {
          append();
          ++done;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
  return static_cast<double>(done) / seconds;
}

std::vector<Row> threads() {
  const OurSession ours("append-threads");
  const RawFile raw("raw-threads");
  std::mutex mutex;
  const std::string line(kLineBytes, 'x');
  Generator generator(1);
  const Entry entry = generator.message(kLineBytes - kEnvelopeBytes);
  std::vector<double> oursRates;
  std::vector<double> rawRates;
  for (int round = 0; round < 5; ++round) {
    oursRates.push_back(rate([&] { ours.append({entry}); }));
    rawRates.push_back(rate([&] {
      const std::lock_guard lock(mutex);
      raw.append(line);
    }));
  }
  return {{.name = "16 threads durable on one session / one fdatasync each behind a mutex",
           .ours = median(oursRates),
           .floor = median(rawRates),
           .unit = "appends/s",
           .bound = 3,
           .atLeast = true}};
}

}  // namespace

std::vector<Benchmark> appendBenchmarks() {
  return {
      {.name = "append", .run = [] { return batches("durable append of 500 B / raw write+fdatasync, p50", 1, 1.10); }},
      {.name = "batch",
       .run = [] { return batches("atomic durable batch of 10 / raw write of 10 lines + fdatasync", 10, 1.15); }},
      {.name = "threads", .run = threads}};
}

}  // namespace bough::bench
