#include "base/text/spelling.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bough::text {
namespace {

bool areSwapped(std::string_view from, std::size_t i, std::string_view to, std::size_t j) {
  return i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j];
}

}  // namespace

std::size_t typingErrors(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before;  // the row before `previous`
  std::vector<std::size_t> previous(to.size() + 1);
  for (std::size_t i = 0; i <= to.size(); ++i) previous[i] = i;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::vector<std::size_t> current{i + 1};
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = previous[j] + (from[i] == to[j] ? 0 : 1);
      current.push_back(std::min({replaced, previous[j + 1] + 1, current[j] + 1}));
      if (areSwapped(from, i, to, j)) current.back() = std::min(current.back(), before[j - 1] + 1);
    }
    before = std::exchange(previous, std::move(current));
  }
  return previous.back();
}

}  // namespace bough::text
