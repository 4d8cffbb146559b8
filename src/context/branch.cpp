#include "context/branch.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/json_scan.h"
#include "message/request.h"

namespace bough::context {
namespace {

// The first of these members that is there and not null. Other tools use other names for the same thing.
std::optional<std::string_view> firstMember(std::string_view payload, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto value = json::findMember(payload, name);
    if (value && *value != "null") return value;
  }
  return std::nullopt;
}

std::optional<std::string> firstText(std::string_view payload, std::initializer_list<std::string_view> names) {
  const auto value = firstMember(payload, names);
  return value ? json::decodeString(*value) : std::nullopt;
}

// The dialect that a payload names for what is in it.
std::optional<Dialect> dialectOf(const Entry& entry) {
  const auto name = json::findString(entry.payload, "dialect");
  const auto dialect = name ? parseDialect(*name) : Result<Dialect>(Dialect::Bough);
  return name && dialect ? std::optional(*dialect) : std::nullopt;
}

void applySystem(const Entry& entry, Branch& branch) {
  const auto prompt = firstMember(entry.payload, {"systemPrompt", "system", "prompt", "text"});
  if (!prompt) return;
  branch.system =
      Recorded{.entryId = entry.id, .json = std::string(*prompt), .dialect = dialectOf(entry).value_or(Dialect::Bough)};
}

void applyModel(const Entry& entry, Branch& branch) {
  const auto model = firstText(entry.payload, {"model", "modelId"});
  if (!model) return;
  branch.model = *model;
  branch.provider = firstText(entry.payload, {"provider"}).value_or("");
}

void applyLevel(const Entry& entry, Branch& branch) {
  if (const auto level = firstText(entry.payload, {"thinkingLevel", "level"})) branch.thinkingLevel = *level;
}

// Leaves out what the summary at `place` stands for.
void applySummary(std::vector<Entry>& entries, std::size_t place, Branch& branch) {
  branch.summary = std::move(entries[place]);
  const auto first = firstText(branch.summary->payload, {"firstKeptEntryId"});
  std::size_t keptFrom = place;
  if (first) {
    const auto kept = std::ranges::find(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(place), *first,
                                        [](const Entry& entry) -> const std::string& { return entry.id; });
    keptFrom = static_cast<std::size_t>(kept - entries.begin());
    if (keptFrom == place && *first != branch.summary->id) {
      branch.summaryProblem = fmt::format("its firstKeptEntryId {} is not on the branch before it", *first);
    }
  }
  for (std::size_t i = 0; i < keptFrom; ++i) {
    if (message::isMessageType(entries[i].type)) ++branch.replacedEntries;
  }
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(place));
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(keptFrom));
}

}  // namespace

void applyState(const Entry& entry, Branch& branch) {
  if (entry.redacted) return;
  if (entry.type == entry_type::kModelChange) applyModel(entry, branch);
  if (entry.type == entry_type::kThinkingLevelChange) applyLevel(entry, branch);
  if (entry.type == entry_type::kSystemPromptOverride) applySystem(entry, branch);
  if (entry.type != entry_type::kRuntimeInit) return;
  applySystem(entry, branch);
  applyModel(entry, branch);
  applyLevel(entry, branch);
  if (const auto tools = firstMember(entry.payload, {"tools"})) {
    // Plain: found out from the tools.
    branch.tools = Recorded{
        .entryId = entry.id, .json = std::string(*tools), .dialect = dialectOf(entry).value_or(Dialect::Plain)};
  }
}

std::optional<std::string> summaryText(const Entry& entry) {
  return firstText(entry.payload, {"summary", "text", "content"});
}

Result<Branch> readBranch(SessionStore& store, const std::string& sessionId, const std::string& at) {
  Branch branch;
  branch.headId = at;
  if (at.empty()) {
    auto state = store.sessionState(sessionId);
    if (!state) return std::unexpected(state.error());
    branch.headId = state->headId;
  }
  if (branch.headId.empty()) return branch;
  auto entries = store.loadSessionEntries(sessionId, {.branch = branch.headId});
  if (!entries) return std::unexpected(entries.error());
  std::size_t place = entries->size();
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const Entry& entry = (*entries)[i];
    applyState(entry, branch);
    if (entry.type == entry_type::kCompactionSummary && !entry.redacted) place = i;
  }
  if (place < entries->size()) applySummary(*entries, place, branch);
  branch.entries = std::move(*entries);
  return branch;
}

}  // namespace bough::context
