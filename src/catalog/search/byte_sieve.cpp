#include "catalog/search/byte_sieve.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bough::catalog {
namespace {

constexpr std::size_t kBlock = 16;
using Block = unsigned char __attribute__((vector_size(kBlock)));
using Mask = decltype(std::declval<Block>() == std::declval<Block>());  // 0xFF where the comparison holds

[[gnu::always_inline]] inline Block load(const char* at) {
  Block block;
  std::memcpy(&block, at, sizeof block);
  return block;
}

[[gnu::always_inline]] inline Block allOf(unsigned char c) {
  return Block{} + c;
}

// Returns the first position where the mask is set. It must be set somewhere.
[[gnu::always_inline]] inline std::size_t firstOf(Mask mask) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &mask, sizeof halves);
  if (halves[0] != 0) return static_cast<std::size_t>(std::countr_zero(halves[0])) / 8;
  return 8 + static_cast<std::size_t>(std::countr_zero(halves[1])) / 8;
}

[[gnu::always_inline]] inline bool any(Mask mask) {
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &mask, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

// Bytes in ascending order of their frequency in English text and JSON. Bytes that are not listed are rarer still.
constexpr std::string_view kFrequent = "zjqxkvw98765y4321bg0pf_-.:,mucl/hdrniosate\" ";

std::size_t frequencyOf(char c) {
  const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  const std::size_t at = kFrequent.find(lower);
  return at == std::string_view::npos ? 0 : at + 1;
}

}  // namespace

void ByteSieve::addAnchor(std::string_view anchor) {
  std::vector<std::size_t> places(anchor.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) { return std::pair(frequencyOf(anchor[place]), place); });
  Bytes& bytes = anchors_.emplace_back();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i].place = places[std::min(i, places.size() - 1)];
    bytes[i].value = static_cast<unsigned char>(anchor[bytes[i].place]) | caseBit_;
  }
  longest_ = std::max(longest_, anchor.size());
}

template <LetterBytes kLetters, bool kCase, std::size_t kCount>
std::size_t ByteSieve::find16(const char* bytes, std::size_t at, std::size_t end) const {
  struct Wanted {
    Block value;
    std::size_t place;
  };
  std::array<std::array<Wanted, 3>, kCount> wanted;
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 3; ++k) wanted[i][k] = {allOf(anchors_[i][k].value), anchors_[i][k].place};
  }
  const Block caseBit = allOf(caseBit_);
  const auto holds = [&] [[gnu::always_inline]] (const char* block, std::size_t place, Block value) {
    const Block there = load(block + place);
    return (kCase ? there | caseBit : there) == value;
  };
  const auto maskAt = [&] [[gnu::always_inline]] (const char* block) {
    const Block here = load(block);
    const Block next = load(block + 1);
    Mask found = ((here == allOf('\\')) & (next == allOf('u'))) | ((here == allOf('$')) & (next == allOf('a')));
    if constexpr (kLetters == LetterBytes::All) found |= here >= allOf(0x80);
    if constexpr (kLetters == LetterBytes::Folding) {
      const Mask others = (here - allOf(0xCE) <= allOf(0xD1 - 0xCE)) | (here - allOf(0xE4) <= allOf(0xE9 - 0xE4));
      found |= (here >= allOf(0xC2)) & ~others;
    }
    for (const auto& [first, second, third] : wanted) {
      found |= holds(block, first.place, first.value) & holds(block, second.place, second.value) &
               holds(block, third.place, third.value);
    }
    for (std::size_t i = kCount; i < (kCount == 0 ? anchors_.size() : 0); ++i) {
      Mask held = ~Mask{};
      for (const Byte& byte : anchors_[i]) held &= holds(block, byte.place, allOf(byte.value));
      found |= held;
    }
    return found;
  };
  for (; at < end; at += kStep) {
    const std::array<Mask, 4> masks = {maskAt(bytes + at), maskAt(bytes + at + kBlock), maskAt(bytes + at + 2 * kBlock),
                                       maskAt(bytes + at + 3 * kBlock)};
    if (!any(masks[0] | masks[1] | masks[2] | masks[3])) continue;
    for (const Mask& mask : masks) {
      if (any(mask)) return at + firstOf(mask);
      at += kBlock;
    }
  }
  return at;
}

#if defined(__x86_64__)

