// Codex: sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl, lines {"timestamp", "type", "payload"}.
#include "transcript/agents/agents.h"
#include "transcript/agents/codex/lineage.h"
#include "transcript/agents/codex/place.h"
#include "transcript/agents/codex/read.h"
#include "transcript/agents/codex/tree.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

bool isCodexRecord(std::string_view object) {
  const Members line(object);
  return line.isString("timestamp") && line.isString("type") && line.isObject("payload");
}

std::string mismatchOfCodex(const Sample& sample) {
  if (sample.objects.empty()) return "it holds no JSON objects";
  for (const std::string_view object : sample.objects) {
    const std::string type = Members(object).text("type");
    const bool known =
        type == "session_meta" || type == "response_item" || type == "event_msg" || type == "turn_context";
    if (known && isCodexRecord(object)) return {};
  }
  return "it has no lines of type session_meta, response_item or event_msg with a \"payload\"";
}

}  // namespace

Agent codexRollout() {
  Agent agent;
  agent.name = "codex";
  static constexpr std::string_view kLacks[] = {"session.title",   "session.key",           "assistant.usage",
                                                "assistant.model", "assistant.stop_reason", "tool_result.texts"};
  agent.lacks = kLacks;
  agent.listed = std::span(kLacks).first(1);
  agent.dialect = Dialect::OpenaiResponses;
  agent.mismatch = mismatchOfCodex;
  agent.isRecord = isCodexRecord;
  agent.isHeader = [](std::string_view object) { return Members(object).text("type") == "session_meta"; };
  agent.makeReader = [] { return codex::makeReader(); };
  agent.makeWriter = [] { return codex::makeWriter(); };
  agent.writeTree = codex::writeTree;
  agent.findParent = codex::findRollout;
  static constexpr std::string_view kFolder[] = {"CODEX_HOME"};
  agent.folderVariables = kFolder;
  agent.folders = codex::folders;
  agent.isTranscript = codex::isTranscript;
  agent.place = codex::place;
  agent.addFactsBeside = codex::addFactsBeside;
  agent.announce = codex::announce;
  return agent;
}

}  // namespace bough::transcript
