// When a turn may begin or continue, judged by what a store keeps about a session's turns.
#pragma once

#include <string>

#include "bough/error.h"
#include "bough/storage_backend.h"

namespace bough {

/// What a store keeps about the turns of a session.
struct TurnState {
  std::uint64_t turn = 0;          ///< The last turn that has begun.
  std::uint64_t leaseUntilMs = 0;  ///< When its lease ends; 0: it has no lease.
};

/// Returns the state after a lease. Busy while the lease of another turn runs, Conflict when the turn is not the
/// latest.
Result<TurnState> afterLease(const std::string& sessionId, const TurnState& before, const TurnLease& lease,
                             std::uint64_t nowMs);

/// Returns the error for a session that another turn holds for `leftMs` more, unless that turn renews its lease.
Error turnIsHeld(const std::string& sessionId, std::uint64_t turn, std::uint64_t leftMs);

}  // namespace bough
