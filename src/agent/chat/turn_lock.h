// Allows one turn at a time in a session, across processes and machines.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bough/agent/working_folder.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough::agent {

/// Held while a turn runs.
class TurnLock {
 public:
  /// Takes the lock. Fails at once with Busy when another process is running a turn.
  ///
  /// In a store's folder this is a file lock, which the system releases when the process ends in any way; all sessions
  /// share one lock file. Elsewhere (`storeFolder` is not a folder) it is a lease in the store, which a thread renews
  /// while this object lives. The lease of a process that died expires 10 seconds after its last renewal.
  static Result<TurnLock> take(SessionStore& store, const std::string& storeFolder, const std::string& sessionId);
  ~TurnLock();
  TurnLock(TurnLock&&) noexcept;
  TurnLock& operator=(TurnLock&&) = delete;

  /// Returns the number of the turn, if the store gave one with the lease.
  [[nodiscard]] std::optional<std::uint64_t> turn() const;

 private:
  class Lease;
  TurnLock(Descriptor file, std::unique_ptr<Lease> lease);
  Descriptor file_;
  std::unique_ptr<Lease> lease_;
};

}  // namespace bough::agent
