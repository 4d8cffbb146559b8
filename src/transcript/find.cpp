// Finds the transcripts of all agents in their default folders, and the places for new ones.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text/text.h"
#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/source/database.h"

namespace bough {
namespace {

using namespace transcript;
namespace fs = std::filesystem;

constexpr int kDeepest = 8;
constexpr std::size_t kMostFiles = 4'000'000;

// Ids come from files that anybody may have written.
bool canBeFileName(std::string_view id) {
  constexpr std::size_t kLongest = 128;
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  return !id.empty() && id.size() <= kLongest && id.find_first_not_of(kPlain) == std::string_view::npos &&
         id.front() != '.' && id.front() != '-';
}

// A folder that cannot be read, and a file that vanishes meanwhile, are not there.
void findBelow(const Agent& agent, const std::string& root, std::vector<FoundTranscript>& found) {
  std::error_code error;
  fs::recursive_directory_iterator walk(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (walk.depth() >= kDeepest) walk.disable_recursion_pending();
    std::error_code gone;
    if (walk->is_symlink(gone) || !walk->is_regular_file(gone) || gone) continue;
    const std::string path = walk->path().string();
    if (!agent.isTranscript(std::string_view(path).substr(std::min(path.size(), root.size() + 1)))) continue;
    if (isDatabaseName(path)) {
      auto sessions = sessionsInDatabase(path, agent.name);
      if (sessions) std::ranges::move(*sessions, std::back_inserter(found));
      // Who reads the database itself learns what is wrong with it.
      if (sessions || sessions.error().code == ErrorCode::Unsupported) continue;
    }
    FoundTranscript file{.agent = std::string(agent.name), .path = path};
    file.sizeBytes = walk->file_size(gone);
    if (gone) continue;
    const auto modified = walk->last_write_time(gone);
    const auto since = fs::file_time_type::clock::to_sys(modified).time_since_epoch();
    file.modifiedNs = static_cast<std::uint64_t>(std::max<std::int64_t>(0, since.count()));
    found.push_back(std::move(file));
    if (found.size() >= kMostFiles) return;
  }
}

}  // namespace

Result<std::vector<FoundTranscript>> findTranscripts(const TranscriptHome& home,
                                                     const std::vector<std::string>& agentNames) {
  for (const std::string& name : agentNames) {
    const Agent* agent = findAgent(name);
    if (agent != nullptr && agent->folders != nullptr) continue;
    return fail(ErrorCode::InvalidArgument,
                agent == nullptr ? fmt::format("bough knows no agent \"{}\"", name)
                                 : fmt::format("{} has no folder of its own", name),
                "name a file or a folder instead");
  }
  std::vector<FoundTranscript> found;
  for (const Agent& agent : agents()) {
    const bool wanted = agentNames.empty() || std::ranges::find(agentNames, agent.name) != agentNames.end();
    if (!wanted || agent.folders == nullptr) continue;
    for (const std::string& root : agent.folders(home)) findBelow(agent, root, found);
  }
  std::ranges::sort(found, {}, &FoundTranscript::path);
  const auto repeated = std::ranges::unique(found, {}, &FoundTranscript::path);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

std::vector<std::string> transcriptFolders(const TranscriptHome& home, const std::vector<std::string>& agentNames) {
  std::vector<std::string> folders;
  for (const Agent& agent : agents()) {
    const bool wanted = agentNames.empty() || std::ranges::find(agentNames, agent.name) != agentNames.end();
    if (wanted && agent.folders != nullptr) std::ranges::move(agent.folders(home), std::back_inserter(folders));
  }
  std::ranges::sort(folders);
  const auto repeated = std::ranges::unique(folders);
  folders.erase(repeated.begin(), repeated.end());
  return folders;
}

bool isTranscriptPath(const TranscriptHome& home, const std::vector<std::string>& agentNames, const std::string& path) {
  for (const Agent& agent : agents()) {
    const bool wanted = agentNames.empty() || std::ranges::find(agentNames, agent.name) != agentNames.end();
    if (!wanted || agent.folders == nullptr) continue;
    for (const std::string& root : agent.folders(home)) {
      const bool isBelow = path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/';
      if (isBelow && agent.isTranscript(std::string_view(path).substr(root.size() + 1))) return true;
    }
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
  return agent->place(home, facts);
}

Result<void> announceTranscript(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path) {
  const Agent* agent = findAgent(facts.agent);
  return agent == nullptr || agent->announce == nullptr ? Result<void>() : agent->announce(home, facts, path);
}

}  // namespace bough
