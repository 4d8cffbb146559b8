// Checks that the cost per session does not grow with the store: rm, prune, fork, forksOf and ls in stores of a
// hundred, ten thousand and a hundred thousand sessions. BOUGH_BENCH_SESSIONS sets a smaller maximum.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "bough/catalog.h"
#include "bough/store.h"
#include "conversation.h"
#include "harness.h"

namespace bough::bench {
namespace {

constexpr std::uint64_t kSmall = 100;
constexpr std::uint64_t kSizes[] = {10'000, 100'000};

// The seconds of each operation in a store of one size.
struct Times {
  double fork = 0;
  double forksOf = 0;
  double list = 0;
  double remove = 0;  // a hundredth of the sessions
  double prune = 0;   // all remaining sessions
};

std::unique_ptr<SessionStore> openAt(const std::string& folder) {
  auto store = SessionStore::open(folder);
  require(store.has_value(), "opening a store of many sessions");
  return std::move(*store);
}

Times measure(std::uint64_t count) {
  constexpr int kForks = 20;
  const std::string folder = fmt::format("{}/sizes{}", workFolder(), count);
  writeManySessions(folder, count);
  const auto ids = openAt(folder)->listSessions();
  require(ids && ids->size() == count, "listing the sessions");
  Times times;
  // Each step opens the store again, so that nothing is cached from the step before.
  {
    const auto store = openAt(folder);
    auto session = store->session(ids->front());
    require(session.has_value(), "opening a session");
    const std::string head = session->state()->headId;
    times.fork = timed([&] {
      for (int i = 0; i < kForks; ++i) require(session->fork(head).has_value(), "forking");
    });
    times.fork /= kForks;
  }
  times.forksOf = timed([&] {
    const auto forks = openAt(folder)->maintenance().forksOf(ids->front());
    require(forks && forks->size() == kForks, "looking for forks");
  });
  const auto list = [&] {
    const auto store = openAt(folder);
    auto catalog = Catalog::open(*store);
    require(catalog && (*catalog)->catchUp() && (*catalog)->list({.limit = 50}), "listing");
  };
  list();  // builds the catalog
  times.list = timed(list);
  times.remove = timed([&] {
    std::vector<Removal> removals;
    for (std::uint64_t i = 1; i <= count / 100; ++i) removals.push_back({.sessionId = (*ids)[i]});
    for (const auto& moved : openAt(folder)->maintenance().trash(removals)) require(moved.has_value(), "removing");
  });
  times.prune = timed([&] {
    const auto store = openAt(folder);
    auto catalog = Catalog::open(*store);
    require(catalog && (*catalog)->catchUp(), "catching up");
    const auto expired = (*catalog)->expired(UINT64_MAX / 2, 1);
    require(expired && expired->size() >= count - count / 100 - 1, "looking for what is expired");
    std::vector<Removal> removals;
    for (const ExpiredSession& each : *expired) removals.push_back({.sessionId = each.session.sessionId});
    for (const auto& moved : store->maintenance().trash(removals)) require(moved.has_value(), "pruning");
  });
  std::filesystem::remove_all(folder);
  return times;
}

// A small store takes little time, so a single disturbance would dominate; measure it several times.
Times measureSmall() {
  constexpr int kRounds = 7;
  std::vector<Times> all;
  for (int round = 0; round < kRounds; ++round) all.push_back(measure(kSmall));
  const auto middle = [&](double Times::* field) {
    std::vector<double> values;
    for (const Times& each : all) values.push_back(each.*field);
    return median(std::move(values));
  };
  return {.fork = middle(&Times::fork),
          .forksOf = middle(&Times::forksOf),
          .list = middle(&Times::list),
          .remove = middle(&Times::remove),
          .prune = middle(&Times::prune)};
}

// Compares the time of one call in both stores: it must not depend on the number of sessions.
Row same(const std::string& what, std::uint64_t count, double large, double small) {
  return {.name = fmt::format("{} in a store of {} sessions / of {}", what, count, kSmall),
          .ours = large * 1e6,
          .floor = small * 1e6,
          .unit = "µs",
          .bound = 2.0};
}

// Compares the time of one call divided by the number of sessions.
Row each(const std::string& what, std::uint64_t count, double large, double small) {
  return {.name = fmt::format("{}, per session, in a store of {} sessions / of {}", what, count, kSmall),
          .ours = large * 1e6 / static_cast<double>(count),
          .floor = small * 1e6 / static_cast<double>(kSmall),
          .unit = "µs",
          .bound = 1.5};
}

std::vector<Row> sizeRows() {
  const char* most = std::getenv("BOUGH_BENCH_SESSIONS");
  const std::uint64_t largest = most == nullptr ? UINT64_MAX : std::strtoull(most, nullptr, 10);
  std::vector<Row> rows;
  const Times small = measureSmall();
  for (const std::uint64_t size : kSizes) {
    const std::uint64_t count = std::min(size, largest);
    const Times large = measure(count);
    rows.push_back(same("fork", count, large.fork, small.fork));
    rows.push_back(each("forksOf", count, large.forksOf, small.forksOf));
    rows.push_back(each("ls", count, large.list, small.list));
    rows.push_back(each("rm of one in a hundred", count, large.remove, small.remove));
    rows.push_back(each("prune of all", count, large.prune, small.prune));
    if (count == largest) break;
  }
  return rows;
}

}  // namespace

std::vector<Benchmark> sizeBenchmarks() {
  return {{"sizes", sizeRows}};
}

}  // namespace bough::bench
