#include "transcript/agents/gemini_cli/project.h"

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/try.h"
#include "transcript/model/uuid.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript::gemini_cli {
namespace {

// The registry names each project's folder in tmp; older versions named the folder by a hash of the path.
std::string fromRegistry(const std::string& gemini, const std::string& id) {
  // Without the registry, the project is found in another way or not at all.
  const std::string registry = readSmallFile(gemini + "/projects.json").value_or(std::nullopt).value_or("");
  const auto projects = json::findMember(registry, "projects");
  if (!projects || json::kindOf(*projects) != json::Kind::Object) return {};
  json::ObjectReader members(*projects);
  while (const auto member = members.next()) {
    const std::string path = json::decodeString('"' + std::string(member->key) + '"').value_or("");
    if (json::decodeString(member->value) == id || Sha256::of(path) == id) return path;
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> ownerOf(const std::string& folder) {
  BOUGH_TRY(auto owner, readSmallFile(folder + '/' + std::string(kProjectMarker)));
  if (!owner) return std::nullopt;
  while (!owner->empty() && (owner->back() == '\n' || owner->back() == '\r' || owner->back() == ' ')) owner->pop_back();
  return *std::move(owner);
}

Project findProject(const std::string& path) {
  Project project;
  std::string chats = folderOf(path);
  if (isUuid(nameOf(chats)) && nameOf(folderOf(chats)) == "chats") {
    project.parentSession = nameOf(chats);
    chats = folderOf(chats);
  }
  if (nameOf(chats) != "chats") return project;
  const std::string folder = folderOf(chats);
  project.root = ownerOf(folder).value_or(std::nullopt).value_or("");
  if (project.root.empty()) project.root = fromRegistry(folderOf(folderOf(folder)), nameOf(folder));
  return project;
}

}  // namespace bough::transcript::gemini_cli
