#include "transcript/model/uuid.h"

#include <charconv>

#include "base/bytes/sha256.h"

namespace bough::transcript {

std::string uuidFor(std::string_view name) {
  const std::string hex = Sha256::of(name);
  return hex.substr(0, 8) + '-' + hex.substr(8, 4) + "-8" + hex.substr(13, 3) + "-8" + hex.substr(17, 3) + '-' +
         hex.substr(20, 12);
}

std::uint64_t uuidTimeMs(std::string_view uuid) {
  if (!isUuid(uuid) || uuid[14] != '7') return 0;
  const std::string digits = std::string(uuid.substr(0, 8)) + std::string(uuid.substr(9, 4));
  std::uint64_t ms = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), ms, 16);
  return ms;
}

}  // namespace bough::transcript
