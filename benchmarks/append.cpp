// What a durable append costs beyond the write and the sync that it cannot avoid.

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
constexpr std::size_t kEnvelopeBytes = 186;  // of a line, without its payload

// The floor: one file, one write and one fdatasync per append.
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

// Alternates two operations and changes their order each time. `prepare` runs before each call of `ours` and is not
// measured: it makes what a caller would pass in.
Row alternating(std::string name, const std::function<void()>& prepare, const std::function<void()>& ours,
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
  return {.name = std::move(name),
          .ours = median(oursTimes) * 1e6,
          .floor = median(floorTimes) * 1e6,
          .unit = "µs",
          .meanRatio = mean(oursTimes) / mean(floorTimes)};
}

// Each peer runs in a child process, so that a peer that fails only loses its own row.
void addPeers(std::size_t count, const std::function<void()>& rawAppend, std::vector<Row>& rows) {
  for (const PeerMaker& maker : durablePeers()) {
    std::ranges::move(
        inChild([&] {
          const Peer peer = maker(workFolder(), kLineBytes, count);
          return std::vector{alternating(fmt::format("  the same with {}", peer.name), [] {}, peer.append, rawAppend)};
        }),
        std::back_inserter(rows));
  }
}

std::vector<Row> batches(const std::string& name, std::size_t count, double bound) {
  const OurSession ours("append-" + std::to_string(count));
  const RawFile raw("raw-" + std::to_string(count));
  Generator generator(1);
  const std::vector<Entry> batch(count, generator.message(kLineBytes - kEnvelopeBytes));
  const std::string lines(count * kLineBytes, 'x');
  const auto rawAppend = [&] { raw.append(lines); };
  std::vector<Entry> next;
  std::vector<Row> rows{alternating(name, [&] { next = batch; }, [&] { ours.append(std::move(next)); }, rawAppend)};
  rows.back().bound = bound;
  addPeers(count, rawAppend, rows);
  return rows;
}

// Returns how many appends per second this many threads do together. `append` receives the number of its thread.
double rate(std::size_t threadCount, const std::function<void(std::size_t)>& append) {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  std::vector<std::thread> threads;
  const double seconds = timed([&] {
    for (std::size_t i = 0; i < threadCount; ++i) {
      threads.emplace_back([&, i] {
        while (!stop) {
          append(i);
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
    oursRates.push_back(rate(16, [&](std::size_t) { ours.append({entry}); }));
    rawRates.push_back(rate(16, [&](std::size_t) {
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

// Many sessions at once: no two share a file, so they may only wait for the disk.
Row manySessions(std::size_t threadCount) {
  const OurSession ours(fmt::format("append-each-{}", threadCount));
  std::vector<std::string> sessions;
  std::vector<std::unique_ptr<RawFile>> files;
  for (std::size_t i = 0; i < threadCount; ++i) {
    auto made = ours.store->createSession();
    require(made.has_value(), "creating a session");
    sessions.push_back(made->sessionId);
    files.push_back(std::make_unique<RawFile>(fmt::format("raw-each-{}-{}", threadCount, i)));
  }
  const std::string line(kLineBytes, 'x');
  Generator generator(1);
  const Entry entry = generator.message(kLineBytes - kEnvelopeBytes);
  std::vector<double> oursRates;
  std::vector<double> rawRates;
  for (int round = 0; round < 7; ++round) {
    oursRates.push_back(rate(threadCount, [&](std::size_t thread) {
      require(ours.store->appendSessionEntries(sessions[thread], {entry}).has_value(), "append");
    }));
    rawRates.push_back(rate(threadCount, [&](std::size_t thread) { files[thread]->append(line); }));
  }
  return {.name = fmt::format("{} threads, each on a session of its own / write+fdatasync on files of their own",
                              threadCount),
          .ours = median(oursRates),
          .floor = median(rawRates),
          .unit = "appends/s",
          .bound = 0.9,
          .atLeast = true,
          .meanRatio = mean(oursRates) / mean(rawRates)};
}

}  // namespace

std::vector<Benchmark> appendBenchmarks() {
  return {
      {.name = "append", .run = [] { return batches("durable append of 500 B / raw write+fdatasync, p50", 1, 1.10); }},
      {.name = "batch",
       .run = [] { return batches("atomic durable batch of 10 / raw write of 10 lines + fdatasync", 10, 1.15); }},
      {.name = "threads", .run = threads},
      {.name = "sessions", .run = [] { return std::vector{manySessions(16), manySessions(64)}; }}};
}

}  // namespace bough::bench
