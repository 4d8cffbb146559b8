#include "agent/chat/setup.h"

#include <fmt/format.h>

#include <ranges>

#include "agent/chat/instructions.h"
#include "agent/loop/interruption.h"
#include "agent/loop/journal.h"
#include "agent/providers/models.h"
#include "base/json/json_scan.h"
#include "base/model/payloads.h"
#include "base/try.h"
#include "bough/agent/tools.h"

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

ModelName modelSetIn(const Entry& entry) {
  ModelName name{.provider = json::findString(entry.payload, "provider").value_or(""),
                 .model = json::findString(entry.payload, "model").value_or("")};
  if (!name.provider.empty()) return name;
  const std::size_t slash = name.model.find('/');
  if (slash != std::string::npos) {
    std::string model = name.model.substr(slash + 1);
    if (hasOpenWeights(model)) return name;  // openai/gpt-oss-20b names the maker, not the provider
    return {.provider = name.model.substr(0, slash), .model = std::move(model)};
  }
  name.provider = providerOfModel(name.model, std::nullopt);
  return name;
}

// The model and provider of an answer.
struct Answerer {
  ModelName name{};
  std::string lastUnnamedProvider{};  // the provider whose API it came from, when the answer does not name its model
  bool hasMessages = false;
};

// Returns an empty Answerer for an entry that is not an answer, and for an answer that an agent wrote itself.
Answerer answererOf(const Entry& entry) {
  if (!holdsMessage(entry)) return {};
  const auto message = normalizeEntry(entry);
  if (!message || message->role != Role::Assistant) return {};
  const std::string said = entry.meta.empty() ? "" : json::findString(entry.meta, "model").value_or("");
  const std::size_t slash = said.find('/');
  if (slash != std::string::npos && json::findString(entry.meta, "agent") == kAgentName) {
    return {.name = {.provider = said.substr(0, slash), .model = said.substr(slash + 1)}};
  }
  ModelName name{.model = message->model.present ? message->model.decode() : std::string()};
  if (name.model.empty()) name.model = said;
  if (name.model.empty()) return {.lastUnnamedProvider = std::string(providerOfDialect(message->dialect))};
  if (name.model.starts_with('<')) return {};
  name.provider = providerOfModel(name.model, message->dialect);
  return {.name = std::move(name)};
}

// Returns true when both models belong to one provider, or when the answerer's provider is unknown. Models such as
// gpt-oss are offered by many providers: if the names are equal, the provider that was set counts.
bool hasSameProvider(const ModelName& answerer, const ModelName& set) {
  if (!set.provider.empty() && answerer.model == set.model) return true;
  return answerer.provider.empty() || isSameProvider(set.provider, answerer.provider);
}

// Finds the model of the last answer that names one, unless a model was set after it, and the provider of later answers
// that name none.
Result<Answerer> lastAnswerer(SessionStore& store, const StartingPoint& at) {
  Answerer found;
  const auto enough = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : std::views::reverse(entries)) {
      const bool isMark = entry.type == entry_type::kRuntimeInit || entry.type == entry_type::kModelChange;
      if (isMark && !modelSetIn(entry).model.empty()) return true;
      Answerer answerer = answererOf(entry);
      found.hasMessages = found.hasMessages || holdsMessage(entry);
      if (found.lastUnnamedProvider.empty()) found.lastUnnamedProvider = std::move(answerer.lastUnnamedProvider);
      found.name = std::move(answerer.name);
      if (!found.name.model.empty()) return true;
    }
    return false;
  };
  BOUGH_TRY(loadBack(store, at.sessionId, at.headId, enough));
  return found;
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
    if (ModelName name = modelSetIn(mark); !name.model.empty()) setup.model = std::move(name);
    if (auto level = thinkingLevelIn(mark.payload)) setup.thinkingLevel = std::move(*level);
    if (auto prompt = json::findString(mark.payload, "systemPrompt")) setup.systemPrompt = std::move(*prompt);
  }
  return setup;
}

Result<ConversationModel> conversationModel(SessionStore& store, const StartingPoint& at, const Setup& setup) {
  if (at.headId.empty()) return ConversationModel{.name = setup.model};
  BOUGH_TRY(Answerer answerer, lastAnswerer(store, at));
  const bool isSet = !setup.model.model.empty() && hasSameProvider(answerer.name, setup.model);
  ConversationModel out{.name = isSet ? setup.model : std::move(answerer.name), .hasMessages = answerer.hasMessages};
  const bool says = !out.name.model.empty() && mayUseDialectOf(out.name.provider, answerer.lastUnnamedProvider);
  if (!says) out.lastUnnamedProvider = std::move(answerer.lastUnnamedProvider);
  return out;
}

Result<bool> promptChanges(Chat& chat) {
  BOUGH_TRY(const Setup setup, setupAt(chat.store(), chat.place()));
  if (setup.folder.empty()) return false;
  const std::string base = chat.options().systemPrompt.value_or(std::string(baseOfPrompt(setup.systemPrompt)));
  return chat.withoutKeys(composePrompt(base, chat.folder(), chat.instructions().text)) != setup.systemPrompt;
}

Result<bool> promptChanges(SessionStore& store, const StartingPoint& at,
                           const std::vector<std::string>& userInstructions) {
  BOUGH_TRY(const Setup setup, setupAt(store, at));
  if (setup.folder.empty() || setup.systemPrompt.empty()) return false;
  const Instructions now = readInstructions(setup.folder, userInstructions);
  const std::string prompt = composePrompt(baseOfPrompt(setup.systemPrompt), setup.folder, now.text);
  return Secrets::fromEnvironment().redact(prompt) != setup.systemPrompt;
}

std::string composePrompt(std::string_view base, std::string_view folder, std::string_view instructions) {
  return fmt::format("{}{}{}{}", base, kFolderLine, folder, instructions);
}

std::string_view baseOfPrompt(std::string_view prompt) {
  return prompt.substr(0, prompt.find(kFolderLine));
}

}  // namespace bough::agent
