#include <fmt/format.h>

#include <set>

#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "context/branch.h"
#include "context/provider_migration.h"
#include "message/dialect/entry_message.h"
#include "message/model/message_edit.h"
#include "message/request/stored.h"

namespace bough::context {
namespace {

void readWayBackOf(SessionStore& store, const Entry& marker, MigrationSource& source) {
  const auto named = json::findMember(marker.payload, "origin");
  const auto sha256 = named ? json::findString(*named, "sha256") : std::nullopt;
  auto bytes = sha256 ? store.readAttachment(*sha256)
                      : Result<std::string>(fail(ErrorCode::NotFound, "the migration names no way back"));
  if (bytes) {
    source.wayBack.json = std::move(*bytes);
  } else {
    source.wayBackProblem = bytes.error().message;
  }
}

// Returns the dialect of the newest message that a provider wrote.
Dialect newestDialect(const std::vector<message::SessionMessage>& messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    const auto name = json::findString(messages[i].payload, "dialect");
    const auto dialect = name ? parseDialect(*name) : Result<Dialect>(Dialect::Bough);
    if (dialect && *dialect != Dialect::Bough && *dialect != Dialect::Plain) return *dialect;
  }
  return Dialect::Bough;
}

// Returns the entries that were redacted in this session or in one whose history it shares.
Result<std::set<std::string, std::less<>>> redactedIn(SessionStore& store, std::string sessionId) {
  std::set<std::string, std::less<>> redacted;
  while (!sessionId.empty()) {
    BOUGH_TRY(auto entries, store.loadSessionEntries(sessionId, {.type = std::string(entry_type::kRedaction)}));
    for (const Entry& entry : entries) redacted.insert(json::findString(entry.payload, "entryId").value_or(""));
    BOUGH_TRY(auto state, store.sessionState(sessionId));
    sessionId = state.origin ? state.origin->sessionId : std::string();
  }
  return redacted;
}

}  // namespace

bool isMigration(const Entry& entry) {
  return entry.type == entry_type::kCustom && json::findString(entry.payload, "kind") == kMigrationKind;
}

Result<void> checkTarget(Dialect target) {
  if (target != Dialect::Plain && target != Dialect::Bough) return {};
  return fail(ErrorCode::Unsupported, fmt::format("{} is not a provider's dialect", toString(target)),
              "one of anthropic, openai-chat, openai-responses, gemini");
}

void SettingsInForce::apply(const Entry& entry) {
  if (entry.type != entry_type::kSystemPromptOverride && entry.type != entry_type::kRuntimeInit) return;
  applyEntrySettings(entry, branch_);
  keep(branch_.system, system_);
  keep(branch_.tools, tools_);
}

void SettingsInForce::keep(const std::optional<RecordedSetting>& now, std::string_view& kept) {
  if (now && now->json != kept) kept = texts_.emplace_back(now->json);
}

message::SessionMessage sessionMessage(const Entry& entry, const HiddenPayloads& hidden,
                                       const SettingsInForce& settings) {
  const auto stored = entry.redacted ? hidden.find(entry.id) : hidden.end();
  return {.entryId = entry.id,
          .type = entry.type,
          .payload = entry.redacted ? std::string_view() : std::string_view(entry.payload),
          .hidden = stored == hidden.end() ? std::string_view() : std::string_view(stored->second),
          .system = settings.system(),
          .tools = settings.tools()};
}

Result<void> readSource(SessionStore& store, const std::string& sessionId, const std::string& at,
                        MigrationSource& source) {
  std::vector<Entry> entries = std::move(source.entries);
  if (entries.empty()) {
    BOUGH_TRY(auto state, store.sessionState(sessionId));
    source.headId = at.empty() ? state.headId : at;
    if (source.headId.empty()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("session {} has no entries yet", sessionId),
                  "`bough append` adds the first one");
    }
    BOUGH_TRY(entries, store.loadSessionEntries(sessionId, {.branch = source.headId}));
  } else {
    source.headId = entries.back().id;
  }
  if (!entries.empty() && hasMissingParent(entries.front())) source.orphanedRoot = entries.front();
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (!isMigration((entries)[i])) continue;
    readWayBackOf(store, (entries)[i], source);
    source.orphanedRoot.reset();
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    break;
  }
  source.entries = std::move(entries);
  BOUGH_TRY(source.hidden,
            readHidden(store, sessionId, {.last = source.entries.size(), .branch = source.headId}, source.entries));
  for (const Entry& entry : source.entries) {
    if (auto edit = message::editIn(entry)) source.edited.insert(std::move(edit->targetId));
  }
  bool isApart = false;
  for (std::size_t i = 0; i < source.entries.size(); ++i) {
    const Entry& entry = source.entries[i];
    source.settings.apply(entry);
    if (entry.redacted) source.redacted.push_back(entry.id);
    if (!message::isMessageType(entry.type)) continue;
    source.places.push_back(i);
    message::SessionMessage& message =
        source.messages.emplace_back(sessionMessage(entry, source.hidden, source.settings));
    // A message that an edit replaces must not be joined with one that it does not replace.
    const bool isEdited = source.edited.contains(entry.id);
    message.neverJoined = isApart || isEdited;
    isApart = isEdited;
  }
  source.dialect = newestDialect(source.messages);
  return {};
}

Result<void> readOriginals(SessionStore& store, const std::string& sessionId, const MigrationSource& source,
                           bool strict, message::History& history, message::Reporter& reporter) {
  if (!source.wayBackProblem.empty()) {
    if (strict) return fail(ErrorCode::Damaged, "the way back of the last migration is gone: " + source.wayBackProblem);
    reporter.warn("the way back of the last migration is gone: " + source.wayBackProblem + "; converted without it");
  }
  if (source.orphanedRoot) {
    const std::string problem = reporter.beginsTooLate(*source.orphanedRoot);
    if (strict) return fail(ErrorCode::Damaged, problem, "bough verify names the damage");
  }
  for (const Entry& entry : source.entries) {
    if (!isUnreadable(entry)) continue;
    const std::string problem = reporter.unreadable(entry);
    if (strict) return fail(ErrorCode::Damaged, problem, "bough verify names the damage");
  }
  const WayBack* wayBack = source.wayBack.json.empty() ? nullptr : &source.wayBack;
  auto read = message::readSession(source.messages, wayBack, history, reporter);
  if (!read && !strict) {
    reporter.warn(read.error().message + "; converted without it");
    history.originals.clear();
    read = message::readSession(source.messages, nullptr, history, reporter);
  }
  if (!read) return read;
  for (const message::Original& original : history.originals) {
    std::string_view problem = original.problem;
    for (const Block& block : original.message.blocks) problem = problem.empty() ? block.problem : problem;
    if (strict && !problem.empty()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("entry {}: {}", original.entryId, problem));
    }
  }
  for (const std::string& entry : source.redacted) {
    reporter.note(Change::LeftOut, "payload", "message", "redacted", entry);
  }
  // The way back was stored before these entries were redacted, so apply redactions to what it contains.
  if (wayBack == nullptr) return {};
  BOUGH_TRY(auto redacted, redactedIn(store, sessionId));
  for (message::Original& original : history.originals) {
    if (!original.fromWayBack || !redacted.contains(original.entryId)) continue;
    message::hideContent(original);
  }
  return {};
}

}  // namespace bough::context
