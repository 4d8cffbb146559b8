#include "store/rules/lost_payloads.h"

#include "base/model/unreadable.h"
#include "store/rules/attachment_reference.h"

namespace bough {

bool LostPayloads::isLoss(const Error& error) {
  return !error.retryable && (error.code == ErrorCode::NotFound || error.code == ErrorCode::Damaged);
}

void LostPayloads::markLost(const std::string& sessionId, Entry& entry, const Error& why) {
  makeUnreadable(entry, readAttachmentReference(entry.payload).value_or(""), shownBytes(entry.payload), why.message);
  const std::lock_guard lock(mutex_);
  ids_[sessionId].insert(entry.id);
}

void LostPayloads::noteReadable(const std::string& sessionId, const std::string& entryId) {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(sessionId); found != ids_.end()) found->second.erase(entryId);
}

std::uint64_t LostPayloads::count(const std::string& sessionId) {
  const std::lock_guard lock(mutex_);
  const auto found = ids_.find(sessionId);
  return found == ids_.end() ? 0 : found->second.size();
}

}  // namespace bough
