#include "base/text/address.h"

#include <algorithm>
#include <cstddef>

namespace bough::text {
namespace {

// Returns the position of the `@` after a name and a password; npos when there is none. An unencoded password may
// contain `@` and `?`. An option may contain `@` too. The options begin after the first `@`, at a `?` that is followed
// by a name and `=`.
std::size_t endOfUser(std::string_view address) {
  constexpr std::string_view kOfName = "abcdefghijklmnopqrstuvwxyz_";
  const std::string_view place = address.substr(0, address.find('/'));
  for (std::size_t query = place.find('?', place.find('@')); query < place.size(); query = place.find('?', query + 1)) {
    const std::string_view option = place.substr(query + 1);
    const std::size_t end = option.find_first_not_of(kOfName);
    if (end != 0 && end < option.size() && option[end] == '=') return place.substr(0, query).rfind('@');
  }
  return place.rfind('@');
}

}  // namespace

std::vector<std::string_view> passwordsIn(std::string_view address) {
  std::vector<std::string_view> found;
  const std::size_t scheme = address.find("://");
  if (scheme != std::string_view::npos) address.remove_prefix(scheme + 3);
  const std::size_t at = endOfUser(address);
  if (at != std::string_view::npos) {
    const std::size_t colon = address.find(':');
    if (colon < at) found.push_back(address.substr(colon + 1, at - colon - 1));
    address.remove_prefix(at + 1);
  }
  address.remove_prefix(std::min(address.find('?'), address.size()));
  while (!address.empty()) {
    address.remove_prefix(1);
    const std::string_view option = address.substr(0, address.find('&'));
    const std::size_t value = option.find('=') + 1;
    const std::string_view name = option.substr(0, value);
    if (name == "password=" || name == "sslpassword=") found.push_back(option.substr(value));
    address.remove_prefix(option.size());
  }
  std::erase_if(found, [](std::string_view password) { return password.empty(); });
  return found;
}

std::string withoutPasswords(std::string_view address) {
  std::string out;
  std::size_t copied = 0;
  for (const std::string_view password : passwordsIn(address)) {
    const auto begin = static_cast<std::size_t>(password.data() - address.data());
    out += address.substr(copied, begin - copied);
    copied = begin + password.size();
  }
  return out += address.substr(copied);
}

void hidePasswords(char* address) {
  const std::string_view text(address);
  for (const std::string_view password : passwordsIn(text)) {
    std::fill_n(address + (password.data() - text.data()), password.size(), 'x');
  }
}

}  // namespace bough::text
