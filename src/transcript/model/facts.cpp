#include "transcript/model/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/model/entry_list.h"
#include "transcript/model/ids.h"
#include "transcript/model/uuid.h"

namespace bough {
namespace transcript {
namespace {

// The name and the member of each fact that is a string.
struct Field {
  std::string_view name;
  std::string TranscriptFacts::* member;
};
constexpr Field kFields[] = {{"agent", &TranscriptFacts::agent},
                             {"sessionId", &TranscriptFacts::sessionId},
                             {"key", &TranscriptFacts::key},
                             {"cwd", &TranscriptFacts::cwd},
                             {"title", &TranscriptFacts::title},
                             {"model", &TranscriptFacts::model},
                             {"created", &TranscriptFacts::created},
                             {"version", &TranscriptFacts::version},
                             {"parentSession", &TranscriptFacts::parentSession},
                             {"parentEntryId", &TranscriptFacts::parentEntryId}};

}  // namespace

namespace {

// A torn end is only incomplete, not lost.
void writeLost(json::Writer& writer, const TranscriptReport& report) {
  const bool endsTorn = report.bytes > report.coveredBytes;
  if (report.unreadable <= (endsTorn ? 1 : 0)) return;
  writer.key("lost").beginObject().member("recovered", report.recovered);
  writer.member("unreadable", report.unreadable - (endsTorn ? 1 : 0));
  const auto first = std::ranges::find(report.damage, false, &TranscriptDamage::recovered);
  if (first != report.damage.end()) {
    writer.key("first").beginObject().member("at", first->offset).member("reason", first->reason).endObject();
  }
  writer.endObject();
}

}  // namespace

std::string factsPayload(const TranscriptReport& report) {
  const TranscriptFacts& facts = report.facts;
  json::Writer writer;
  writer.beginObject();
  if (!facts.title.empty()) writer.member("title", facts.title);
  writer.key("transcript").beginObject().key("facts").beginObject();
  for (const Field& field : kFields) {
    if (!(facts.*field.member).empty()) writer.member(field.name, facts.*field.member);
  }
  if (!facts.metadata.empty()) writer.key("metadata").raw(facts.metadata);
  writer.endObject();
  writeLost(writer, report);
  return writer.endObject().endObject().take();
}

bool holdsFacts(const Entry& entry) {
  if (entry.type != entry_type::kSessionInfo) return false;
  const auto transcript = json::findMember(entry.payload, "transcript");
  return transcript && json::findMember(*transcript, "facts");
}

bool isUsableKey(std::string_view key) {
  return isSessionKey(key);
}

}  // namespace transcript

using namespace transcript;

std::string transcriptSessionId(const TranscriptFacts& facts) {
  return facts.storeId.empty() ? sessionIdOf(facts.agent, facts.sessionId) : facts.storeId;
}

namespace {

// Returns the last facts in the entries; only those of one agent when `agent` is given.
TranscriptFacts factsOf(const EntryList& entries, std::string_view agent = {}) {
  TranscriptFacts facts;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::SessionInfo) continue;
    const EntryPin entry = entries.at(i);
    if (!holdsFacts(*entry)) continue;
    const auto stored = json::findMember(*json::findMember(entry->payload, "transcript"), "facts");
    if (!agent.empty() && json::findString(*stored, "agent") != agent) continue;
    for (const Field& field : kFields) facts.*field.member = json::findString(*stored, field.name).value_or("");
    facts.metadata = json::findMember(*stored, "metadata").value_or("");
  }
  return facts;
}

}  // namespace

TranscriptFacts importedFacts(const TranscriptSource& entries) {
  return factsOf(entries.list());
}

Result<TranscriptReport> importedDamage(SessionStore& store, const std::string& sessionId, std::size_t looks) {
  TranscriptReport report;
  BOUGH_TRY(const auto infos,
            store.loadSessionEntries(sessionId, {.last = looks, .type = std::string(entry_type::kSessionInfo)}));
  const auto last = std::ranges::find_if(infos.rbegin(), infos.rend(), [](const Entry& entry) {
    return !entry.redacted && entry.id.starts_with(kFactsId) && holdsFacts(entry);
  });
  if (last == infos.rend()) return report;
  const std::string_view transcript = *json::findMember(last->payload, "transcript");
  const std::string_view lost = json::findMember(transcript, "lost").value_or("{}");
  report.facts.agent = json::findString(*json::findMember(transcript, "facts"), "agent").value_or("");
  report.recovered = json::findUnsigned(lost, "recovered").value_or(0);
  report.unreadable = json::findUnsigned(lost, "unreadable").value_or(0);
  if (const auto first = json::findMember(lost, "first")) {
    report.damage.push_back({.offset = json::findUnsigned(*first, "at").value_or(0),
                             .reason = json::findString(*first, "reason").value_or("")});
  }
  return report;
}

namespace {

// Returns a UUID that is always the same for an id. It is marked as version 8, which is for custom methods.
std::string uuidFrom(std::string_view id) {
  if (isUuid(id)) return std::string(id);
  const std::string hash = Sha256::of(id);
  return fmt::format("{}-{}-8{}-a{}-{}", hash.substr(0, 8), hash.substr(8, 4), hash.substr(12, 3), hash.substr(15, 3),
                     hash.substr(18, 12));
}

}  // namespace

Result<TranscriptFacts> factsForExport(SessionStore& store, const std::string& sessionId, const std::string& agent,
                                       const TranscriptSource& source) {
  const EntryList& entries = source.list();
  TranscriptFacts facts = factsOf(entries);
  if (facts.agent == agent) return facts;
  // A session that went to another agent and came back is still the same session.
  if (const auto own = factsOf(entries, agent); own.agent == agent) return own;
  facts.agent = agent;
  facts.storeId = sessionId;
  facts.sessionId = uuidFrom(sessionId);
  facts.version.clear();
  facts.parentSession.clear();
  facts.parentEntryId.clear();
  facts.metadata.clear();
  BOUGH_TRY(const auto header, store.loadSessionEntries(sessionId, {.limit = 1}));
  if (!header.empty() && header.front().type == entry_type::kSessionHeader) {
    if (facts.cwd.empty()) facts.cwd = json::findString(header.front().payload, "cwd").value_or("");
    const std::string key = json::findString(header.front().payload, "key").value_or("");
    if (facts.key.empty() && key.find(":transcript:") == std::string::npos) facts.key = key;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) == EntryKind::SessionInfo) {
      facts.title = json::findString(entries.at(i)->payload, "title").value_or(facts.title);
    } else if (facts.created.empty() && entries.isInConversation(i)) {
      facts.created = entries.at(i)->timestamp;
    }
  }
  BOUGH_TRY(entries.check());
  if (facts.created.empty() && !header.empty()) facts.created = header.front().timestamp;
  return facts;
}

TranscriptFacts factsOfCopy(const TranscriptFacts& facts, unsigned number) {
  TranscriptFacts copy = facts;
  copy.sessionId = uuidFor(fmt::format("{}/{}/{}", facts.agent, facts.sessionId, number));
  // The agent's own list has the metadata for the session that was copied. The key says whose session it is; a list
  // that already has the key uses another one.
  copy.metadata.clear();
  copy.storeId.clear();
  return copy;
}

}  // namespace bough
