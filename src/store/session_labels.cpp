// Names and notes that a session carries as entries: labels, its title, summaries of other branches.

#include <fmt/format.h>

#include <algorithm>

#include <map>
#include <set>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

// Without an entry the label is taken away.
std::string labelPayload(std::string_view name, std::optional<std::string_view> entryId) {
  std::string payload;
  json::Writer writer(payload);
  writer.beginObject().key("entryId");
  entryId ? writer.string(*entryId) : writer.null();
  writer.member("name", name).endObject();
  return payload;
}

Entry makeEntry(std::string_view type, std::string payload) {
  Entry entry;
  entry.type = type;
  entry.payload = std::move(payload);
  return entry;
}

}  // namespace

// In each session the last entry of a name counts. A fork has the labels that the sessions before it give to what it
// shares, unless it says otherwise itself.
Result<std::vector<SessionLabel>> SessionStore::Impl::labels(const std::string& sessionId) {
  auto history = historyOf(sessionId);
  if (!history) return std::unexpected(history.error());
  std::vector<std::string> sessions = (*history)->sessions();
  sessions.push_back(sessionId);
  std::map<std::string, SessionLabel> byName;
  for (const std::string& session : sessions) {
    auto given = ownLabels(session);
    if (!given) return std::unexpected(given.error());
    for (auto& [name, label] : *given) {
      bool known = !label.entryId.empty();
      if (known && session != sessionId) {
        auto place = (*history)->find(*backend, label.entryId);
        if (!place) return std::unexpected(place.error());
        known = place->has_value();
      }
      if (known) {
        byName[name] = std::move(label);
      } else {
        byName.erase(name);
      }
    }
  }
  std::vector<SessionLabel> found;
  for (auto& [name, label] : byName) found.push_back(std::move(label));
  return found;
}

// What a session's own entries say: of a label that was taken away, that it names nothing.
Result<std::map<std::string, SessionLabel>> SessionStore::Impl::ownLabels(const std::string& sessionId) {
  auto sequences = backend->controls(sessionId);
  if (!sequences) return std::unexpected(sequences.error());
  auto entries = backend->read(sessionId, *sequences);
  if (!entries) return std::unexpected(entries.error());
  std::set<std::string> hidden;
  for (const Entry& entry : *entries) {
    if (entry.type == entry_type::kRedaction) hidden.insert(json::findString(entry.payload, "entryId").value_or(""));
  }
  std::map<std::string, SessionLabel> byName;
  for (const Entry& entry : *entries) {
    if (entry.type != entry_type::kLabel || hidden.contains(entry.id)) continue;
    auto name = json::findString(entry.payload, "name");
    if (!name) continue;
    byName[*name] = {.name = *name,
                     .entryId = json::findString(entry.payload, "entryId").value_or(""),
                     .timestamp = entry.timestamp,
                     .sessionId = sessionId};
  }
  return byName;
}

Entry SessionStore::Impl::labelEntry(std::string_view name, std::string_view entryId) {
  return makeEntry(entry_type::kLabel, labelPayload(name, entryId));
}

Result<std::vector<SessionLabel>> SessionStore::labels(const std::string& sessionId) {
  if (auto ready = impl_->readyToRead(sessionId); !ready) return std::unexpected(ready.error());
  return retryWhenChanged([&] { return impl_->labels(sessionId); });
}

Result<AppendResult> SessionStore::labelEntry(const std::string& sessionId, const std::string& entryId,
                                              const std::string& name) {
  return appendSessionEntries(sessionId, {makeEntry(entry_type::kLabel, labelPayload(name, entryId))},
                              {.durability = Durability::Sync});
}

namespace {

Result<SessionLabel> findLabel(SessionStore& store, const std::string& sessionId, const std::string& name) {
  auto known = store.labels(sessionId);
  if (!known) return std::unexpected(known.error());
  const auto found = std::ranges::find(*known, name, &SessionLabel::name);
  if (found != known->end()) return std::move(*found);
  return fail(ErrorCode::NotFound, fmt::format("session {} has no label \"{}\"", sessionId, text::excerpt(name, 40)),
              "`bough labels` lists the labels of a session");
}

}  // namespace

Result<AppendResult> SessionStore::removeLabel(const std::string& sessionId, const std::string& name) {
  if (auto label = findLabel(*this, sessionId, name); !label) return std::unexpected(label.error());
  return appendSessionEntries(sessionId, {makeEntry(entry_type::kLabel, labelPayload(name, std::nullopt))},
                              {.durability = Durability::Sync});
}

Result<AppendResult> SessionStore::restoreLabel(const std::string& sessionId, const std::string& name) {
  auto label = findLabel(*this, sessionId, name);
  if (!label) return std::unexpected(label.error());
  return moveHead(sessionId, label->entryId);
}

Result<AppendResult> SessionStore::setTitle(const std::string& sessionId, const std::string& title) {
  std::string payload;
  json::Writer(payload).beginObject().member("title", title).endObject();
  return appendSessionEntries(sessionId, {makeEntry(entry_type::kSessionInfo, std::move(payload))},
                              {.durability = Durability::Sync});
}

Result<AppendResult> SessionStore::appendBranchSummary(const std::string& sessionId, const BranchSummary& summary) {
  std::string payload;
  json::Writer writer(payload);
  writer.beginObject().member("sourceSessionId", summary.sourceSessionId);
  writer.member("sourceEntryId", summary.sourceEntryId).member("summary", summary.summary).endObject();
  return appendSessionEntries(sessionId, {makeEntry(entry_type::kBranchSummary, std::move(payload))});
}

}  // namespace bough
