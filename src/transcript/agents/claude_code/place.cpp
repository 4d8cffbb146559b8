#include "transcript/agents/claude_code/place.h"

#include <algorithm>
#include <cstdint>

#include "transcript/model/uuid.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript::claude_code {
namespace {

std::string root(const TranscriptHome& home) {
  const std::string set = home.variable("CLAUDE_CONFIG_DIR");
  return (set.empty() ? home.home + "/.claude" : set) + "/projects";
}

// Returns the UTF-16 units of UTF-8 text, which is how Claude Code counts. A byte that is not UTF-8 is one unit.
std::vector<std::uint16_t> utf16(std::string_view text) {
  std::vector<std::uint16_t> units;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i) {
      point = (point << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    }
    at += length;
    if (point >= 0x10000) {
      units.push_back(static_cast<std::uint16_t>(0xD800U + ((point - 0x10000U) >> 10U)));
      units.push_back(static_cast<std::uint16_t>(0xDC00U + ((point - 0x10000U) & 0x3FFU)));
    } else {
      units.push_back(static_cast<std::uint16_t>(point));
    }
  }
  return units;
}

std::string base36(std::uint64_t number) {
  std::string digits;
  for (; number > 0 || digits.empty(); number /= 36) digits += "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
  std::ranges::reverse(digits);
  return digits;
}

}  // namespace

std::string projectFolder(std::string_view cwd) {
  constexpr std::size_t kLongest = 200;
  std::string name;
  std::uint32_t hash = 0;  // must wrap around like a signed 32-bit integer
  for (const std::uint16_t unit : utf16(cwd)) {
    const bool isPlain = (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z');
    name += isPlain ? static_cast<char>(unit) : '-';
    hash = hash * 31U + unit;
  }
  if (name.size() <= kLongest) return name;
  const auto value = static_cast<std::int64_t>(static_cast<std::int32_t>(hash));
  return name.substr(0, kLongest) + '-' + base36(static_cast<std::uint64_t>(value < 0 ? -value : value));
}

std::vector<std::string> folders(const TranscriptHome& home) {
  return {root(home)};
}

// <project>/<session>.jsonl, and the files of subagents, next to it or in <session>/subagents.
bool isTranscript(std::string_view relative) {
  if (!relative.ends_with(".jsonl")) return false;
  const auto slashes = std::ranges::count(relative, '/');
  const std::string name = nameOf(relative);
  const std::string stem = name.substr(0, name.size() - std::string_view(".jsonl").size());
  if (slashes == 1) return isUuid(stem) || stem.starts_with("agent-");
  return slashes == 3 && nameOf(folderOf(relative)) == "subagents" && stem.starts_with("agent-");
}

Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts) {
  if (!isUuid(facts.sessionId)) {
    return fail(ErrorCode::InvalidArgument, "a session id of Claude Code is a UUID", "");
  }
  TranscriptPlace place;
  place.path = root(home) + '/' + projectFolder(facts.cwd) + '/' + facts.sessionId + ".jsonl";
  place.command = "claude --resume " + facts.sessionId;
  return place;
}

}  // namespace bough::transcript::claude_code
