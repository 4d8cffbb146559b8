#include "agent/tools/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/utf8.h"

namespace bough::agent {
namespace {

constexpr std::size_t kAround = 2;
constexpr std::size_t kShown = 40;
constexpr std::size_t kLineBytes = 4'000;

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

// Not cut inside a character.
std::string_view beginOf(std::string_view line) {
  if (line.size() <= kLineBytes) return line;
  const std::string_view begin = line.substr(0, kLineBytes);
  const std::size_t valid = utf8PrefixBytes(begin);
  return valid + 4 > kLineBytes ? begin.substr(0, valid) : begin;
}

void addLines(std::string& out, char mark, const std::vector<std::string_view>& lines, std::size_t begin,
              std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, begin + kShown); ++i) {
    const std::string_view line = lines[i];
    const std::string_view shown = beginOf(line);
    out.append(1, mark).append(shown);
    if (shown.size() < line.size()) out += fmt::format("[… {} more bytes …]", line.size() - shown.size());
    out += "\n";
  }
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
