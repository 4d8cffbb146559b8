// Claude Code and the Claude Agent SDK: projects/<slug>/<session>.jsonl, lines with `uuid` and `parentUuid`.
#include "transcript/agents/agents.h"
#include "transcript/agents/claude_code/line.h"
#include "transcript/agents/claude_code/place.h"
#include "transcript/agents/claude_code/read.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

// Whether a line is one that Claude Code writes: in the conversation, or with the session's id.
bool isClaudeRecord(std::string_view object) {
  const Members line(object);
  if (!line.isString("type")) return false;
  if (line.has("uuid") && (line.has("parentUuid") || line.has("message"))) return true;
  if (line.has("messageId") && line.has("snapshot")) return true;
  return (line.isString("sessionId") && !line.has("projectHash")) || (line.has("leafUuid") && line.has("summary"));
}

std::string misfit(const Sample& sample) {
  if (sample.objects.empty()) return "it holds no JSON objects";
  for (const std::string_view object : sample.objects) {
    const Members line(object);
    if (isClaudeRecord(object) && line.text("type") != "session") return {};
  }
  return "it has no lines with \"uuid\" and \"parentUuid\"";
}

}  // namespace

Agent claudeCode() {
  Agent agent;
  agent.name = "claude-code";
  agent.dialect = Dialect::Anthropic;
  agent.tree = true;
  agent.headLast = true;
  agent.idMember = "uuid";
  agent.parentMember = "parentUuid";
  static constexpr std::string_view kNames[] = {"logicalParentUuid", "sourceToolAssistantUUID", "leafUuid"};
  agent.nameMembers = kNames;
  agent.misfit = misfit;
  agent.isRecord = isClaudeRecord;
  agent.makeReader = [] { return claude_code::makeReader(); };
  agent.makeWriter = [] { return claude_code::makeWriter(); };
  static constexpr std::string_view kFolder[] = {"CLAUDE_CONFIG_DIR"};
  agent.folderVariables = kFolder;
  agent.folders = claude_code::folders;
  agent.isTranscript = claude_code::isTranscript;
  agent.place = claude_code::place;
  return agent;
}

}  // namespace bough::transcript
