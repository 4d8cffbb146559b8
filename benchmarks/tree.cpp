// What the shape of a large session costs compared with reading its index.

#include <fmt/format.h>

#include <filesystem>

#include "bough/store.h"
#include "harness.h"

namespace bough::bench {
namespace {

constexpr std::uint64_t kEntries = 1'000'000;
constexpr std::uint64_t kStretch = 500;  // entries between two branches

// Makes a million short entries with the branches of a person who tries things again: long stretches, and a step back
// now and then.
std::string makeSession() {
  const std::string folder = workFolder() + "/tree";
  auto store = SessionStore::open(folder);
  require(store.has_value(), "opening the store");
  require((*store)->createSession({.sessionId = "tree"}).has_value(), "making a session");
  constexpr std::uint64_t kBatch = 20'000;
  for (std::uint64_t from = 0; from < kEntries; from += kBatch) {
    std::vector<Entry> batch(kBatch);
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      Entry& entry = batch[i];
      const std::uint64_t number = from + i;
      entry.id = fmt::format("entry-{}", number);
      entry.type = entry_type::kMessage;
      entry.payload = R"({"dialect":"bough","message":{"role":"user","content":"short"}})";
      if (number % kStretch == 0 && number > 0) entry.parentId = fmt::format("entry-{}", number - kStretch / 2);
    }
    require((*store)->appendSessionEntries("tree", std::move(batch)).has_value(), "appending");
  }
  require((*store)->close().has_value(), "closing");
  store = SessionStore::open(folder);
  require(store && (*store)->loadTree("tree").has_value(), "indexing");
  return folder;
}

std::vector<Row> treeOfAMillion() {
  const std::string folder = makeSession();
  const std::string index = folder + "/sessions/tree.idx";
  require(std::filesystem::exists(index), "an index file");
  const auto times = interleaved(31, {[&] {
                                        auto store = SessionStore::open(folder);
                                        require(store.has_value(), "opening the store");
                                        const auto tree = (*store)->loadTree("tree");
                                        require(tree && tree->branches().size() == kEntries / kStretch, "the tree");
                                      },
                                      [&] { readWhole(index); }});
  return {{.name = "tree and branches of 1,000,000 entries from the index / reading the index file",
           .ours = times[0] * 1e3,
           .floor = times[1] * 1e3,
           .unit = "ms",
           .bound = 3}};
}

}  // namespace

std::vector<Benchmark> treeBenchmarks() {
  return {{.name = "tree", .run = treeOfAMillion}};
}

}  // namespace bough::bench
