// What is common to backends in which a fork refers to the history it shares: which sessions share it, what may be
// removed, and how a fork gets its own copy. The file and the memory backend derive from this class.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/model/ids.h"
#include "bough/storage_backend.h"
#include "store/sharing/sharing_session.h"

namespace bough {

class SharingTrash;

/// The session whose history a session shares, as far as that is readable.
struct SeenOrigin {
  std::optional<ForkOrigin> origin = {};
  /// False when the header is unreadable. Then the session may be a fork of any session, whatever `origin` says.
  bool isCertain = true;
};

/// Called under the session's lock, before anything is changed.
using Allowed = std::function<Result<void>()>;

/// By session or trash id.
using SeenOrigins = std::vector<std::pair<std::string, SeenOrigin>>;

class SharingBackend : public StorageBackend, public SharingSessions {
 public:
  explicit SharingBackend(IdGenerator& ids) : ids_(ids) {}

  [[nodiscard]] Result<std::shared_ptr<StoredSession>> open(const std::string& sessionId) override;
  [[nodiscard]] Result<void> create(const SessionCreation& session) override;
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId) override;
  [[nodiscard]] Result<void> remove(const Removal& removal) override;
  Result<std::string> attachment(const std::string& sha256) override;

  /// Gives a fork its own copy of the history it shares. Conflict when the fork is appended to again and again
  /// meanwhile.
  Result<void> detach(const std::string& forkId);
  /// As detach(), but copies only what is left when a session whose history the fork shares is lost.
  Result<void> detachRest(const std::string& forkId);
  /// Checks the conditions of a removal, namely the tail. Does not check whether other sessions share the session.
  Result<void> checkTail(const Removal& removal);
  bool isHeaderAlone(const std::string& sessionId);
  Result<void> detachForks(const std::string& sessionId);

  /// Returns whose history a session seems to share, even if the session is damaged.
  virtual Result<SeenOrigin> seenOrigin(const std::string& sessionId) = 0;
  /// Returns the same for all sessions that `isKnown` does not know. A backend may omit sessions that certainly share
  /// nothing.
  virtual Result<SeenOrigins> seenOrigins(const std::function<bool(const std::string&)>& isKnown);
  /// Keeps a session from being removed while the result lives, and makes one of its entries durable.
  virtual Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) = 0;
  virtual Result<void> storeNew(const std::string& sessionId, const std::vector<Entry>& entries) = 0;
  /// Replaces all entries of a session atomically. Conflict when the tail is not `expectedTail`.
  virtual Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                               const std::string& expectedTail) = 0;
  virtual Result<void> removeIf(const std::string& sessionId, const Allowed& allowed) = 0;
  virtual SharingTrash& sharedTrash() = 0;
  /// Returns how many sessions were created or removed so far; std::nullopt while that is in progress or when it is not
  /// counted.
  virtual std::optional<std::uint64_t> nameChanges() = 0;
  /// Returns a message for each other copy of a session that is not read but has different content.
  virtual Result<std::vector<std::string>> otherCopies(const std::string& /*sessionId*/) {
    return std::vector<std::string>();
  }
  /// Passes everything that was moved out of any session's log and kept (torn bytes, files that a migration replaced)
  /// to `use`, in parts, also for sessions in the trash. Text of up to 128 bytes that is cut by the end of a part is
  /// repeated as a whole in the next part.
  virtual Result<void> exportSetAside(const std::function<void(std::string_view)>& /*use*/) { return {}; }

 private:
  Result<std::string> rootOf(const std::string& sessionId);
  Result<void> detachOnce(const std::string& forkId, ForkHistory::Lost lost);

  IdGenerator& ids_;
};

/// The trash of such a backend. The rules are here; the backend moves the sessions.
class SharingTrash : public SessionTrash {
 public:
  explicit SharingTrash(SharingBackend& backend) : backend_(backend) {}

  [[nodiscard]] std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) override;
  [[nodiscard]] Result<void> restore(const std::string& trashId) override;
  [[nodiscard]] Result<std::uint64_t> empty(const std::vector<std::string>& trashIds) override;

  virtual Result<TrashedSession> moveIf(const std::string& sessionId, const Allowed& allowed) = 0;
  /// Returns the state of a session in the trash. A second copy with different content counts as one more problem.
  virtual Result<SessionState> stateOf(const std::string& trashId) = 0;
  virtual Result<SeenOrigin> originOf(const std::string& trashId) = 0;
  /// As SharingBackend::seenOrigins, for everything in the trash.
  virtual Result<SeenOrigins> origins();
  virtual Result<void> moveBack(const std::string& trashId) = 0;
  virtual Result<void> removeOne(const std::string& trashId) = 0;

 private:
  SharingBackend& backend_;
};

/// The attachments of such a backend.
class SharingAttachments : public AttachmentStore {
 public:
  explicit SharingAttachments(SharingBackend& backend) : backend_(backend) {}

  [[nodiscard]] Result<std::vector<std::string>> unused() override;
  [[nodiscard]] Result<std::size_t> removeUnused(const std::vector<std::string>& sha256s) override;

  /// Returns the SHA-256s of all attachments, and the names of unfinished files that interrupted writes left.
  virtual Result<std::vector<std::string>> list() = 0;
  /// Removes attachments while nobody can add any. `isUnused` is called for each under the lock.
  virtual Result<std::size_t> removeIf(const std::vector<std::string>& sha256s,
                                       const std::function<Result<bool>(const std::string&)>& isUnused) = 0;

 private:
  SharingBackend& backend_;
};

}  // namespace bough
