#include "agent/tools/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/utf8.h"

namespace bough::agent {
namespace {

constexpr std::size_t kAround = 2;

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

// Does not cut inside a character.
std::string_view beginOf(std::string_view line, std::size_t most) {
  if (line.size() <= most) return line;
  const std::string_view begin = line.substr(0, most);
  const std::size_t valid = utf8PrefixBytes(begin);
  return valid + 4 > most ? begin.substr(0, valid) : begin;
}

void addLines(std::string& out, char mark, const std::vector<std::string_view>& lines, std::size_t begin,
              std::size_t end, DiffLimits limits) {
  for (std::size_t i = begin; i < std::min(end, begin + limits.lines); ++i) {
    const std::string_view line = lines[i];
    const std::string_view shown = beginOf(line, limits.lineBytes);
    out.append(1, mark).append(shown);
    if (shown.size() < line.size()) out += fmt::format("[… {} more bytes …]", line.size() - shown.size());
    out += "\n";
  }
  if (end > begin + limits.lines) out += fmt::format("{}[… {} more lines …]\n", mark, end - begin - limits.lines);
}

}  // namespace

std::string lineDiff(std::string_view before, std::string_view after, DiffLimits limits) {
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
  addLines(out, ' ', old, first, begin, limits);
  addLines(out, '-', old, begin, old.size() - same, limits);
  addLines(out, '+', now, begin, now.size() - same, limits);
  addLines(out, ' ', now, now.size() - same, now.size() - same + std::min(same, kAround), limits);
  return out;
}

}  // namespace bough::agent
