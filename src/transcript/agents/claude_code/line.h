// One line of a Claude Code session file, as slices.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_scan.h"

namespace bough::transcript::claude_code {

/// What a message line holds, by its raw `message`.
struct MessageParts {
  std::string id;
  std::string model;
  std::string_view content;
  std::string_view usage;
};

/// The members of a line that bough looks at, found in one pass. Raw values are slices of the line; empty when absent.
struct Line {
  std::string type;
  std::string subtype;
  std::string uuid;
  std::optional<std::string> parentUuid;  ///< Empty for a root; none when the line does not say.
  std::string logicalParentUuid;
  std::string timestamp;
  std::string requestId;
  bool isSidechain = false;
  bool isCompactSummary = false;
  std::string_view message;
  std::string_view content;
  std::string_view compactMetadata;
  std::string_view leafUuid;
  std::string_view title;  ///< Of a title line: customTitle, aiTitle or summary.
  std::string_view cwd;
  std::string_view relocatedCwd;
  std::string_view sessionId;
  std::string_view agentId;
  std::string_view version;
  std::string_view forkedFrom;
  mutable std::optional<MessageParts> parts{};  ///< See partsOf.
};

/// Of a record: the grammar of its text is checked.
Line parseLine(std::string_view object);

MessageParts parseMessage(std::string_view message);

/// What parseMessage finds in the line's message, which is read once.
const MessageParts& partsOf(const Line& line);

/// Lets a line that was read from `before` point into a copy of the same bytes.
void moveTo(Line& line, std::string_view before, std::string_view now);

/// The line of a subagent as one of a session that people continue: its program lists no file with a subagent's lines.
/// Empty for any other line.
std::string ofMainSession(std::string_view object);

/// Whether a list of blocks holds nothing but results of tools, and at least one.
bool isAllResults(std::string_view content);

/// The text of a raw string value, or of the text blocks of a list.
std::string textOf(std::string_view content);

/// Whether a raw value is there and of this kind.
bool isKind(std::string_view value, json::Kind kind);

/// The text of a raw string; empty when it is not one.
std::string decoded(std::string_view value);

}  // namespace bough::transcript::claude_code
