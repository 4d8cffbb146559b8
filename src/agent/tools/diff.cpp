#include "agent/tools/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace bough::agent {
namespace {

constexpr std::size_t kAround = 2;
constexpr std::size_t kShown = 40;

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

void addLines(std::string& out, char mark, const std::vector<std::string_view>& lines, std::size_t begin,
              std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, begin + kShown); ++i) out.append(1, mark).append(lines[i]).append("\n");
  if (end > begin + kShown) out += fmt::format("{}[… {} more lines …]\n", mark, end - begin - kShown);
}

}  // namespace

std::string lineDiff(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto old = linesOf(before);
  const auto now = linesOf(after);
  std::size_t begin = 0;
  while (begin < old.size() && begin < now.size() && old[begin] == now[begin]) ++begin;
  std::size_t same = 0;
  while (same < old.size() - begin && same < now.size() - begin &&
         old[old.size() - 1 - same] == now[now.size() - 1 - same]) {
    ++same;
  }
  const std::size_t first = begin - std::min(begin, kAround);
  std::string out = fmt::format("@@ line {} @@\n", begin + 1);
  addLines(out, ' ', old, first, begin);
  addLines(out, '-', old, begin, old.size() - same);
  addLines(out, '+', now, begin, now.size() - same);
  addLines(out, ' ', now, now.size() - same, now.size() - same + std::min(same, kAround));
  return out;
}

}  // namespace bough::agent
