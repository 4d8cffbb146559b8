#include "agent/chat/setup.h"

#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/model/payloads.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::string_view kFolderLine = "\n\nThe folder: ";

std::string folderIn(const Entry& entry) {
  if (auto folder = json::findString(entry.payload, "folder")) return std::move(*folder);
  const std::string prompt = json::findString(entry.payload, "systemPrompt").value_or("");
  const std::size_t at = prompt.find(kFolderLine);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kFolderLine.size();
  return prompt.substr(begin, prompt.find('\n', begin) - begin);
}

std::string modelNameIn(const Entry& entry) {
  const std::string provider = json::findString(entry.payload, "provider").value_or("");
  const std::string model = json::findString(entry.payload, "model").value_or("");
  return provider.empty() || model.empty() ? model : provider + "/" + model;
}

}  // namespace

Result<Setup> setupAt(SessionStore& store, const StartingPoint& at) {
  Setup setup;
  if (at.headId.empty()) return setup;
  BOUGH_TRY(const auto marks,
            store.loadSessionEntries(
                at.sessionId, {.branch = at.headId,
                               .types = {std::string(entry_type::kRuntimeInit), std::string(entry_type::kModelChange),
                                         std::string(entry_type::kThinkingLevelChange),
                                         std::string(entry_type::kSystemPromptOverride)}}));
  for (const Entry& mark : marks) {
    if (std::string folder = folderIn(mark); !folder.empty()) setup.folder = std::move(folder);
    if (const std::string model = modelNameIn(mark); !model.empty()) setup.model = model;
    if (auto level = thinkingLevelIn(mark.payload)) setup.thinkingLevel = std::move(*level);
    if (auto prompt = json::findString(mark.payload, "systemPrompt")) setup.systemPrompt = std::move(*prompt);
  }
  return setup;
}

std::string composePrompt(std::string_view base, std::string_view folder, std::string_view instructions) {
  return fmt::format("{}{}{}{}", base, kFolderLine, folder, instructions);
}

std::string_view baseOfPrompt(std::string_view prompt) {
  return prompt.substr(0, prompt.find(kFolderLine));
}

}  // namespace bough::agent
