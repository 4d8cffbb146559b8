// Loops over text have the same results with and without AVX2. On a processor without AVX2, both runs are the same.
#include "base/bytes/avx2_block.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

#include "base/json/json_string.h"
#include "base/text/utf8.h"

namespace bough {
namespace {

template <typename Look>
auto without(Look look) {
  allowAvx2(false);
  auto found = look();
  allowAvx2(true);
  return found;
}

std::string randomText(std::mt19937& random, std::initializer_list<std::string_view> parts) {
  std::string text;
  const std::size_t wanted = random() % 300;
  while (text.size() < wanted) {
    const std::size_t kind = random() % (parts.size() + 4);
    text += kind < parts.size() ? parts.begin()[kind] : std::string(random() % 40, static_cast<char>('a' + kind));
  }
  return text;
}

TEST(Avx2, CanBeTurnedOff) {
  allowAvx2(false);
  EXPECT_FALSE(hasAvx2());
  allowAvx2(true);
#if defined(__x86_64__)
  EXPECT_EQ(hasAvx2(), __builtin_cpu_supports("avx2") != 0);
#else
  EXPECT_FALSE(hasAvx2());
#endif
}

TEST(Avx2, StringsEndInTheSamePlace) {
  std::mt19937 random(15);
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = randomText(
        random, {"\\n", "\\\"", "\\\\", "\\", "\\u00e9", "\\ud83d", "\\u12", "\\/", "\\x", "\"", "\n", "汉"});
    const auto look = [&] {
      const json::SkippedString found = json::skipString(text.data(), text.data() + text.size());
      return std::tuple(found.at - text.data(), found.reason, found.escapes, found.oddEscapes, found.surrogates,
                        json::mayHoldSurrogates(text));
    };
    ASSERT_EQ(look(), without(look)) << text;
  }
}

TEST(Avx2, Utf8IsTheSame) {
  std::mt19937 random(16);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = randomText(random, {"é", "汉字", "🙂", "\xED\x9F\xBF", "\xE0\xA0\x80", "\xEF\xBF\xBD"});
    if (i % 2 == 0 && !text.empty()) text[random() % text.size()] = static_cast<char>(random());
    const auto look = [&] { return isUtf8(text); };
    ASSERT_EQ(look(), without(look)) << text;
  }
}

}  // namespace
}  // namespace bough
