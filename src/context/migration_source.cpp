#include <fmt/format.h>

#include <set>

#include "base/json_scan.h"
#include "context/branch.h"
#include "context/provider_migration.h"
#include "message/request.h"

namespace bough::context {
namespace {

bool isMarker(const Entry& entry) {
  return entry.type == entry_type::kCustom && json::findString(entry.payload, "kind") == kMigrationKind;
}

void readOriginOf(SessionStore& store, const Entry& marker, MigrationSource& source) {
  const auto named = json::findMember(marker.payload, "origin");
  const auto sha256 = named ? json::findString(*named, "sha256") : std::nullopt;
  auto bytes = sha256 ? store.readAttachment(*sha256)
                      : Result<std::string>(fail(ErrorCode::NotFound, "the migration names no origin"));
  if (bytes) {
    source.origin.json = std::move(*bytes);
  } else {
    source.originProblem = bytes.error().message;
  }
}

// The dialect of the newest message that a provider wrote.
Dialect newestDialect(const std::vector<message::SessionMessage>& messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    const auto name = json::findString(messages[i].payload, "dialect");
    const auto dialect = name ? parseDialect(*name) : Result<Dialect>(Dialect::Bough);
    if (dialect && *dialect != Dialect::Bough && *dialect != Dialect::Plain) return *dialect;
  }
  return Dialect::Bough;
}

// The entries that this session, or one whose history it shares, has redacted.
Result<std::set<std::string, std::less<>>> redactedIn(SessionStore& store, std::string sessionId) {
  std::set<std::string, std::less<>> redacted;
  while (!sessionId.empty()) {
    auto entries = store.loadSessionEntries(sessionId, {.type = std::string(entry_type::kRedaction)});
    if (!entries) return std::unexpected(entries.error());
    for (const Entry& entry : *entries) redacted.insert(json::findString(entry.payload, "entryId").value_or(""));
    auto state = store.sessionState(sessionId);
    if (!state) return std::unexpected(state.error());
    sessionId = state->origin ? state->origin->sessionId : std::string();
  }
  return redacted;
}

}  // namespace

Result<void> readSource(SessionStore& store, const std::string& sessionId, const std::string& at,
                        MigrationSource& source) {
  auto state = store.sessionState(sessionId);
  if (!state) return std::unexpected(state.error());
  source.headId = at.empty() ? state->headId : at;
  if (source.headId.empty()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("session {} has no entries yet", sessionId));
  }
  auto entries = store.loadSessionEntries(sessionId, {.branch = source.headId});
  if (!entries) return std::unexpected(entries.error());
  for (std::size_t i = entries->size(); i-- > 0;) {
    if (!isMarker((*entries)[i])) continue;
    readOriginOf(store, (*entries)[i], source);
    entries->erase(entries->begin(), entries->begin() + static_cast<std::ptrdiff_t>(i) + 1);
    break;
  }
  source.entries = std::move(*entries);
  Branch inForce;
  for (std::size_t i = 0; i < source.entries.size(); ++i) {
    const Entry& entry = source.entries[i];
    applyState(entry, inForce);
    if (entry.redacted) source.redacted.push_back(entry.id);
    if (!message::isMessageType(entry.type) || entry.redacted) continue;
    source.places.push_back(i);
    source.systems.push_back(inForce.system ? inForce.system->json : "");
    source.tools.push_back(inForce.tools ? inForce.tools->json : "");
  }
  source.system = inForce.system ? inForce.system->json : "";
  source.toolList = inForce.tools ? inForce.tools->json : "";
  for (std::size_t i = 0; i < source.places.size(); ++i) {
    const Entry& entry = source.entries[source.places[i]];
    source.messages.push_back({.entryId = entry.id,
                               .type = entry.type,
                               .payload = entry.payload,
                               .system = source.systems[i],
                               .tools = source.tools[i]});
  }
  source.dialect = newestDialect(source.messages);
  return {};
}

Result<void> readNatives(SessionStore& store, const std::string& sessionId, const MigrationSource& source, bool strict,
                         message::History& history, message::Reporter& reporter) {
  if (!source.originProblem.empty()) {
    if (strict) return fail(ErrorCode::Damaged, "the origin of the last migration is gone: " + source.originProblem);
    reporter.warn("the origin of the last migration is gone: " + source.originProblem + "; converted without it");
  }
  const Origin* origin = source.origin.json.empty() ? nullptr : &source.origin;
  auto read = message::readSession(source.messages, origin, history, reporter);
  if (!read && !strict) {
    reporter.warn(read.error().message + "; converted without it");
    history.natives.clear();
    read = message::readSession(source.messages, nullptr, history, reporter);
  }
  if (!read) return read;
  for (const message::Native& native : history.natives) {
    std::string_view problem = native.problem;
    for (const Block& block : native.message.blocks) problem = problem.empty() ? block.problem : problem;
    if (strict && !problem.empty()) {
      return fail(ErrorCode::InvalidArgument, fmt::format("entry {}: {}", native.entryId, problem));
    }
  }
  for (const std::string& entry : source.redacted) {
    reporter.note(Change::LeftOut, "payload", "message", "redacted");
    if (!reporter.report().findings.empty()) reporter.report().findings.back().entryId = entry;
  }
  // What comes from the origin was stored before anybody could redact it.
  if (origin == nullptr) return {};
  auto redacted = redactedIn(store, sessionId);
  if (!redacted) return std::unexpected(redacted.error());
  std::erase_if(history.natives,
                [&](const message::Native& native) { return native.fromOrigin && redacted->contains(native.entryId); });
  return {};
}

}  // namespace bough::context
