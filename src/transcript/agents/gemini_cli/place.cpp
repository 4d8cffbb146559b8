#include "transcript/agents/gemini_cli/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/system/file_io.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "transcript/agents/gemini_cli/project.h"
#include "transcript/model/uuid.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript::gemini_cli {
namespace {

constexpr int kMostNames = 1'000;

std::string root(const TranscriptHome& home) {
  const std::string set = home.variable("GEMINI_CLI_HOME");
  return (set.empty() ? home.home : set) + "/.gemini";
}

// Returns the name that Gemini CLI makes for a project, from the last part of its path.
std::string slugOf(const std::string& cwd) {
  std::string slug;
  for (const char c : nameOf(cwd)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool isPlain = (lower >= '0' && lower <= '9') || (lower >= 'a' && lower <= 'z');
    if (isPlain) {
      slug += lower;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  if (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "project" : slug;
}

// Returns the registry's name for the project; empty when there is none, or when it is not a valid name.
std::string registeredName(const std::string& gemini, const std::string& cwd) {
  const std::string registry = readSmallFile(gemini + "/projects.json").value_or(std::nullopt).value_or("{}");
  const auto projects = json::findMember(registry, "projects");
  if (!projects || json::kindOf(*projects) != json::Kind::Object) return {};
  json::ObjectReader members(*projects);
  while (const auto member = members.next()) {
    if (!member->keyIs(cwd)) continue;
    const std::string name = json::decodeString(member->value).value_or("");
    return staysInFolder(name) && name.find('/') == std::string::npos ? name : std::string();
  }
  return {};
}

std::string projectName(const std::string& gemini, const std::string& cwd) {
  if (std::string name = registeredName(gemini, cwd); !name.empty()) return name;
  const std::string slug = slugOf(cwd);
  for (int i = 0; i < kMostNames; ++i) {
    std::string name = i == 0 ? slug : fmt::format("{}-{}", slug, i);
    const auto owner = ownerOf(gemini + "/tmp/" + name);
    if (owner && (!*owner || **owner == cwd)) return name;
  }
  return slug;
}

}  // namespace

std::vector<std::string> folders(const TranscriptHome& home) {
  return {root(home) + "/tmp"};
}

// <project>/chats/session-….jsonl, in older versions .json; and <project>/chats/<session>/<subagent>.jsonl.
bool isTranscript(std::string_view relative) {
  if (!relative.ends_with(".jsonl") && !relative.ends_with(".json")) return false;
  const auto slashes = std::ranges::count(relative, '/');
  const std::string folder = folderOf(relative);
  if (slashes == 2) return nameOf(folder) == "chats" && nameOf(relative).starts_with("session-");
  return slashes == 3 && isUuid(nameOf(folder)) && nameOf(folderOf(folder)) == "chats";
}

Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts) {
  if (!isUuid(facts.sessionId)) return fail(ErrorCode::InvalidArgument, "a session id of Gemini CLI is a UUID", "");
  const auto created = parseTimestamp(facts.created);
  std::string stamp = formatTimestamp(created.value_or(0)).substr(0, std::string_view("2026-01-02T03:04").size());
  for (char& c : stamp) c = c == ':' ? '-' : c;
  TranscriptPlace place;
  place.path = fmt::format("{}/tmp/{}/chats/session-{}-{}.jsonl", root(home), projectName(root(home), facts.cwd), stamp,
                           facts.sessionId.substr(0, 8));
  place.command = "gemini --resume " + facts.sessionId;
  return place;
}

Result<void> announce(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path) {
  const std::string folder = folderOf(folderOf(path));
  if (nameOf(folderOf(path)) != "chats") return {};
  BOUGH_TRY(auto owner, ownerOf(folder));
  if (!owner) {
    BOUGH_TRY(const auto opened, orError(posixFileSystem().openRoot(folder, true), "open", folder));
    const auto written = writeDurably(*opened, kProjectMarker, facts.cwd, IfPresent::Refuse);
    if (written || written.error().code != ErrorCode::AlreadyExists) return written;
    BOUGH_TRY(owner, ownerOf(folder));
  }
  // Another export may have taken the name after place() found it free.
  if (owner == facts.cwd || registeredName(root(home), facts.cwd) == nameOf(folder)) return {};
  return fail(ErrorCode::AlreadyExists, fmt::format("{} belongs to another project", folder),
              fmt::format("Gemini CLI does not look there for {}: remove it, then try again", path));
}

}  // namespace bough::transcript::gemini_cli
