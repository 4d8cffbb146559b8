// Gemini CLI: .gemini/tmp/<project>/chats/session-<time>-<id>.jsonl; in older versions one JSON document per session.
#include "transcript/agents/agents.h"
#include "transcript/agents/gemini_cli/place.h"
#include "transcript/agents/gemini_cli/read.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

bool isHeader(std::string_view object) {
  const Members line(object);
  return line.isString("sessionId") && line.has("projectHash");
}

bool isGeminiRecord(std::string_view object) {
  const Members line(object);
  const std::string type = line.text("type");
  if (line.has("$set") || line.has("$rewindTo") || isHeader(object)) return true;
  const bool known = type == "user" || type == "gemini" || type == "info" || type == "error" || type == "warning";
  return known && line.has("id") && line.has("content") && !line.has("uuid");
}

// The document may be longer than the sample, or damaged: then only its beginning is checked.
bool isDocument(const Sample& sample) {
  const std::size_t begin = sample.bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || sample.bytes[begin] != '{') return false;
  const std::string_view bytes = sample.bytes.substr(begin);
  const std::size_t list = bytes.find("\"messages\"");
  // One of the names before the list may be damaged.
  std::size_t names = 0;
  for (const std::string_view name : {"\"sessionId\"", "\"projectHash\"", "\"startTime\"", "\"lastUpdated\""}) {
    names += static_cast<std::size_t>(bytes.substr(0, list).contains(name));
  }
  const bool hasBoth = bytes.contains("\"projectHash\"") && bytes.contains("\"sessionId\"");
  if (!hasBoth && (names < 3 || list == std::string_view::npos)) return false;
  const auto end = json::skipValue(bytes, 0);
  if (end) return Members(bytes.substr(0, *end)).isArray("messages");
  // A header on its own line would have ended here. A header that broke off is followed by a line with its own object.
  return list != std::string_view::npos && bytes.substr(1, list).find_first_of("{}") == std::string_view::npos;
}

std::string mismatchOfLines(const Sample& sample) {
  if (isDocument(sample)) return "it is one document with a list of messages";
  if (sample.objects.empty()) return "it holds no JSON objects";
  for (const std::string_view object : sample.objects) {
    const Members line(object);
    if (line.has("parentId") || line.has("parentUuid")) break;
    if (isHeader(object) || line.has("$set") || line.has("$rewindTo") || line.text("type") == "gemini") return {};
  }
  return "it has no header with \"sessionId\" and \"projectHash\", and no messages of type gemini";
}

std::string mismatchOfDocument(const Sample& sample) {
  const std::size_t begin = sample.bytes.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || sample.bytes[begin] != '{') return "it is not one JSON document";
  return isDocument(sample) ? "" : "it is not a document with \"sessionId\", \"projectHash\" and \"messages\"";
}

Agent row() {
  Agent agent;
  agent.name = "gemini-cli";
  static constexpr std::string_view kLacks[] = {"session.cwd", "session.key", "assistant.stop_reason",
                                                "tool_result.texts"};
  agent.lacks = kLacks;
  agent.listed = std::span(kLacks).first(1);
  agent.dialect = Dialect::Gemini;
  agent.isRecord = isGeminiRecord;
  agent.makeReader = [] { return gemini_cli::makeReader(); };
  agent.makeWriter = [] { return gemini_cli::makeWriter(); };
  static constexpr std::string_view kFolder[] = {"GEMINI_CLI_HOME"};
  agent.folderVariables = kFolder;
  agent.folders = gemini_cli::folders;
  agent.isTranscript = gemini_cli::isTranscript;
  agent.place = gemini_cli::place;
  agent.announce = gemini_cli::announce;
  return agent;
}

}  // namespace

Agent geminiCli() {
  Agent agent = row();
  agent.mismatch = mismatchOfLines;
  agent.isHeader = isHeader;
  return agent;
}

Agent geminiCliDocument() {
  Agent agent = row();
  agent.framing = Framing::Document;
  agent.listName = "messages";
  agent.mismatch = mismatchOfDocument;
  return agent;
}

}  // namespace bough::transcript
