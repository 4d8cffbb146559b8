#include "base/ids.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

#include "base/environment.h"

namespace bough {
namespace {

// Which bytes ids may hold. Ids are checked with every line that is read, so by a table and without branches.
constexpr std::array<unsigned char, 256> allowedBytes(std::string_view punctuation) {
  std::array<unsigned char, 256> allowed{};
  for (unsigned c = 0; c < 256; ++c) {
    allowed[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? 1 : 0;
  }
  for (const char c : punctuation) allowed[static_cast<unsigned char>(c)] = 1;
  return allowed;
}
constexpr auto kEntryIdBytes = allowedBytes("._:-");
constexpr auto kSessionIdBytes = allowedBytes("._-");

bool allIn(const std::array<unsigned char, 256>& allowed, std::string_view text) {
  unsigned all = 1;
  const auto at = [&](std::size_t i) -> unsigned { return allowed[static_cast<unsigned char>(text[i])]; };
  std::size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) all &= at(i) & at(i + 1) & at(i + 2) & at(i + 3);
  for (; i < text.size(); ++i) all &= at(i);
  return all != 0;
}

}  // namespace

bool isEntryId(std::string_view id) {
  return !id.empty() && id.size() <= 128 && allIn(kEntryIdBytes, id);
}

bool isSessionId(std::string_view id) {
  return !id.empty() && id.size() <= 100 && id.front() != '.' && allIn(kSessionIdBytes, id);
}

bool isSessionKey(std::string_view key) {
  return !key.empty() && key.size() <= 512 &&
         std::ranges::none_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }) &&
         simdjson::validate_utf8(key.data(), key.size());
}

std::string IdGenerator::next() {
  std::string id;
  next(id);
  return id;
}

void IdGenerator::next(std::string& id) {
  make(clock_.nowMs(), random_.next(), id);
}

void IdGenerator::Batch::next(std::string& id) {
  // One time and one draw for all, spread by the finalizer of splitmix64.
  if (count_ == 0) {
    nowMs_ = generator_.clock_.nowMs();
    seed_ = generator_.random_.next();
  }
  std::uint64_t bits = seed_ + count_++ * 0x9E3779B97F4A7C15;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  generator_.make(nowMs_, bits ^ bits >> 31, id);
}

void IdGenerator::make(std::uint64_t now, std::uint64_t randomBits, std::string& id) {
  constexpr std::uint32_t kCounterEnd = 1U << 12;
  const std::lock_guard lock(mutex_);
  if (now > lastMs_) {
    lastMs_ = now;
    counter_ = 0;
  } else if (++counter_ == kCounterEnd) {
    ++lastMs_;
    counter_ = 0;
  }
  const std::uint64_t high = lastMs_ << 16 | 0x7000 | counter_;
  const std::uint64_t low = (randomBits >> 2) | std::uint64_t{1} << 63;

  static constexpr char kHex[] = "0123456789abcdef";
  id.assign(36, '-');
  const auto put = [&](std::size_t at, std::uint64_t word, int firstBit, std::size_t digits) {
    for (std::size_t i = 0; i < digits; ++i, firstBit -= 4) id[at + i] = kHex[word >> firstBit & 15];
  };
  put(0, high, 60, 8);
  put(9, high, 28, 4);
  put(14, high, 12, 4);
  put(19, low, 60, 4);
  put(24, low, 44, 12);
}

}  // namespace bough
