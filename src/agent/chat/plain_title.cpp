#include "agent/chat/plain_title.h"

#include "base/text/text.h"

namespace bough::agent {
namespace {

constexpr std::string_view kPairs[][2] = {{"**", "**"}, {"__", "__"}, {"*", "*"},   {"_", "_"},
                                          {"`", "`"},   {"\"", "\""}, {"'", "'"},   {"“", "”"},
                                          {"„", "“"},   {"«", "»"},   {"「", "」"}, {"《", "》"}};
constexpr std::string_view kNames[] = {"Title:", "title:", "标题：", "标题:"};

// Strips a pair of marks around the whole text. Marks inside belong to the title.
bool stripPair(std::string_view& text) {
  for (const auto& [open, close] : kPairs) {
    if (text.size() <= open.size() + close.size() || !text.starts_with(open) || !text.ends_with(close)) continue;
    const std::string_view inside = text.substr(open.size(), text.size() - open.size() - close.size());
    if (inside.contains(open) || inside.contains(close)) continue;
    text = inside;
    return true;
  }
  return false;
}

bool stripBeginning(std::string_view& text) {
  const std::size_t marks = text.find_first_not_of('#');
  if (marks != 0 && marks != std::string_view::npos && text[marks] == ' ') {
    text.remove_prefix(marks);
    return true;
  }
  for (const std::string_view name : kNames) {
    if (!text.starts_with(name) || text.size() == name.size()) continue;
    text.remove_prefix(name.size());
    return true;
  }
  return false;
}

}  // namespace

std::string plainTitle(std::string_view answer) {
  std::string_view text = text::trimmed(answer);
  text = text::trimmed(text.substr(0, text.find('\n')));
  while (stripBeginning(text) || stripPair(text)) text = text::trimmed(text);
  return std::string(text);
}

}  // namespace bough::agent
