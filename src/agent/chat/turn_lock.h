// One turn at a time in a session, across processes and machines.
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
  /// Busy, at once, when another process is in the middle of a turn.
  ///
  /// In a store's folder it is a lock of the system, which lets go of it when the process ends, however it ends; all
  /// sessions share one file there. Elsewhere (`storeFolder` is not a folder) it is a lease of the store, renewed by a
  /// thread while this lives: that of a process that died ends by itself, 10 seconds after it was renewed last.
  static Result<TurnLock> take(SessionStore& store, const std::string& storeFolder, const std::string& sessionId);
  ~TurnLock();
  TurnLock(TurnLock&&) noexcept;
  TurnLock& operator=(TurnLock&&) = delete;

  /// The number of the turn, where the store has given one with the lease.
  [[nodiscard]] std::optional<std::uint64_t> turn() const;

 private:
  class Lease;
  TurnLock(Descriptor file, std::unique_ptr<Lease> lease);
  Descriptor file_;
  std::unique_ptr<Lease> lease_;
};

}  // namespace bough::agent
