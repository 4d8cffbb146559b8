// The turns of a session: a small file of the session's name in the folder `turns` below the store's root. It holds the
// number of the last turn that has begun and, if that turn has a lease, when it ends. It is read and written while the
// session's lock is held. A file that is missing stands for 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/system/environment.h"
#include "base/system/file_system.h"
#include "log/session_log.h"
#include "store/rules/turn_rules.h"

namespace bough {

Result<TurnState> readTurn(Directory& root, const std::string& sessionId);
/// Durably.
Result<void> writeTurn(Directory& root, const std::string& sessionId, const TurnState& turns);
/// Part of removing a session for good.
void removeTurn(Directory& root, const std::string& sessionId);

/// Begins the next turn, or takes, renews or ends the lease of one, when the session's lock is held; writes nothing to
/// the log.
class TurnWork final : public AppendWork {
 public:
  TurnWork(Directory& root, const std::string& sessionId, Clock& clock, std::optional<TurnLease> lease = {})
      : root_(root), sessionId_(sessionId), clock_(clock), lease_(lease) {}

  Result<void> prepare(LogView& log, BatchLines& lines) override;
  void release() override {}
  void tell(Result<void> outcome) override {
    if (!outcome) result_ = std::unexpected(outcome.error());
  }
  Result<std::uint64_t> take() { return std::move(result_); }

 private:
  Directory& root_;
  const std::string& sessionId_;
  Clock& clock_;
  const std::optional<TurnLease> lease_;  // none: the turn begins whoever holds the session
  Result<std::uint64_t> result_;
};

}  // namespace bough