namespace {

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i wide(const char* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i wideOf(unsigned char c) {
  return _mm256_set1_epi8(static_cast<char>(c));
}

// Unsigned comparison.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i isAtMost(__m256i value, unsigned char maximum) {
  return _mm256_cmpeq_epi8(_mm256_min_epu8(value, wideOf(maximum)), value);
}

template <LetterBytes kLetters>
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i lettersIn(__m256i here) {
  if constexpr (kLetters != LetterBytes::Folding) return here;  // only the highest bit matters
  const __m256i letter = _mm256_cmpeq_epi8(_mm256_max_epu8(here, wideOf(0xC2)), here);
  const __m256i others = _mm256_or_si256(isAtMost(_mm256_sub_epi8(here, wideOf(0xCE)), 0xD1 - 0xCE),
                                         isAtMost(_mm256_sub_epi8(here, wideOf(0xE4)), 0xE9 - 0xE4));
  return _mm256_andnot_si256(others, letter);
}

}  // namespace

template <LetterBytes kLetters, bool kCase, std::size_t kCount>
[[gnu::target("avx2")]] std::size_t ByteSieve::find32(const char* bytes, std::size_t at, std::size_t end) const {
  struct Wanted {
    __m256i value;
    std::size_t place;
  };
  Wanted wanted[kCount][3];
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 3; ++k) wanted[i][k] = {wideOf(anchors_[i][k].value), anchors_[i][k].place};
  }
  const __m256i caseBit = wideOf(caseBit_);
  const auto holds = [&] [[gnu::target("avx2"), gnu::always_inline]] (const char* block, const Wanted& byte) {
    __m256i there = wide(block + byte.place);
    if constexpr (kCase) there = _mm256_or_si256(there, caseBit);
    return _mm256_cmpeq_epi8(there, byte.value);
  };
  const auto maskAt = [&] [[gnu::target("avx2"), gnu::always_inline]] (const char* block, __m256i here) {
    const __m256i next = wide(block + 1);
    const __m256i escape =
        _mm256_and_si256(_mm256_cmpeq_epi8(here, wideOf('\\')), _mm256_cmpeq_epi8(next, wideOf('u')));
    const __m256i attached =
        _mm256_and_si256(_mm256_cmpeq_epi8(here, wideOf('$')), _mm256_cmpeq_epi8(next, wideOf('a')));
    __m256i found = _mm256_or_si256(escape, attached);
    for (std::size_t i = 0; i < kCount; ++i) {
      const __m256i held = _mm256_and_si256(_mm256_and_si256(holds(block, wanted[i][0]), holds(block, wanted[i][1])),
                                            holds(block, wanted[i][2]));
      found = _mm256_or_si256(found, held);
    }
    return found;
  };
  for (; at < end; at += kStep) {
    const __m256i low = wide(bytes + at);
    const __m256i high = wide(bytes + at + 32);
    __m256i first = maskAt(bytes + at, low);
    __m256i second = maskAt(bytes + at + 32, high);
    // Most text is ASCII, in which no byte has its highest bit set.
    if (kLetters != LetterBytes::None && _mm256_movemask_epi8(_mm256_or_si256(low, high)) != 0) {
      first = _mm256_or_si256(first, lettersIn<kLetters>(low));
      second = _mm256_or_si256(second, lettersIn<kLetters>(high));
    }
    if (_mm256_movemask_epi8(_mm256_or_si256(first, second)) == 0) continue;
    const auto early = static_cast<std::uint32_t>(_mm256_movemask_epi8(first));
    const auto late = static_cast<std::uint32_t>(_mm256_movemask_epi8(second));
    return at + static_cast<std::size_t>(std::countr_zero(std::uint64_t{late} << 32 | early));
  }
  return at;
}

