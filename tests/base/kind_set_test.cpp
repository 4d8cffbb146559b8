#include "base/model/kind_set.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace bough {
namespace {

std::size_t findOneByOne(const KindSet& wanted, const std::vector<EntryKind>& kinds, std::size_t from) {
  while (from < kinds.size() && !wanted.contains(kinds[from])) ++from;
  return from;
}

// Kinds with neighbouring and distant numbers, rare and frequent, in lists that end within and after a block.
TEST(KindSet, FindsWhatALookAtEachKindFinds) {
  constexpr auto kKinds = static_cast<std::size_t>(EntryKind::Redaction) + 1;
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    KindSet wanted;
    for (std::size_t count = random() % 5; count > 0; --count) wanted.add(static_cast<EntryKind>(random() % kKinds));
    std::vector<EntryKind> kinds(random() % 300, EntryKind::Message);
    for (std::size_t odd = random() % 8; odd > 0 && !kinds.empty(); --odd) {
      kinds[random() % kinds.size()] = static_cast<EntryKind>(random() % kKinds);
    }
    for (std::size_t from = 0; from <= kinds.size(); ++from) {
      ASSERT_EQ(wanted.find(kinds, from), findOneByOne(wanted, kinds, from)) << "round " << round << " from " << from;
    }
  }
}

}  // namespace
}  // namespace bough
