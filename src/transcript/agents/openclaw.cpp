// OpenClaw: pi's transcripts, in a folder with sessions.json, which maps session keys to what OpenClaw knows about each
// session. Reset and deleted sessions keep their files, with an ending such as `.jsonl.reset.2026-02-01T10-00-00.000Z`;
// archives may be compressed (`.zst`). Since 2026.7, sessions are in a database (source/database.h), which is only
// read.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/environment.h"
#include "base/text/shell_word.h"
#include "base/try.h"
#include "transcript/agents/agents.h"
#include "transcript/agents/pi.h"
#include "transcript/source/database.h"
#include "transcript/source/json_line.h"
#include "transcript/source/lock_file.h"
#include "transcript/source/nearby_files.h"
#include "transcript/source/session_list.h"

namespace bough::transcript {
namespace {

// Returns the id in a file's name: the part before `.jsonl` and before `-topic-…`.
std::string idInName(std::string_view path) {
  std::string name = nameOf(path);
  name = name.substr(0, name.find(".jsonl"));
  return name.substr(0, name.find("-topic-"));
}

constexpr std::string_view kMainAgent = "main";

bool isAgentId(std::string_view id) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return !id.empty() && id.size() <= kLongest && id.find_first_not_of(kPlain) == std::string_view::npos &&
         id.front() != '_' && id.front() != '-';
}

// Returns which agent of OpenClaw a session belongs to, according to its key: `agent:ID:…`.
std::string agentOf(std::string_view key) {
  constexpr std::string_view kBeginning = "agent:";
  if (!key.starts_with(kBeginning)) return std::string(kMainAgent);
  key.remove_prefix(kBeginning.size());
  std::string id(key.substr(0, key.find(':')));
  return isAgentId(id) ? id : std::string(kMainAgent);
}

// Returns a key for a session that the list does not have.
std::string ownKey(std::string_view agentId, std::string_view sessionId) {
  return fmt::format("agent:{}:bough:{}", agentId, sessionId);
}

// When the facts have no key, makes one from the folder, which names the agent: `…/agents/ID/sessions/FILE`, and the
// same for a database.
void addAgentOfFolder(const std::string& path, TranscriptFacts& facts) {
  const std::string folder = folderOf(folderOf(path));
  const std::string id = nameOf(folder);
  if (facts.key.empty() && nameOf(folderOf(folder)) == "agents" && isAgentId(id) && id != kMainAgent) {
    facts.key = ownKey(id, facts.sessionId);
  }
}

Result<std::shared_ptr<const SessionList>> sessionList(std::string_view path) {
  return SessionList::at(folderOf(path) + "/sessions.json");
}

// Other agents also have files of that name.
bool hasListBeside(std::string_view path) {
  const auto list = sessionList(path);
  return list && *list && (*list)->hasMember("sessionId");
}

std::string openClawMismatch(const Sample& sample) {
  if (std::string why = piMismatch(sample); !why.empty()) return why;
  if (placeInDatabase(std::string(sample.path))) return {};
  const bool isInItsFolder = sample.path.find("/.openclaw/") != std::string_view::npos;
  if (isInItsFolder || (!sample.path.empty() && hasListBeside(sample.path))) return {};
  return "there is no sessions.json beside it";
}

std::string titleOf(const Members& session) {
  for (const std::string_view name : {"displayName", "subject", "label"}) {
    if (std::string title = session.text(name); !title.empty()) return title;
  }
  return {};
}

Result<void> addListedFacts(const std::string& path, TranscriptFacts& facts) {
  if (const auto place = placeInDatabase(path)) {
    BOUGH_TRY(DatabaseFacts known, factsInDatabase(*place));
    facts.key = known.key;
    if (!json::check(known.record) || json::kindOf(known.record) != json::Kind::Object) return {};
    if (std::string title = titleOf(Members(known.record)); !title.empty()) facts.title = title;
    facts.metadata = std::move(known.record);
    return {};
  }
  BOUGH_TRY(const auto list, sessionList(path));
  if (!list) return {};
  // An entry for the file itself is better than one for the id.
  const auto* byFile = list->find("sessionFile", path);
  if (const auto* found = byFile == nullptr ? list->find("sessionId", idInName(path)) : byFile) {
    facts.key = found->key;
    if (std::string title = titleOf(Members(found->value)); !title.empty()) facts.title = title;
    facts.metadata = found->value;
  }
  return {};
}

Result<void> addOpenClawFactsBeside(const std::string& path, TranscriptFacts& facts) {
  auto listed = addListedFacts(path, facts);
  addAgentOfFolder(path, facts);
  return listed;
}

std::string stateOf(const TranscriptHome& home) {
  const std::string named = home.variable("OPENCLAW_STATE_DIR");
  return named.empty() ? home.home + "/.openclaw" : named;
}

std::vector<std::string> openClawFolders(const TranscriptHome& home) {
  return {stateOf(home) + "/agents"};
}

// `main/sessions/ID.jsonl`, with an additional ending for sessions that were reset or deleted; `main/agent/….sqlite`.
bool isTranscript(std::string_view relative) {
  if (relative.ends_with("/agent/openclaw-agent.sqlite")) return true;
  if (relative.find("/sessions/") == std::string_view::npos || relative.ends_with(".lock")) return false;
  const std::string_view name = relative.substr(relative.rfind('/') + 1);
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") ||
         name.find(".jsonl.reset.") != std::string_view::npos || name.find(".jsonl.deleted.") != std::string_view::npos;
}

// Names of files for topics and forks contain more than the id (`ID-topic-7.jsonl`, `TIME_ID.jsonl`); the list has the
// name.
std::string fileNameOf(const TranscriptFacts& facts) {
  const std::string plain = facts.sessionId + ".jsonl";
  const std::string listed = nameOf(json::findString(facts.metadata, "sessionFile").value_or(""));
  return staysInFolder(listed) && listed.contains(facts.sessionId) && listed.ends_with(".jsonl") ? listed : plain;
}

Result<TranscriptPlace> openClawPlace(const TranscriptHome& home, const TranscriptFacts& facts) {
  const std::string agentId = agentOf(facts.key);
  const std::string chosen = agentId == kMainAgent ? std::string() : fmt::format(" --agent {}", agentId);
  return TranscriptPlace{
      .path = fmt::format("{}/agents/{}/sessions/{}", stateOf(home), agentId, fileNameOf(facts)),
      .command = fmt::format("openclaw agent{} --session-id {} --message …", chosen, shellWord(facts.sessionId))};
}

Result<void> announceOpenClaw(const TranscriptHome&, const TranscriptFacts& facts, const std::string& path) {
  const std::string listPath = folderOf(path) + "/sessions.json";
  BOUGH_TRY(const auto lock, LockFile::acquire(listPath + ".lock"));
  BOUGH_TRY(const auto before, readSmallFile(listPath));
  const std::string list = before.value_or("");
  std::string key = facts.key.starts_with("agent:") ? facts.key : ownKey(kMainAgent, facts.sessionId);
  std::ranges::transform(key, key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  bool known = false;
  eachSession(list, [&](const std::string& name, std::string_view value) {
    known = json::findString(value, "sessionId") == facts.sessionId;
    if (name == key) key += ":" + facts.sessionId;
    return known;
  });
  if (known) return {};
  json::Writer writer;
  writer.beginObject().member("sessionId", facts.sessionId);
  // OpenClaw removes sessions that were last updated long ago, even one that is about to be continued.
  writer.member("updatedAt", systemEnvironment().clock.nowMs()).member("sessionFile", path);
  if (!facts.title.empty()) writer.member("displayName", facts.title);
  BOUGH_TRY(const std::string bytes, withMember(listPath, list, key, writer.endObject().text()));
  return replaceList(listPath, bytes);
}

}  // namespace

Agent openclaw() {
  Agent agent = pi();
  agent.name = "openclaw";
  agent.listed = agent.lacks;
  agent.mismatch = openClawMismatch;
  agent.makeReader = []() { return makePiReader("openclaw"); };
  agent.addFactsBeside = addOpenClawFactsBeside;
  static constexpr std::string_view kFolder[] = {"OPENCLAW_STATE_DIR"};
  agent.folderVariables = kFolder;
  agent.folders = openClawFolders;
  agent.isTranscript = isTranscript;
  agent.place = openClawPlace;
  agent.announce = announceOpenClaw;
  return agent;
}

}  // namespace bough::transcript
