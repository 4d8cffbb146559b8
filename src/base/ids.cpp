#include "base/ids.h"

#include <simdjson.h>

#include <algorithm>

#include "base/environment.h"

namespace bough {
namespace {

constexpr bool isAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool isEntryId(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::ranges::all_of(id, [](char c) {
    return isAlphanumeric(c) || c == '.' || c == '_' || c == ':' || c == '-';
  });
}

bool isSessionId(std::string_view id) {
  return !id.empty() && id.size() <= 100 && id.front() != '.' &&
         std::ranges::all_of(id, [](char c) { return isAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

bool isSessionKey(std::string_view key) {
  return !key.empty() && key.size() <= 512 &&
         std::ranges::none_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }) &&
         simdjson::validate_utf8(key.data(), key.size());
}

std::string IdGenerator::next() {
  constexpr std::uint32_t kCounterEnd = 1U << 12;
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = clock_.nowMs();
  if (now > lastMs_) {
    lastMs_ = now;
    counter_ = 0;
  } else if (++counter_ == kCounterEnd) {
    ++lastMs_;
    counter_ = 0;
  }
  const std::uint64_t high = lastMs_ << 16 | 0x7000 | counter_;
  const std::uint64_t low = (random_.next() >> 2) | std::uint64_t{1} << 63;

  static constexpr char kHex[] = "0123456789abcdef";
  std::string id(36, '-');
  std::size_t at = 0;
  for (int digit = 0; digit < 32; ++digit) {
    if (at == 8 || at == 13 || at == 18 || at == 23) ++at;
    const std::uint64_t word = digit < 16 ? high : low;
    id[at++] = kHex[word >> (60 - 4 * (digit % 16)) & 15];
  }
  return id;
}

}  // namespace bough
