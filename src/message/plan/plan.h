// Decides what a target's document will hold, before any of it is written.
//
// The rules every target shares are kept here, once: the results of a message's calls come right after it, in call
// order, and every call has one; what a target refuses (empty turns, reasoning of others, results without a call) is
// left out and reported; what it cannot hold in its own form becomes text. Originals of the target's own dialect are
// not touched. The writers then only spell out what the plan says.
#pragma once

#include <bough/convert.h>

#include <cstdint>

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"

namespace bough::message {

/// What a plan is made for.
enum class PlanMode : std::uint8_t {
  Convert,   ///< Originals of the target's dialect stay as they are, so that they come back unchanged.
  Fragment,  ///< The history is one message of a longer one, so nothing is paired or added.
  Request,   ///< All of it must be what the target's API accepts, originals of its own dialect too.
};

Plan makePlan(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter,
              PlanMode mode = PlanMode::Convert);

}  // namespace bough::message
