// Finds the transcripts of all agents in their default folders, and the paths for new ones.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text/epoch.h"
#include "base/text/text.h"
#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/source/database.h"
#include "transcript/source/folder_walk.h"

namespace bough {
namespace {

using namespace transcript;

// Ids come from files that anyone may have written.
bool canBeFileName(std::string_view id) {
  constexpr std::size_t kLongest = 128;
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  return !id.empty() && id.size() <= kLongest && id.find_first_not_of(kPlain) == std::string_view::npos &&
         id.front() != '.' && id.front() != '-';
}

bool isWanted(const Agent& agent, const std::vector<std::string>& names) {
  return agent.folders != nullptr && (names.empty() || std::ranges::find(names, agent.name) != names.end());
}

// Returns whether the agent's folders are known.
bool hasFolder(const Agent& agent, const TranscriptHome& home) {
  return hasUserFolder(home) || std::ranges::any_of(agent.folderVariables, [&](std::string_view name) {
           return !home.variable(std::string(name)).empty();
         });
}

Error noFolder(const std::string& whose, std::span<const std::string_view> variables) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("where sessions of {} are is not known: HOME is not set to an absolute path", whose),
              fmt::format("set HOME{}{}", variables.empty() ? "" : ", or ", fmt::join(variables, " or ")))
      .error();
}

// Folders with the agents that keep sessions in each of them.
using Roots = std::vector<std::pair<std::string, std::vector<const Agent*>>>;

Roots rootsOf(const TranscriptHome& home, const std::vector<std::string>& names) {
  Roots roots;
  for (const Agent& agent : agents()) {
    if (!isWanted(agent, names) || !hasFolder(agent, home)) continue;
    for (std::string& folder : agent.folders(home)) {
      const auto found = std::ranges::find(roots, folder, [](const auto& each) { return each.first; });
      auto& owners = found == roots.end() ? roots.emplace_back(std::move(folder), std::vector<const Agent*>()) : *found;
      owners.second.push_back(&agent);
    }
  }
  std::ranges::sort(roots, {}, [](const auto& each) { return each.first; });
  return roots;
}

// A file that has disappeared in the meantime is ignored.
bool giveFile(FoundTranscript file, const std::function<bool(FoundTranscript&&)>& use) {
  struct stat info{};
  if (::lstat(file.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return true;
  file.sizeBytes = static_cast<std::uint64_t>(info.st_size);
  file.modifiedNs = epochNsOf(info.st_mtim);
  return use(std::move(file));
}

bool giveFound(const Agent& agent, const std::string& path, const std::function<bool(FoundTranscript&&)>& use) {
  if (isDatabaseName(path)) {
    auto sessions = sessionsInDatabase(path, agent.name);
    for (std::size_t i = 0; sessions && i < sessions->size(); ++i) {
      if (!use(std::move((*sessions)[i]))) return false;
    }
    // Reading the database itself reports what is wrong with it.
    if (sessions || sessions.error().code == ErrorCode::Unsupported) return true;
  }
  return giveFile({.agent = std::string(agent.name), .path = path}, use);
}

}  // namespace

Result<TranscriptWalk> eachTranscript(const TranscriptHome& home, const std::vector<std::string>& agentNames,
                                      const std::function<bool(FoundTranscript&&)>& use) {
  for (const std::string& name : agentNames) {
    const Agent* agent = findAgent(name);
    if (agent != nullptr && agent->folders != nullptr) {
      if (!hasFolder(*agent, home)) return std::unexpected(noFolder(name, agent->folderVariables));
      continue;
    }
    return fail(ErrorCode::InvalidArgument,
                agent == nullptr ? fmt::format("bough knows no agent \"{}\"", name)
                                 : fmt::format("{} has no folder of its own", name),
                "name a file or a folder instead");
  }
  const Roots roots = rootsOf(home, agentNames);
  if (roots.empty()) return std::unexpected(noFolder("other agents", {}));
  TranscriptWalk report;
  for (const auto& [root, owners] : roots) {
    const bool goesOn = walkFolder(root, report, [&](const std::string& path, std::size_t relativeAt) {
      const auto owner = std::ranges::find_if(
          owners, [&](const Agent* agent) { return agent->isTranscript(std::string_view(path).substr(relativeAt)); });
      return owner == owners.end() || giveFound(**owner, path, use);
    });
    if (!goesOn) break;
  }
  return report;
}

TranscriptWalk eachFileBelow(const std::string& folder, const std::function<bool(FoundTranscript&&)>& use) {
  TranscriptWalk report;
  walkFolder(folder, report,
             [&](const std::string& path, std::size_t) { return giveFile({.agent = {}, .path = path}, use); });
  return report;
}

std::vector<std::string> transcriptFolders(const TranscriptHome& home, const std::vector<std::string>& agentNames) {
  std::vector<std::string> folders;
  for (const auto& [root, owners] : rootsOf(home, agentNames)) folders.push_back(root);
  return folders;
}

bool isTranscriptPath(const TranscriptHome& home, const std::vector<std::string>& agentNames, const std::string& path) {
  for (const auto& [root, owners] : rootsOf(home, agentNames)) {
    if (path.size() <= root.size() || !path.starts_with(root) || path[root.size()] != '/') continue;
    const std::string_view relative = std::string_view(path).substr(root.size() + 1);
    if (std::ranges::any_of(owners, [&](const Agent* agent) { return agent->isTranscript(relative); })) return true;
  }
  return false;
}

Result<std::vector<FoundTranscript>> transcriptsInDatabase(const std::string& path) {
  if (isDatabaseName(path)) return sessionsInDatabase(path, "openclaw");
  return std::vector<FoundTranscript>();
}

Result<TranscriptPlace> placeForTranscript(const TranscriptHome& home, const TranscriptFacts& facts) {
  const Agent* agent = findAgent(facts.agent);
  if (agent == nullptr || agent->place == nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("{} has no place that bough knows", facts.agent),
                "`bough export --out FILE` writes the file");
  }
  if (!canBeFileName(facts.sessionId)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the session's own id \"{}\" cannot be a file's name", text::excerpt(facts.sessionId, 60)),
                "`bough export --out FILE` writes the file");
  }
  if (facts.cwd.contains('\0')) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the session's folder \"{}\" cannot be a path", text::excerpt(facts.cwd, 60)),
                "--cwd-map OLD=NEW names another");
  }
  if (!hasFolder(*agent, home)) return std::unexpected(noFolder(facts.agent, agent->folderVariables));
  return agent->place(home, facts);
}

Result<void> keepBesideTranscript(const std::string& agent, const std::string& path, const std::string& name,
                                  std::string_view bytes) {
  const Agent* known = findAgent(agent);
  return known == nullptr || known->keepBeside == nullptr ? Result<void>() : known->keepBeside(path, name, bytes);
}

Result<void> announceTranscript(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path) {
  const Agent* agent = findAgent(facts.agent);
  return agent == nullptr || agent->announce == nullptr ? Result<void>() : agent->announce(home, facts, path);
}

}  // namespace bough
