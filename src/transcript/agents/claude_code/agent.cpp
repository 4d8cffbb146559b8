// Claude Code and the Claude Agent SDK: projects/<slug>/<session>.jsonl, lines with `uuid` and `parentUuid`.
#include <algorithm>
#include <iterator>

#include "transcript/agents/agents.h"
#include "transcript/agents/claude_code/line.h"
#include "transcript/agents/claude_code/place.h"
#include "transcript/agents/claude_code/read.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

// Returns whether Claude Code writes such a line: in the conversation, or with the session's id.
bool isClaudeRecord(std::string_view object) {
  const Members line(object);
  if (!line.isString("type")) return false;
  if (line.has("uuid") && (line.has("parentUuid") || line.has("message"))) return true;
  if (line.has("messageId") && line.has("snapshot")) return true;
  return (line.isString("sessionId") && !line.has("projectHash")) || (line.has("leafUuid") && line.has("summary"));
}

// Lines outside the conversation, which only name their session.
bool isOfKnownType(std::string_view type) {
  constexpr std::string_view kTypes[] = {"agent-color",
                                         "agent-name",
                                         "agent-setting",
                                         "ai-title",
                                         "api-request",
                                         "api-request-blob",
                                         "api-request-shape",
                                         "assistant",
                                         "atis-latch",
                                         "attachment",
                                         "attribution-snapshot",
                                         "bridge-session",
                                         "content-replacement",
                                         "continued-in",
                                         "cost-state",
                                         "custom-title",
                                         "data-flow-incomplete",
                                         "data-flow-records",
                                         "derived-from",
                                         "dev-mods",
                                         "file-history-delta",
                                         "file-history-snapshot",
                                         "frame-link",
                                         "history-suppression",
                                         "isolation-latch",
                                         "last-prompt",
                                         "marble-origami-commit",
                                         "marble-origami-reset",
                                         "marble-origami-snapshot",
                                         "mode",
                                         "permission-mode",
                                         "pr-link",
                                         "progress",
                                         "queue-operation",
                                         "relocated",
                                         "repl-mode",
                                         "resume-head-vouch",
                                         "summary",
                                         "system",
                                         "tag",
                                         "tombstone",
                                         "tools-used",
                                         "user",
                                         "worktree-state"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

// Many programs write a type and a session id, so for such a line the type must be one of Claude Code's.
bool tells(std::string_view object) {
  if (!isClaudeRecord(object)) return false;
  const Members line(object);
  return line.has("uuid") || line.has("leafUuid") || isOfKnownType(line.text("type"));
}

std::string mismatchOfClaudeCode(const Sample& sample) {
  if (sample.objects.empty()) return "it holds no JSON objects";
  for (const std::string_view object : sample.objects) {
    const Members line(object);
    if (tells(object) && line.text("type") != "session") return {};
  }
  return "it has no lines with \"uuid\" and \"parentUuid\"";
}

}  // namespace

Agent claudeCode() {
  Agent agent;
  agent.name = "claude-code";
  static constexpr std::string_view kLacks[] = {"session.key"};
  agent.lacks = kLacks;
  agent.dialect = Dialect::Anthropic;
  agent.canHoldTree = true;
  agent.continuesFromEnd = true;
  agent.canShortenTexts = true;
  agent.idMember = "uuid";
  agent.parentMember = "parentUuid";
  static constexpr std::string_view kNames[] = {"logicalParentUuid", "sourceToolAssistantUUID", "leafUuid"};
  agent.nameMembers = kNames;
  agent.mismatch = mismatchOfClaudeCode;
  agent.isRecord = isClaudeRecord;
  agent.makeReader = [] { return claude_code::makeReader(); };
  agent.makeWriter = [] { return claude_code::makeWriter(); };
  agent.toMainSessionLine = claude_code::toMainSessionLine;
  agent.isSubagent = [](std::string_view sessionId) { return sessionId.starts_with("agent-"); };
  static constexpr std::string_view kFolder[] = {"CLAUDE_CONFIG_DIR"};
  agent.folderVariables = kFolder;
  agent.folders = claude_code::folders;
  agent.isTranscript = claude_code::isTranscript;
  agent.place = claude_code::place;
  return agent;
}

}  // namespace bough::transcript
