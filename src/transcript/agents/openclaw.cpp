// OpenClaw: pi's transcripts, in a folder with sessions.json, a map from session keys to what OpenClaw knows of each
// session. Reset and deleted sessions keep their files, with an ending such as `.jsonl.reset.2026-02-01T10-00-00.000Z`.
#include "base/json_scan.h"
#include "transcript/agents/agents.h"
#include "transcript/agents/pi.h"
#include "transcript/beside.h"
#include "transcript/json_line.h"

namespace bough::transcript {
namespace {

// The id in a file's name: before `.jsonl`, and before `-topic-…`.
std::string idInName(std::string_view path) {
  std::string name = nameOf(path);
  name = name.substr(0, name.find(".jsonl"));
  return name.substr(0, name.find("-topic-"));
}

std::optional<std::string> sessionList(std::string_view path) {
  auto list = readSmallFile(folderOf(path) + "/sessions.json");
  if (!list || list->find("\"sessionId\"") == std::string::npos) return std::nullopt;
  return list;
}

std::string misfit(const Sample& sample) {
  if (std::string why = piMisfit(sample); !why.empty()) return why;
  const bool isInItsFolder = sample.path.find("/.openclaw/") != std::string_view::npos;
  if (isInItsFolder || (!sample.path.empty() && sessionList(sample.path))) return {};
  return "there is no sessions.json beside it";
}

std::string titleOf(const Members& session) {
  for (const std::string_view name : {"displayName", "subject", "label"}) {
    if (std::string title = session.text(name); !title.empty()) return title;
  }
  return {};
}

void completeFacts(const std::string& path, TranscriptFacts& facts) {
  const auto list = sessionList(path);
  if (!list) return;
  const std::string name = nameOf(path);
  const std::string id = idInName(path);
  eachSession(*list, [&](const std::string& key, std::string_view value) {
    if (json::kindOf(value) != json::Kind::Object) return false;
    const Members session(value);
    const bool isFile = nameOf(session.text("sessionFile")) == name;
    if (!isFile && session.text("sessionId") != id) return false;
    facts.key = key;
    if (std::string title = titleOf(session); !title.empty()) facts.title = title;
    facts.metadata = value;
    return isFile;  // the file itself is better than the id
  });
}

}  // namespace

Agent openclaw() {
  Agent agent;
  agent.name = "openclaw";
  agent.dialect = Dialect::Bough;
  agent.tree = true;
  agent.misfit = misfit;
  agent.isRecord = isPiRecord;
  agent.makeReader = []() { return makePiReader("openclaw"); };
  agent.makeWriter = makePiWriter;
  agent.completeFacts = completeFacts;
  return agent;
}

}  // namespace bough::transcript
