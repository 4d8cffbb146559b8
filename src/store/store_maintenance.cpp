#include "bough/maintenance.h"

#include <fmt/format.h>

#include "base/bytes/sha256.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

template <typename Part>
Result<Part*> partOf(SessionStore::Impl& store, Part* part, std::string_view what) {
  BOUGH_TRY(store.checkOpen());
  if (part != nullptr) return part;
  return fail(ErrorCode::Unsupported, fmt::format("{} has no {}", store.backend->describe(), what),
              "use a store in a folder");
}

Result<SessionMaintenance*> maintenanceOf(SessionStore::Impl& store, const std::string& sessionId) {
  BOUGH_TRY(store.readyToRead(sessionId));
  return partOf(store, store.backend->maintenance(), "maintenance");
}

// Accepts what findUnusedAttachments returns: the digits, and a suffix in the name of an unfinished attachment.
Result<void> checkAttachmentName(std::string_view name) {
  constexpr std::size_t kShown = 120;
  const auto digits = name.substr(0, name.find('.'));
  if (isSha256(digits)) return {};
  return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a SHA-256", name.substr(0, kShown)));
}

Result<SessionTrash*> trashOf(SessionStore::Impl& store) {
  return partOf(store, store.backend->trash(), "trash");
}

Result<AttachmentStore*> attachmentsOf(SessionStore::Impl& store) {
  return partOf(store, store.backend->attachments(), "attachments");
}

// Writes the buffered entries that a removal must see, including those of forks that are about to be detached.
Result<void> flushForRemoval(SessionStore::Impl& store, const std::vector<Removal>& removals) {
  for (const Removal& removal : removals) {
    if (removal.detachForks) return store.writeBuffered();
    BOUGH_TRY(store.readyToRead(removal.sessionId));
  }
  return {};
}

}  // namespace

Result<VerifyReport> StoreMaintenance::verify(const std::string& sessionId) const {
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, sessionId));
  return part->verify(sessionId);
}

Result<RepairReport> StoreMaintenance::repair(const std::string& sessionId) const {
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, sessionId));
  return part->repair(sessionId);
}

Result<MigrationResult> StoreMaintenance::migrate(const std::string& sessionId) const {
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, sessionId));
  return part->migrate(sessionId);
}

Result<ArchiveResult> StoreMaintenance::archive(const std::string& sessionId) const {
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, sessionId));
  BOUGH_TRY(const auto sizes, part->archive(sessionId));
  return ArchiveResult{.sessionId = sessionId, .bytesBefore = sizes.plainBytes, .bytesAfter = sizes.packedBytes};
}

Result<ErasureReport> StoreMaintenance::erase(const Erasure& erasure) const {
  // Buffered entries of other sessions may contain copies.
  BOUGH_TRY(store_->impl->writeBuffered());
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, erasure.sessionId));
  return part->erase(erasure);
}

Result<void> StoreMaintenance::detach(const std::string& forkId) const {
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, forkId));
  return part->detach(forkId);
}

Result<void> StoreMaintenance::detachRest(const std::string& forkId) const {
  BOUGH_TRY(auto* part, maintenanceOf(*store_->impl, forkId));
  return part->detachRest(forkId);
}

Result<std::vector<std::string>> StoreMaintenance::forksOf(const std::string& sessionId) const {
  BOUGH_TRY(store_->impl->readyToRead(sessionId));
  return store_->impl->backend->forksOf(sessionId);
}

Result<void> StoreMaintenance::remove(const Removal& removal) const {
  BOUGH_TRY(flushForRemoval(*store_->impl, {removal}));
  return store_->impl->backend->remove(removal);
}

std::vector<Result<TrashedSession>> StoreMaintenance::trash(const std::vector<Removal>& removals) const {
  const auto part = trashOf(*store_->impl);
  const auto ready = part ? flushForRemoval(*store_->impl, removals) : std::unexpected(part.error());
  if (ready) return (*part)->trash(removals);
  return {removals.size(), std::unexpected(ready.error())};
}

Result<std::vector<TrashedSession>> StoreMaintenance::listTrash() const {
  BOUGH_TRY(auto* part, trashOf(*store_->impl));
  return part->list();
}

Result<void> StoreMaintenance::exportTrashed(const std::string& trashId,
                                             const std::function<bool(std::string_view)>& line) const {
  BOUGH_TRY(auto* part, trashOf(*store_->impl));
  return part->exportLines(trashId, line);
}

Result<void> StoreMaintenance::restore(const std::string& trashId) const {
  BOUGH_TRY(auto* part, trashOf(*store_->impl));
  return part->restore(trashId);
}

Result<std::uint64_t> StoreMaintenance::emptyTrash(const std::vector<std::string>& trashIds) const {
  BOUGH_TRY(auto* part, trashOf(*store_->impl));
  return part->empty(trashIds);
}

Result<std::vector<std::string>> StoreMaintenance::missing(std::vector<std::string> sessionIds) const {
  const auto part = trashOf(*store_->impl);
  if (!part) return std::vector<std::string>();
  return (*part)->missing(std::move(sessionIds));
}

Result<std::string> StoreMaintenance::putAttachment(std::string_view bytes) const {
  BOUGH_TRY(auto* part, attachmentsOf(*store_->impl));
  std::string sha256 = Sha256::of(bytes);
  BOUGH_TRY(const auto hold, part->hold());
  BOUGH_TRY(part->put(sha256, bytes));
  return sha256;
}

Result<std::string> StoreMaintenance::readAttachment(const std::string& sha256) const {
  BOUGH_TRY(auto* part, attachmentsOf(*store_->impl));
  if (!isSha256(sha256))
    return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a SHA-256", sha256.substr(0, 120)));
  return part->get(sha256);
}

Result<std::vector<std::string>> StoreMaintenance::findUnusedAttachments() const {
  BOUGH_TRY(store_->impl->writeBuffered());
  BOUGH_TRY(auto* part, attachmentsOf(*store_->impl));
  return part->unused();
}

Result<std::size_t> StoreMaintenance::removeUnusedAttachments(const std::vector<std::string>& sha256s) const {
  for (const std::string& sha256 : sha256s) {
    BOUGH_TRY(checkAttachmentName(sha256));
  }
  BOUGH_TRY(store_->impl->writeBuffered());
  BOUGH_TRY(auto* part, attachmentsOf(*store_->impl));
  return part->removeUnused(sha256s);
}

}  // namespace bough