namespace {

[[gnu::target("avx512bw"), gnu::always_inline]] inline __m512i widest(const char* at) {
  return _mm512_loadu_si512(at);
}

[[gnu::target("avx512bw"), gnu::always_inline]] inline __m512i widestOf(unsigned char c) {
  return _mm512_set1_epi8(static_cast<char>(c));
}

// Each comparison examines only the bytes for which the previous one was true.
template <LetterBytes kLetters>
[[gnu::target("avx512bw"), gnu::always_inline]] inline __mmask64 letterMask(__m512i here) {
  if constexpr (kLetters == LetterBytes::None) return 0;
  if constexpr (kLetters == LetterBytes::All) return _mm512_movepi8_mask(here);
  const __mmask64 letter = _mm512_cmpge_epu8_mask(here, widestOf(0xC2));
  const __mmask64 notGreek =
      _mm512_mask_cmpgt_epu8_mask(letter, _mm512_sub_epi8(here, widestOf(0xCE)), widestOf(0xD1 - 0xCE));
  return _mm512_mask_cmpgt_epu8_mask(notGreek, _mm512_sub_epi8(here, widestOf(0xE4)), widestOf(0xE9 - 0xE4));
}

}  // namespace

template <LetterBytes kLetters, bool kCase, std::size_t kCount>
[[gnu::target("avx512bw")]] std::size_t ByteSieve::find64(const char* bytes, std::size_t at, std::size_t end) const {
  struct Wanted {
    __m512i value;
    std::size_t place;
  };
  Wanted wanted[kCount][3];
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 3; ++k) wanted[i][k] = {widestOf(anchors_[i][k].value), anchors_[i][k].place};
  }
  const __m512i caseBit = widestOf(caseBit_);
  for (; at < end; at += kStep) {
    const char* block = bytes + at;
    const __m512i here = widest(block);
    const __m512i next = widest(block + 1);
    const __mmask64 backslash = _mm512_cmpeq_epi8_mask(here, widestOf('\\'));
    const __mmask64 dollar = _mm512_cmpeq_epi8_mask(here, widestOf('$'));
    __mmask64 found = _mm512_mask_cmpeq_epi8_mask(backslash, next, widestOf('u')) |
                      _mm512_mask_cmpeq_epi8_mask(dollar, next, widestOf('a')) | letterMask<kLetters>(here);
    const auto holds = [&] [[gnu::target("avx512bw"), gnu::always_inline]] (__mmask64 held, const Wanted& byte) {
      __m512i there = widest(block + byte.place);
      if constexpr (kCase) there = _mm512_or_si512(there, caseBit);
      return _mm512_mask_cmpeq_epi8_mask(held, there, byte.value);
    };
    for (const auto& [first, second, third] : wanted) {
      const __mmask64 held = holds(holds(~__mmask64{0}, first), second);
      if (held != 0) found |= holds(held, third);  // rare
    }
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return at;
}

SieveWidth widestSieve() {
  static const SieveWidth width = __builtin_cpu_supports("avx512bw") != 0 ? SieveWidth::SixtyFour
                                  : __builtin_cpu_supports("avx2") != 0   ? SieveWidth::ThirtyTwo
                                                                          : SieveWidth::Sixteen;
  return width;
}

#else

SieveWidth widestSieve() {
  return SieveWidth::Sixteen;
}

#endif

template <LetterBytes kLetters, bool kCase, std::size_t kCount>
std::size_t ByteSieve::findByWidth(const char* bytes, std::size_t at, std::size_t end) const {
#if defined(__x86_64__)
  if constexpr (kCount > 0) {
    if (width_ == SieveWidth::SixtyFour) return find64<kLetters, kCase, kCount>(bytes, at, end);
    if (width_ == SieveWidth::ThirtyTwo) return find32<kLetters, kCase, kCount>(bytes, at, end);
  }
#endif
  return find16<kLetters, kCase, kCount>(bytes, at, end);
}

template <LetterBytes kLetters, bool kCase>
std::size_t ByteSieve::findByCount(const char* bytes, std::size_t at, std::size_t end) const {
  switch (anchors_.size()) {
    case 1: return findByWidth<kLetters, kCase, 1>(bytes, at, end);
    case 2: return findByWidth<kLetters, kCase, 2>(bytes, at, end);
    default: return findByWidth<kLetters, kCase, 0>(bytes, at, end);
  }
}

std::size_t ByteSieve::find(const char* bytes, std::size_t at, std::size_t end) const {
  if (letters_ == LetterBytes::Folding) return findByCount<LetterBytes::Folding, true>(bytes, at, end);
  if (letters_ == LetterBytes::All) return findByCount<LetterBytes::All, true>(bytes, at, end);
  return caseBit_ == 0 ? findByCount<LetterBytes::None, false>(bytes, at, end)
                       : findByCount<LetterBytes::None, true>(bytes, at, end);
}

}  // namespace bough::catalog
