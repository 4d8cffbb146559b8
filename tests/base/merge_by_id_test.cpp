#include "base/model/merge_by_id.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace bough {
namespace {

struct Item {
  std::uint64_t id = 0;
  std::vector<int> values = {};
  bool operator==(const Item&) const = default;
};

TEST(MergeByIdTest, LeavesEachIdOnceInTheOrderOfTheFirst) {
  std::mt19937_64 random(20261117);
  for (int round = 0; round < 300; ++round) {
    std::vector<Item> items;
    std::vector<Item> wanted;
    std::map<std::uint64_t, std::size_t> places;
    const std::uint64_t ids = 1 + random() % 50;
    const int count = static_cast<int>(random() % 200);
    for (int i = 0; i < count; ++i) {
      // Includes ids that differ only in their highest bits, and 0.
      const std::uint64_t id = random() % ids << (round % 2 == 0 ? 0 : 56);
      items.push_back({.id = id, .values = {i}});
      const auto [place, isNew] = places.try_emplace(id, wanted.size());
      if (isNew) wanted.push_back({.id = id});
      wanted[place->second].values.push_back(i);
    }
    mergeById(items, [](Item& first, const Item& other) {
      first.values.insert(first.values.end(), other.values.begin(), other.values.end());
    });
    EXPECT_EQ(items, wanted);
  }
}

}  // namespace
}  // namespace bough
