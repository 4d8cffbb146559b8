// One line of a Claude Code session file, as slices.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_scan.h"

namespace bough::transcript::claude_code {

/// The content of a message line, from its raw `message`.
struct MessageParts {
  std::string id;
  std::string model;
  std::string_view content;
  std::string_view usage;
};

/// The members of a line that bough needs, found in one pass. Raw values are slices of the line; empty when absent.
struct Line {
  std::string type;
  std::string subtype;
  std::string uuid;
  std::optional<std::string> parentUuid;  ///< Empty for a root; std::nullopt when the line does not say.
  std::string logicalParentUuid;
  std::string timestamp;
  std::string requestId;
  bool isSidechain = false;
  bool isCompactSummary = false;
  std::string_view message;
  std::string_view content;
  std::string_view compactMetadata;
  std::string_view leafUuid;
  std::string_view title;  ///< In a title line: customTitle, aiTitle or summary.
  std::string_view cwd;
  std::string_view relocatedCwd;
  std::string_view sessionId;
  std::string_view agentId;
  std::string_view version;
  std::string_view forkedFrom;
  mutable std::optional<MessageParts> parts{};  ///< See partsOf.
};

/// Parses the text of a record, whose grammar was already checked.
Line parseLine(std::string_view object);

MessageParts parseMessage(std::string_view message);

/// Returns what parseMessage finds in the line's message, which is parsed only once.
const MessageParts& partsOf(const Line& line);

/// Makes a line that was parsed from `before` point into `now`, a copy of the same bytes.
void rebaseSlices(Line& line, std::string_view before, std::string_view now);

/// Converts the line of a subagent to a line of a session that people continue, because Claude Code does not list files
/// with a subagent's lines. Returns an empty string for any other line.
std::string toMainSessionLine(std::string_view object);

/// Returns whether a list of blocks contains only tool results, and at least one.
bool isAllResults(std::string_view content);

/// Returns the text of a raw string value, or of the text blocks of a list.
std::string textOf(std::string_view content);

/// Returns whether a raw value is present and of this kind.
bool isKind(std::string_view value, json::Kind kind);

/// Returns the text of a raw string; empty when it is not a string.
std::string decoded(std::string_view value);

}  // namespace bough::transcript::claude_code
