#include "context/branch.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/json/json_scan.h"
#include "base/model/payloads.h"
#include "base/try.h"
#include "context/memory_need.h"
#include "message/dialect/entry_message.h"

namespace bough::context {
namespace {

// Returns the first of these members that exists and is not null. Different tools use different names.
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

// Returns the dialect that a payload names for its content; std::nullopt when it names none or an unknown one.
std::optional<Dialect> dialectOf(const Entry& entry) {
  return namedDialect(entry).value_or(std::nullopt);
}

void applySystem(const Entry& entry, Branch& branch) {
  const auto prompt = firstMember(entry.payload, {"systemPrompt", "system", "prompt", "text"});
  if (!prompt) return;
  branch.system = RecordedSetting{
      .entryId = entry.id, .json = std::string(*prompt), .dialect = dialectOf(entry).value_or(Dialect::Bough)};
}

void applyModel(const Entry& entry, Branch& branch) {
  const auto model = firstText(entry.payload, {"model", "modelId"});
  if (!model) return;
  branch.model = *model;
  branch.provider = firstText(entry.payload, {"provider"}).value_or("");
}

void applyLevel(const Entry& entry, Branch& branch) {
  if (const auto level = thinkingLevelIn(entry.payload)) branch.thinkingLevel = *level;
}

constexpr std::string_view kSettingTypes[] = {entry_type::kCompactionSummary, entry_type::kRuntimeInit,
                                              entry_type::kSystemPromptOverride, entry_type::kModelChange,
                                              entry_type::kThinkingLevelChange};

std::size_t indexOf(const std::vector<Entry>& entries, std::string_view id) {
  const auto found = std::ranges::find(entries, id, [](const Entry& entry) -> std::string_view { return entry.id; });
  return static_cast<std::size_t>(found - entries.begin());
}

// Removes the entries that the summary replaces, as far as they were read. Returns false when the summary keeps entries
// before those that were read.
bool applySummary(std::vector<Entry>& entries, bool fromRoot, Branch& branch) {
  const std::size_t place = indexOf(entries, branch.summary->id);
  if (place == entries.size()) return fromRoot;
  const auto first = firstText(branch.summary->payload, {"firstKeptEntryId"});
  const std::size_t named = first ? indexOf(entries, *first) : place;
  const bool elsewhere = named > place;  // an entry that was not read, or is not on this branch
  branch.summarySince = place;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(place));
  if (elsewhere && !fromRoot) return false;
  if (elsewhere) {
    branch.summaryProblem = fmt::format("its firstKeptEntryId {} is not on the branch before it", *first);
  }
  const std::size_t keptFrom = std::min(named, place);
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(keptFrom));
  branch.summarySince -= keptFrom;
  return true;
}

// Returns the position, in the entries that were read, at which a setting came into force.
std::size_t indexOfSetting(const std::vector<Entry>& entries, const std::optional<RecordedSetting>& setting) {
  const std::size_t place = setting ? indexOf(entries, setting->entryId) : 0;
  return place == entries.size() ? 0 : place;
}

// Applies the settings in force at the end, and finds the latest summary.
void applySettings(const std::vector<Entry>& entries, Branch& branch) {
  for (const Entry& entry : entries) {
    applyEntrySettings(entry, branch);
    if (entry.type == entry_type::kCompactionSummary && !entry.redacted) branch.summary = entry;
  }
}

bool hasSummary(const std::vector<Entry>& entries) {
  return std::ranges::any_of(
      entries, [](const Entry& entry) { return entry.type == entry_type::kCompactionSummary && !entry.redacted; });
}

// On a long branch, keeps only what a context needs: the origin of an imported message takes about as much memory as a
// short message.
void removeOriginOf(Entry& entry) {
  constexpr std::size_t kMinSavedBytes = 128;
  if (entry.type != entry_type::kMessage || entry.redacted) return;
  json::ObjectReader reader(entry.payload);
  bool hasMessage = false;
  std::size_t end = 0;
  while (const auto member = reader.next()) {
    const bool isMessage = member->keyIs("message");
    hasMessage = hasMessage || isMessage;
    if (!isMessage && !member->keyIs("dialect")) continue;
    end = static_cast<std::size_t>(member->value.data() + member->value.size() - entry.payload.data());
  }
  if (reader.error() || !hasMessage || entry.payload.size() < end + kMinSavedBytes) return;
  std::string kept;
  kept.reserve(end + 1);
  kept.append(entry.payload, 0, end) += '}';
  entry.payload = std::move(kept);
}

constexpr std::size_t kLongBranch = 4096;

