// One turn at a time in a session, across processes.
#pragma once

#include <string>

#include "bough/agent/working_folder.h"
#include "bough/error.h"

namespace bough::agent {

/// Held while a turn runs. The system lets go of it when the process ends, however it ends.
class TurnLock {
 public:
  /// Takes the lock of a session in a store's folder; all sessions share one file there. Busy when another process is
  /// in the middle of a turn. A store that is not a folder has no such
  /// lock: there the number of the turn (Session::beginTurn) ends the older of two turns at its next append.
  static Result<TurnLock> take(const std::string& storeFolder, const std::string& sessionId);

 private:
  explicit TurnLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace bough::agent
