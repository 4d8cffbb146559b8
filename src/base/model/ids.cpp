#include "base/model/ids.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes/byte_block.h"
#include "base/bytes/put.h"
#include "base/check.h"
#include "base/system/environment.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace bough {
namespace {

// Compares sixteen bytes at a time, because ids are checked in every line that is read or written.
Bytes lettersDigitsAnd(Bytes text, char lastDigit) {
  const Bytes letters = inRange(either(text, fillBytes(0x20)), 'a', 'z');
  const Bytes digits = inRange(text, '0', lastDigit);
  const Bytes punctuation = either(inRange(text, '-', '.'), equal(text, fillBytes('_')));
  return either(either(letters, digits), punctuation);
}

// Returns true when the text contains only bytes of [A-Za-z0-9._-] and the bytes after '9' up to `lastDigit`.
bool isMadeOfIdBytes(std::string_view text, char lastDigit) {
  constexpr std::size_t kPart = sizeof(Bytes);
  if (text.size() < kPart) {
    std::array<char, kPart> padded;
    padded.fill('a');
    std::memcpy(padded.data(), text.data(), text.size());
    return all(lettersDigitsAnd(loadBytes(padded.data()), lastDigit));
  }
  Bytes good = lettersDigitsAnd(loadBytes(text.data() + text.size() - kPart), lastDigit);
  for (std::size_t i = 0; i + kPart < text.size(); i += kPart) {
    good = both(good, lettersDigitsAnd(loadBytes(text.data() + i), lastDigit));
  }
  return all(good);
}

// Writes sixteen hexadecimal digits, two at a time.
void toHex(std::uint64_t word, char* out) {
  static constexpr auto kPairs = [] {
    std::array<std::array<char, 2>, 256> pairs{};
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i >> 4], kDigits[i & 15]};
    return pairs;
  }();
  for (int shift = 56; shift >= 0; shift -= 8, out += 2) std::memcpy(out, kPairs[word >> shift & 255].data(), 2);
}

constexpr unsigned kCounterBits = 12;

void writeId(std::uint64_t place, std::uint64_t randomBits, std::string& id) {
  constexpr std::uint64_t kCounter = (1U << kCounterBits) - 1;
  std::array<char, 32> digits;
  toHex(place >> kCounterBits << 16 | 0x7000 | (place & kCounter), digits.data());
  toHex((randomBits >> 2) | std::uint64_t{1} << 63, digits.data() + 16);
  const std::string_view all(digits.data(), digits.size());
  id.resize_and_overwrite(36, [&](char* out, std::size_t size) {
    Put put(out);
    put(all.substr(0, 8))("-")(all.substr(8, 4))("-")(all.substr(12, 4))("-");
    put(all.substr(16, 4))("-")(all.substr(20, 12));
    return size;
  });
}

}  // namespace

bool isEntryId(std::string_view id) {
  return !id.empty() && id.size() <= 128 && isMadeOfIdBytes(id, ':');
}

bool isSessionId(std::string_view id) {
  return !id.empty() && id.size() <= 100 && id.front() != '.' && isMadeOfIdBytes(id, '9');
}

bool isSessionKey(std::string_view key) {
  return !key.empty() && key.size() <= 512 &&
         std::ranges::none_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }) &&
         isUtf8(key);
}

bool isLabelName(std::string_view name) {
  constexpr std::size_t kMaxBytes = 128;
  const bool isShaped = !name.empty() && name.size() <= kMaxBytes && name != "-" && !name.starts_with('@') &&
                        !name.contains('~') && !name.starts_with(' ') && !name.ends_with(' ');
  return isShaped && text::printable(name) == name && !name.contains("\uFFFD");
}

std::string IdGenerator::next() {
  std::string id;
  next(id);
  return id;
}

void IdGenerator::next(std::string& id) {
  writeId(take(1, clock_.nowMs()), random_.next(), id);
}

void IdGenerator::Batch::next(std::string& id, std::uint64_t nowMs) {
  BOUGH_CHECK(left_ > 0);
  if (place_ == 0) {
    place_ = generator_.take(left_, nowMs);
    seed_ = generator_.random_.next();
  }
  // One random number for all ids, spread by the finalizer of splitmix64.
  std::uint64_t bits = seed_ + left_-- * 0x9E3779B97F4A7C15;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  writeId(place_++, bits ^ bits >> 31, id);
}

std::uint64_t IdGenerator::take(std::uint64_t count, std::uint64_t nowMs) {
  std::uint64_t last = lastPlace_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t first = std::max(nowMs << kCounterBits, last + 1);
    if (lastPlace_.compare_exchange_weak(last, first + count - 1, std::memory_order_relaxed)) return first;
  }
}

}  // namespace bough