// Reads the end of a branch: the last entries, or fewer when they are longer than `maxBytes`; `last` is then reduced.
Result<std::vector<Entry>> loadEnd(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   std::size_t maxBytes, std::size_t& last) {
  constexpr std::size_t kMinEntries = 4;
  for (;; last /= 4) {
    if (last <= kMinEntries) maxBytes = SIZE_MAX;
    BOUGH_TRY(auto entries,
              store.loadSessionEntries(sessionId, {.limitBytes = maxBytes, .last = last, .branch = headId}));
    std::size_t bytes = 0;
    for (const Entry& entry : entries) bytes += entry.payload.size();
    if (bytes < maxBytes) return entries;
  }
}

}  // namespace

void applyEntrySettings(const Entry& entry, Branch& branch) {
  if (entry.redacted) return;
  if (entry.type == entry_type::kModelChange) applyModel(entry, branch);
  if (entry.type == entry_type::kThinkingLevelChange) applyLevel(entry, branch);
  if (entry.type == entry_type::kSystemPromptOverride) applySystem(entry, branch);
  if (entry.type != entry_type::kRuntimeInit) return;
  applySystem(entry, branch);
  applyModel(entry, branch);
  applyLevel(entry, branch);
  const auto tools = firstMember(entry.payload, {"tools"});
  if (tools && !(branch.tools && branch.tools->json == *tools)) {
    // Dialect::Plain: the format is detected from the tools.
    branch.tools = RecordedSetting{
        .entryId = entry.id, .json = std::string(*tools), .dialect = dialectOf(entry).value_or(Dialect::Plain)};
  }
}

Result<HiddenPayloads> readHidden(SessionStore& store, const std::string& sessionId, LoadOptions options,
                                  const std::vector<Entry>& entries) {
  HiddenPayloads hidden;
  for (const Entry& entry : entries) {
    if (entry.redacted && message::isMessageType(entry.type)) hidden.emplace(entry.id, "");
  }
  if (hidden.empty()) return hidden;
  options.showRedacted = true;
  BOUGH_TRY(auto stored, store.loadSessionEntries(sessionId, options));
  for (Entry& entry : stored) {
    const auto found = hidden.find(entry.id);
    if (found != hidden.end() && message::isMessageType(entry.type)) found->second = std::move(entry.payload);
  }
  return hidden;
}

std::optional<std::string> summaryText(const Entry& entry) {
  return firstText(entry.payload, {"summary", "text", "content"});
}

// A short branch takes one read. For a long branch, the settings before the entries that were read are found by their
// entry types, without the messages between them. When the whole branch is needed anyway, it is read completely.
Result<Branch> readBranch(SessionStore& store, const std::string& sessionId, const std::string& at, std::size_t last,
                          bool mayBePartial, std::size_t maxBytes) {
  Branch branch;
  branch.headId = at;
  for (bool areSettingsApplied = false;; last *= 4) {
    BOUGH_TRY(auto entries, loadEnd(store, sessionId, branch.headId, mayBePartial ? maxBytes : SIZE_MAX, last));
    if (entries.empty()) return branch;
    branch.requestedEntries = last;
    maxBytes = SIZE_MAX;
    branch.headId = entries.back().id;  // later reads use the same branch, even when the head moves
    bool fromRoot = entries.size() < last;
    if (!areSettingsApplied && !fromRoot && !mayBePartial && !hasSummary(entries)) {
      constexpr std::uint64_t kCopies = 3;  // the entries, what is read from them, and the request
      BOUGH_TRY(
          checkMemory(store, sessionId, kCopies,
                      "--budget N keeps the newest turns that fit; `bough export` writes all of it part by part"));
      BOUGH_TRY(entries, store.loadSessionEntries(sessionId, {.branch = branch.headId}));
      fromRoot = true;
    }
    if (!areSettingsApplied && fromRoot) {
      applySettings(entries, branch);
    } else if (!areSettingsApplied) {
      BOUGH_TRY(const auto settingEntries,
                store.loadSessionEntries(sessionId, {.branch = branch.headId,
                                                     .types = {std::begin(kSettingTypes), std::end(kSettingTypes)}}));
      applySettings(settingEntries, branch);
    }
    areSettingsApplied = true;
    if (fromRoot && !branch.summary && hasMissingParent(entries.front())) branch.orphanedRoot = entries.front();
    branch.isWhole = branch.summary ? applySummary(entries, fromRoot, branch) : fromRoot;
    // The part after a summary is no larger than a context window, so it is read completely and built into a context
    // once.
    if (!branch.isWhole && (branch.summary || !mayBePartial)) continue;
    branch.entries = std::move(entries);
    // One more, because the summary was removed from `entries`.
    BOUGH_TRY(branch.hidden, readHidden(store, sessionId, {.last = branch.entries.size() + 1, .branch = branch.headId},
                                        branch.entries));
    if (branch.entries.size() > kLongBranch) std::ranges::for_each(branch.entries, removeOriginOf);
    branch.systemSince = indexOfSetting(branch.entries, branch.system);
    branch.toolsSince = indexOfSetting(branch.entries, branch.tools);
    return branch;
  }
}

}  // namespace bough::context
