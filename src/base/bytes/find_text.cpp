#include "base/bytes/find_text.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes/avx2_block.h"

namespace bough {
namespace {

constexpr std::size_t kTextBlock = 64;

// Checks the positions whose bits are set. Returns the first at which the whole text matches; npos when there is none.
std::size_t firstWhole(const char* block, std::uint64_t places, std::string_view wanted) {
  for (; places != 0; places &= places - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(places));
    if (std::memcmp(block + at, wanted.data(), wanted.size()) == 0) return at;
  }
  return std::string_view::npos;
}

#if defined(__x86_64__)

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i loadWide(const char* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

[[gnu::target("avx2")]] std::size_t findTextWide(std::string_view text, const WantedText& wanted, std::size_t from) {
  const __m256i first = _mm256_set1_epi8(wanted.text[wanted.first]);
  const __m256i second = _mm256_set1_epi8(wanted.text[wanted.second]);
  const auto holds = [&] [[gnu::target("avx2"), gnu::always_inline]] (const char* at) {
    return _mm256_and_si256(_mm256_cmpeq_epi8(loadWide(at + wanted.first), first),
                            _mm256_cmpeq_epi8(loadWide(at + wanted.second), second));
  };
  for (; from + kTextBlock + wanted.text.size() <= text.size(); from += kTextBlock) {
    const char* block = text.data() + from;
    const __m256i low = holds(block);
    const __m256i high = holds(block + 32);
    if (_mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0) continue;
    const auto early = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
    const auto late = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
    const std::size_t at = firstWhole(block, std::uint64_t{late} << 32 | early, wanted.text);
    if (at != std::string_view::npos) return from + at;
  }
  return text.find(wanted.text, from);
}

#endif

std::size_t findTextNarrow(std::string_view text, const WantedText& wanted, std::size_t from) {
  const Bytes first = fillBytes(wanted.text[wanted.first]);
  const Bytes second = fillBytes(wanted.text[wanted.second]);
  const auto holds = [&](const char* at) {
    return both(equal(loadBytes(at + wanted.first), first), equal(loadBytes(at + wanted.second), second));
  };
  for (; from + kTextBlock + wanted.text.size() <= text.size(); from += kTextBlock) {
    const char* block = text.data() + from;
    const Bytes a = holds(block);
    const Bytes b = holds(block + 16);
    const Bytes c = holds(block + 32);
    const Bytes d = holds(block + 48);
    if (!any(either(either(a, b), either(c, d)))) continue;
    const std::size_t at = firstWhole(block, bits(a, b, c, d), wanted.text);
    if (at != std::string_view::npos) return from + at;
  }
  return text.find(wanted.text, from);
}

}  // namespace

std::size_t findText(std::string_view text, const WantedText& wanted, std::size_t from) {
#if defined(__x86_64__)
  if (hasAvx2()) return findTextWide(text, wanted, from);
#endif
  return findTextNarrow(text, wanted, from);
}

}  // namespace bough
