// Erases payloads for good in memory: from sessions, the trash and attachments.

#include <set>

#include "base/bytes/sha256.h"
#include "base/try.h"
#include "store/memory/memory_backend.h"
#include "store/sharing/erasure_plan.h"

namespace bough {

Result<bool> MemoryLog::addDerivedTargets(ErasurePlan& plan, const std::string& sessionId,
                                          const EntrySerializer& serializer, IdGenerator& ids) {
  bool grown = false;
  const std::lock_guard lock(mutex);
  for (const Line& line : lines) {
    const auto has = [&](std::string_view words) { return line.text.contains(words); };
    if (plan.find(line.id) != nullptr || std::ranges::none_of(kDerivedMarkers, has)) continue;
    BOUGH_TRY(const Entry entry, serializer.decode(line.text));
    if (!isDerivedFrom(plan, entry) || isErasedPayload(entry.payload)) continue;
    BOUGH_TRY(addTarget(plan, sessionId, entry, ids));
    grown = true;
  }
  return grown;
}

Result<bool> MemoryLog::erase(const ErasurePlan& plan, const std::string& sessionId,
                              const EntrySerializer& serializer) {
  const std::lock_guard lock(mutex);
  BatchLines receipts;
  std::vector<std::pair<std::size_t, std::string>> fresh;  // by sequence
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const ErasureTarget* const target = plan.find(line.id);
    if (target == nullptr) continue;
    BOUGH_TRY(const Entry entry, serializer.decode(line.text));
    const bool own = sessionId == target->sessionId;
    if (isErasedPayload(entry.payload) || (!own && Sha256::of(entry.payload) != target->storedSha256)) continue;
    std::string text;
    BOUGH_TRY(serializer.encode(erasedEntry(entry, *target), text));
    BOUGH_TRY(receipts.add(receiptOf(plan, *target, headId), serializer));
    fresh.emplace_back(i, std::move(text));
  }
  if (receipts.empty()) return false;
  add(receipts);
  for (auto& [sequence, text] : fresh) lines[sequence].text = std::move(text);
  generation = nextGeneration();
  return true;
}

std::set<std::string> MemoryLog::wayBackAttachments() {
  const std::lock_guard lock(mutex);
  std::set<std::string> found;
  for (const Line& line : lines) {
    for (std::string& sha256 : wayBackAttachmentsIn(line.text)) found.insert(std::move(sha256));
  }
  return found;
}

std::vector<std::pair<std::string, std::shared_ptr<MemoryLog>>> MemoryBackend::Trash::logs() {
  const std::lock_guard lock(backend_.mutex_);
  std::vector<std::pair<std::string, std::shared_ptr<MemoryLog>>> found;
  for (const auto& [trashId, each] : trashed_) found.emplace_back(each.about.sessionId, each.log);
  return found;
}

std::vector<std::pair<std::string, std::shared_ptr<MemoryLog>>> MemoryBackend::allLogs() {
  auto found = trash_.logs();
  const std::lock_guard lock(mutex_);
  for (const auto& [id, session] : sessions_) {
    if (auto log = session->log()) found.emplace_back(id, std::move(log));
  }
  return found;
}

Result<ErasureReport> MemoryBackend::erase(const Erasure& erasure) {
  BOUGH_TRY(auto plan, planErasure(*this, erasure, store_->ids, store_->environment.clock, [](const Entry&) {}));
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [id, log] : allLogs()) {
      BOUGH_TRY(const bool more, log->addDerivedTargets(plan, id, store_->serializer, store_->ids));
      grown = grown || more;
    }
  }
  ErasureReport report = reportOf(plan);
  // Repeat until nothing is found: a session may be detached or restored meanwhile.
  for (bool any = true; any;) {
    any = false;
    for (const auto& [id, log] : allLogs()) {
      BOUGH_TRY(const bool erased, log->erase(plan, id, store_->serializer));
      if (!erased) continue;
      any = true;
      report.rewritten.push_back(id);
      store_->noteChange(id);
    }
  }
  for (const auto& [id, log] : allLogs()) {
    for (const std::string& sha256 : log->wayBackAttachments()) {
      const auto bytes = attachments_.get(sha256);
      if (bytes && wayBackNamesTarget(plan, *bytes)) plan.wayBackAttachments.push_back(sha256);
    }
  }
  BOUGH_TRY(const auto undone, attachments_.removeIf(plan.wayBackAttachments, [](const std::string&) { return true; }));
  BOUGH_TRY(const auto removed, attachments_.removeUnused(plan.attachments));
  report.removedAttachments = undone + removed;
  for (const std::string& sha256 : plan.attachments) {
    if (attachments_.get(sha256)) report.keptAttachments.push_back(sha256);
  }
  return report;
}

}  // namespace bough
