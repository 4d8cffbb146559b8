// The turns of a session: a small file named after the session in the folder `turns` of the store. It contains the
// number of the last turn that has begun and, if that turn has a lease, when the lease ends. It is read and written
// while the session's lock is held. A missing file means turn 0.
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
/// Writes the state durably.
Result<void> writeTurn(Directory& root, const std::string& sessionId, const TurnState& turns);
/// Removes the file, as part of removing a session for good.
void removeTurn(Directory& root, const std::string& sessionId);

/// Begins the next turn, or takes, renews or ends the lease of a turn, under the session's lock. Writes nothing to the
/// log.
class TurnWork final : public AppendWork {
 public:
  TurnWork(Directory& root, const std::string& sessionId, Clock& clock, std::optional<TurnLease> lease = {})
      : root_(root), sessionId_(sessionId), clock_(clock), lease_(lease) {}

  Result<void> prepare(LogView& log, BatchLines& lines) override;
  void release() override {}
  void setOutcome(Result<void> outcome) override {
    if (!outcome) result_ = std::unexpected(outcome.error());
  }
  Result<std::uint64_t> takeResult() { return std::move(result_); }

 private:
  Directory& root_;
  const std::string& sessionId_;
  Clock& clock_;
  const std::optional<TurnLease> lease_;  // std::nullopt: the turn begins even if another turn holds the session
  Result<std::uint64_t> result_;
};

}  // namespace bough
