#include "base/text/accents.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace bough::text {

bool mayHaveAccents(std::string_view utf8) {
  // All characters that decompose into a letter and such a mark begin with one of these bytes; Chinese characters do
  // not.
  return std::ranges::any_of(utf8, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0xC3 && byte < 0xE0) || byte == 0xE1;
  });
}

std::string withoutAccents(std::string_view utf8) {
  std::string out(utf8);
  if (!mayHaveAccents(utf8)) return out;
  utf8proc_uint8_t* made = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()),
                                             static_cast<utf8proc_ssize_t>(utf8.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> held(made, std::free);
  if (size < 0) return out;
  const std::string_view apart(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
  out.clear();
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const auto byte = static_cast<unsigned char>(apart[i]);
    const auto next = static_cast<unsigned char>(i + 1 < apart.size() ? apart[i + 1] : 0);
    if (byte == 0xCC || (byte == 0xCD && next < 0xB0)) {
      ++i;
    } else {
      out += apart[i];
    }
  }
  return out;
}

}  // namespace bough::text
