#include "transcript/imported_head.h"

#include "base/json/json_write.h"
#include "base/model/head.h"
#include "base/try.h"

namespace bough::transcript {
namespace {

Entry headEntry(std::string payload, const std::string& timestamp) {
  return {.type = std::string(entry_type::kHead), .timestamp = timestamp, .payload = std::move(payload)};
}

std::string agentsHead(const TranscriptReport& report) {
  json::Writer writer;
  writer.beginObject().key("entryId");
  report.headId.empty() ? writer.raw("null") : writer.string(report.headId);
  writer.key("transcript").beginObject();
  writer.member("agent", report.facts.agent).member("at", report.coveredBytes).endObject().endObject();
  return writer.take();
}

}  // namespace

void ImportedHead::addStored(const Entry& entry) {
  if (isConversation(entryKind(entry.type))) last_ = {.id = entry.id};
  if (entry.type == entry_type::kHead) last_ = {.id = headNamedBy(entry.payload), .wasMoved = true};
}

void ImportedHead::addNew(const Entry& entry) {
  if (isConversation(entryKind(entry.type))) hasNewConversation_ = true;
}

Result<std::vector<Entry>> ImportedHead::headEntries(SessionStore& store, const ImportResult& done,
                                                     const std::string& present, const std::string& timestamp) const {
  std::vector<Entry> entries;
  BOUGH_TRY(const std::string head, target(store, done, present));
  if (head == present) return entries;
  entries.push_back(headEntry(agentsHead(done.report), timestamp));
  if (head != done.report.headId) entries.push_back(headEntry(headPayload(head), timestamp));
  return entries;
}

Result<std::string> ImportedHead::target(SessionStore& store, const ImportResult& done,
                                         const std::string& present) const {
  const std::string& continuedId = done.report.headId;
  if (done.created) return continuedId;
  if (last_.id == continuedId) return hasNewConversation_ ? previousHead_ : present;
  if (last_.id.empty()) return hasNewConversation_ ? continuedId : present;
  BOUGH_TRY(const bool wentOn, hasAgentContinued(store, done));
  if (wentOn) return continuedId;
  // A file that was rewritten may only have become shorter, and the last import may have been interrupted before it
  // moved the head. If the head was moved since, for example by an import of another file of the session, it stays.
  const bool mayFollow = done.rewritten || !last_.wasMoved;
  return mayFollow && present == last_.id ? continuedId : present;
}

// Returns whether the agent continues elsewhere because of its own actions, and not because the file lost something.
Result<bool> ImportedHead::hasAgentContinued(SessionStore& store, const ImportResult& done) const {
  const std::string& continuedId = done.report.headId;
  if (hasNewConversation_ || continuedId.empty()) return true;
  if (!done.rewritten) return done.appended > 0;
  BOUGH_TRY(const auto tree, store.loadTree(done.sessionId));
  BOUGH_TRY(const auto now, store.sequenceOf(done.sessionId, continuedId));
  BOUGH_TRY(const auto before, store.sequenceOf(done.sessionId, last_.id));
  return tree.commonAncestor(before, now) != now;
}

}  // namespace bough::transcript
