// What backends have in common that let a fork name what it shares: who shares whose history, what may be removed, and
// how a fork gets its own copy. Files and memory derive from this.
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

/// Whose history a session shares, as far as that can be seen.
struct SeenOrigin {
  std::optional<ForkOrigin> origin = {};
  /// False when its header cannot be read: then it may be a fork of any session, whatever is seen of it.
  bool sure = true;
};

/// Asked under the session's lock, before anything is changed.
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

  /// Gives a fork its own copy of what it shares. Conflict when it is appended to again and again meanwhile.
  Result<void> detach(const std::string& forkId);
  /// The same with what is left, when a session that it shares history of is lost.
  Result<void> detachRest(const std::string& forkId);
  /// What must hold before a session goes, except that no other session shares it: its tail.
  Result<void> checkTail(const Removal& removal);
  bool isHeaderAlone(const std::string& sessionId);
  Result<void> detachForks(const std::string& sessionId);

  /// Whose history a session seems to share, however damaged it is.
  virtual Result<SeenOrigin> seenOrigin(const std::string& sessionId) = 0;
  /// The same of all sessions that `isKnown` does not know. A backend that is sure of them may leave out those that
  /// share nothing.
  virtual Result<SeenOrigins> seenOrigins(const std::function<bool(const std::string&)>& isKnown);
  /// Keeps a session from being removed while the result lives, and makes an entry of it durable.
  virtual Result<std::unique_ptr<Hold>> pin(const std::string& sessionId, const std::string& entryId) = 0;
  virtual Result<void> storeNew(const std::string& sessionId, const std::vector<Entry>& entries) = 0;
  /// Replaces all entries of a session at once. Conflict when the tail is not `expectedTail`.
  virtual Result<void> rewrite(const std::string& sessionId, const std::vector<Entry>& entries,
                               const std::string& expectedTail) = 0;
  virtual Result<void> removeIf(const std::string& sessionId, const Allowed& allowed) = 0;
  virtual SharingTrash& sharedTrash() = 0;
  /// How many sessions were made or removed so far; none while somebody is at it, or when that is not counted.
  virtual std::optional<std::uint64_t> nameChanges() = 0;
  /// Of each copy of a session that is not read and holds something else: what to say of it.
  virtual Result<std::vector<std::string>> otherCopies(const std::string& /*sessionId*/) {
    return std::vector<std::string>();
  }
  /// Gives what was moved out of any session's log and kept to `use`, in parts, also of sessions in the trash: torn
  /// bytes, files that a migration replaced. Whatever crosses the end of a part is whole in the next one, up to 128
  /// bytes.
  virtual Result<void> exportSetAside(const std::function<void(std::string_view)>& /*use*/) { return {}; }

 private:
  Result<std::string> rootOf(const std::string& sessionId);
  Result<void> detachOnce(const std::string& forkId, ForkHistory::Lost lost);

  IdGenerator& ids_;
};

/// The trash of such a backend: the rules are here, the moving is the backend's.
class SharingTrash : public SessionTrash {
 public:
  explicit SharingTrash(SharingBackend& backend) : backend_(backend) {}

  [[nodiscard]] std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) override;
  [[nodiscard]] Result<void> restore(const std::string& trashId) override;
  [[nodiscard]] Result<std::uint64_t> empty(const std::vector<std::string>& trashIds) override;

  virtual Result<TrashedSession> moveIf(const std::string& sessionId, const Allowed& allowed) = 0;
  /// A second copy that holds something else counts as one more problem.
  virtual Result<SessionState> stateOf(const std::string& trashId) = 0;
  virtual Result<SeenOrigin> originOf(const std::string& trashId) = 0;
  /// Of all that is in the trash, as SharingBackend::seenOrigins.
  virtual Result<SeenOrigins> origins();
  virtual Result<void> bringBack(const std::string& trashId) = 0;
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

  /// The SHA-256s of all, and the names of what an interrupted writing left.
  virtual Result<std::vector<std::string>> list() = 0;
  /// Removes attachments while nobody can be adding any; `isUnused` is asked for each under the lock.
  virtual Result<std::size_t> removeIf(const std::vector<std::string>& sha256s,
                                       const std::function<Result<bool>(const std::string&)>& isUnused) = 0;

 private:
  SharingBackend& backend_;
};

}  // namespace bough
