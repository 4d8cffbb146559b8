#include "transcript/adapted_lines.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "transcript/model/entry_list.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

// Returns the new text of a member; std::nullopt when it does not change.
using Renaming = std::function<std::optional<std::string>(const std::string& text)>;

// Returns a line with the member of that name changed, both in the line and in its payload.
std::string withText(std::string line, std::string_view name, const Renaming& change) {
  for (const bool inPayload : {false, true}) {
    const std::string_view object = inPayload ? json::findMember(line, "payload").value_or("") : std::string_view(line);
    const auto member = json::findMember(object, name);
    const auto text = member ? json::decodeString(*member) : std::nullopt;
    const auto now = text ? change(*text) : std::nullopt;
    if (!now) continue;
    const auto at = static_cast<std::size_t>(member->data() - line.data());
    line.replace(at, member->size(), json::quoted(*now));
  }
  return line;
}

// Returns the value in a line that says how many bytes of another file this file continues.
std::string_view historyBytesIn(std::string_view line) {
  const auto payload = json::findMember(line, "payload");
  const auto base = payload ? json::findMember(*payload, "history_base") : std::nullopt;
  return base ? json::findMember(*base, "end_byte_offset").value_or("") : "";
}

std::string withHistoryBytes(std::string line, std::uint64_t bytes) {
  const std::string_view value = historyBytesIn(line);
  if (!value.empty()) {
    line.replace(static_cast<std::size_t>(value.data() - line.data()), value.size(), std::to_string(bytes));
  }
  return line;
}

}  // namespace

bool isAdapted(const WriteTranscriptOptions& options) {
  return !options.moves.empty() || !options.renamedFrom.empty() || options.continuedBytes > 0;
}

std::string adapted(std::string_view lines, const WriteTranscriptOptions& options) {
  const Renaming move = [&](const std::string& cwd) { return movedFolder(cwd, options.moves); };
  const Renaming rename = [&](const std::string& id) -> std::optional<std::string> {
    return options.renamedFrom.empty() || id != options.renamedFrom ? std::nullopt
                                                                    : std::optional(options.facts.sessionId);
  };
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    std::string line = withText(std::string(lines.substr(0, end)), "cwd", move);
    for (const std::string_view name : {"sessionId", "session_id", "id"}) {
      line = withText(std::move(line), name, rename);
    }
    out += options.continuedBytes == 0 ? line : withHistoryBytes(std::move(line), options.continuedBytes);
    lines.remove_prefix(end);
  }
  return out;
}

bool leavesSubagent(const EntryList& entries, const Agent& agent, const WriteTranscriptOptions& options) {
  const std::string& sessionId = options.facts.sessionId;
  if (agent.toMainSessionLine == nullptr || sessionId.empty() || agent.isSubagent(sessionId)) return false;
  bool isAny = false;
  for (std::size_t place = 0; place < entries.size(); ++place) {
    if (!entries.isInConversation(place)) continue;
    const EntryPin entry = entries.at(place);
    const auto origin = originOf(*entry);
    const auto line = origin && origin->agent == agent.name ? lineOf(*entry) : std::nullopt;
    if (!line) continue;
    isAny = true;
    if (toMainSessionLines(*line, agent) == *line) return false;
  }
  return isAny;
}

std::string toMainSessionLines(std::string_view lines, const Agent& agent) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end);
    const std::size_t begin = line.find_first_not_of(" \t\r\n");
    const bool isObject = begin != std::string_view::npos && line[begin] == '{' && json::check(line);
    const std::string now = isObject ? agent.toMainSessionLine(line) : std::string();
    out += now.empty() ? line : now;
    if (!now.empty() && line.ends_with('\n')) out += '\n';
  }
  return out;
}

}  // namespace bough::transcript

namespace bough {

std::uint64_t continuedBytes(const TranscriptSource& entries) {
  const transcript::EntryList& list = entries.list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list.kind(i) != EntryKind::SessionInfo) continue;
    const auto origin = transcript::originOf(*list.at(i));
    if (!origin || origin->lineKind != "session_meta") continue;
    const std::string line = transcript::lineOf(*list.at(i)).value_or("{}");
    if (!json::check(line)) continue;
    const std::string_view value = transcript::historyBytesIn(line);
    std::uint64_t bytes = 0;
    std::from_chars(value.data(), value.data() + value.size(), bytes);
    return bytes;
  }
  return 0;
}

}  // namespace bough
