#include "store/rules/turn_rules.h"

#include <fmt/format.h>

#include "store/rules/entry_rules.h"

namespace bough {

Error turnIsHeld(const std::string& sessionId, std::uint64_t turn, std::uint64_t leftMs) {
  return fail(ErrorCode::Busy,
              fmt::format("another agent is in the middle of a turn in session {} (turn {})", sessionId, turn),
              fmt::format(
                  "wait for it, or fork the session to continue beside it (`bough chat --on-conflict branch` does); "
                  "if its machine is gone, its lease ends in {} s",
                  (leftMs + 999) / 1000))
      .error();
}

Result<TurnState> afterLease(const std::string& sessionId, const TurnState& before, const TurnLease& lease,
                             std::uint64_t nowMs) {
  const std::uint64_t until = lease.leaseMs == 0 ? 0 : nowMs + lease.leaseMs;
  if (lease.turn == 0) {
    // If the clock was set back, nobody may be locked out for longer than a lease lasts.
    constexpr std::uint64_t kMostMs = 3'600'000;
    const std::uint64_t leftMs = before.leaseUntilMs > nowMs ? before.leaseUntilMs - nowMs : 0;
    if (leftMs > 0 && leftMs <= kMostMs) return std::unexpected(turnIsHeld(sessionId, before.turn, leftMs));
    return TurnState{.turn = before.turn + 1, .leaseUntilMs = until};
  }
  if (lease.turn != before.turn) return std::unexpected(turnConflict(sessionId, lease.turn, before.turn, ""));
  return TurnState{.turn = before.turn, .leaseUntilMs = until};
}

}  // namespace bough
