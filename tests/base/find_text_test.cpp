#include "base/bytes/find_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/bytes/avx2_block.h"

namespace bough {
namespace {

TEST(FindTextTest, FindsWhatTheStandardLibraryFinds) {
  std::mt19937_64 random(20261117);
  for (const WantedText wanted : {WantedText{.text = "\"usage\"", .first = 1, .second = 4},
                                  WantedText{.text = "ab", .first = 0, .second = 1}, WantedText{.text = "a"}}) {
    for (std::size_t size = 0; size < 400; ++size) {
      std::string text;
      // Uses few letters, so that parts of the text occur everywhere.
      while (text.size() < size)
        text += random() % 40 == 0 ? std::string(wanted.text) : std::string(1, "\"usagexb"[random() % 8]);
      for (std::size_t from = 0; from <= text.size(); ++from) {
        for (const bool avx2 : {false, true}) {
          allowAvx2(avx2);
          ASSERT_EQ(findText(text, wanted, from), text.find(wanted.text, from)) << text << " from " << from;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bough
