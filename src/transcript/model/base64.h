// Base64, as every provider wants images.
#pragma once

#include <string>
#include <string_view>

namespace bough::transcript {

inline std::string toBase64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    const unsigned word = byte(0) << 16U | byte(1) << 8U | byte(2);
    out += kDigits[word >> 18U];
    out += kDigits[word >> 12U & 63U];
    out += at + 1 < bytes.size() ? kDigits[word >> 6U & 63U] : '=';
    out += at + 2 < bytes.size() ? kDigits[word & 63U] : '=';
  }
  return out;
}

}  // namespace bough::transcript
