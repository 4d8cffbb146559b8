#include "transcript/adapted_lines.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"

namespace bough::transcript {
namespace {

// Another text for a member; none when it stays.
using Change = std::function<std::optional<std::string>(const std::string& text)>;

// A line with a member of that name changed: its own, and that of its payload.
std::string withMember(std::string line, std::string_view name, const Change& change) {
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

}  // namespace

bool isAdapted(const WriteTranscriptOptions& options) {
  return !options.moves.empty() || !options.renamedFrom.empty();
}

std::string adapted(std::string_view lines, const WriteTranscriptOptions& options) {
  const Change move = [&](const std::string& cwd) { return movedFolder(cwd, options.moves); };
  const Change rename = [&](const std::string& id) -> std::optional<std::string> {
    return options.renamedFrom.empty() || id != options.renamedFrom ? std::nullopt
                                                                    : std::optional(options.facts.sessionId);
  };
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    std::string line = withMember(std::string(lines.substr(0, end)), "cwd", move);
    for (const std::string_view name : {"sessionId", "session_id", "id"}) {
      line = withMember(std::move(line), name, rename);
    }
    out += line;
    lines.remove_prefix(end);
  }
  return out;
}

}  // namespace bough::transcript
