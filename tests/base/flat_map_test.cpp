#include "base/bytes/flat_map.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>

#include "base/bytes/byte_set.h"

namespace bough {
namespace {

// Few different keys, so that insert, erase and find meet; multiples of a power of two, so that many keys share a slot.
TEST(FlatMap, HoldsWhatAMapOfTheStandardLibraryHolds) {
  std::mt19937_64 random(7);
  for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{1} << 58}) {
    FlatMap<std::uint32_t> flat;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 60'000; ++i) {
      const std::uint64_t key = random() % 3'000 * step;
      if (random() % 3 == 0) {
        ASSERT_EQ(flat.erase(key), expected.erase(key) == 1) << key;
      } else {
        ASSERT_EQ(flat.insert(key, i), expected.emplace(key, i).second) << key;
      }
      ASSERT_EQ(flat.size(), expected.size());
      const std::uint64_t other = random() % 3'000 * step;
      const auto found = expected.find(other);
      const std::uint32_t* value = flat.find(other);
      ASSERT_EQ(value != nullptr, found != expected.end()) << other;
      if (value != nullptr) {
        ASSERT_EQ(*value, found->second);
      }
    }
    for (const auto& [key, value] : expected) ASSERT_TRUE(flat.contains(key)) << key;
    flat.clear();
    EXPECT_TRUE(flat.empty());
    for (const auto& [key, value] : expected) ASSERT_FALSE(flat.contains(key)) << key;
  }
}

TEST(FlatMap, TakesNoMoreThanAKeyInASlotOfASet) {
  NumberSet set;
  EXPECT_FALSE(set.contains(0));
  EXPECT_FALSE(set.erase(0));
  EXPECT_TRUE(set.insert(0));
  EXPECT_FALSE(set.insert(0));
  EXPECT_TRUE(set.contains(0));
  EXPECT_FALSE(set.contains(1));
  EXPECT_TRUE(set.erase(0));
  EXPECT_FALSE(set.contains(0));
  EXPECT_EQ(set.slotBytes(), sizeof(std::uint64_t));
}

// The division of a text into blocks must not affect which texts have different hashes.
TEST(HashOf, TellsTextsApartThatDifferInOneByteOrInTheirLength) {
  for (const std::size_t size : {0U, 7U, 255U, 256U, 287U, 288U, 289U, 5'000U}) {
    const std::string text(size, 'a');
    FlatMap<Nothing> hashes;
    ASSERT_TRUE(hashes.insert(hashOf(text)));
    EXPECT_TRUE(hashes.insert(hashOf(text + '\0'))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = static_cast<char>('a' ^ 0x80);
      EXPECT_TRUE(hashes.insert(hashOf(other))) << size << ' ' << at;
    }
    EXPECT_EQ(hashOf(text), hashOf(std::string(size, 'a')));
  }
}

TEST(ByteSet, FindsTheFirstByteThatItHas) {
  constexpr ByteSet kSet(std::string_view("*\xFF\0", 3));
  EXPECT_EQ(kSet.findIn("ab*c*"), 2U);
  EXPECT_EQ(kSet.findIn("ab*c*", 3), 4U);
  EXPECT_EQ(kSet.findIn(std::string_view("a\0", 2)), 1U);
  EXPECT_EQ(kSet.findIn("\xFF"), 0U);
  EXPECT_EQ(kSet.findIn("abc"), std::string_view::npos);
  EXPECT_EQ(kSet.findIn("", 5), std::string_view::npos);
}

}  // namespace
}  // namespace bough
