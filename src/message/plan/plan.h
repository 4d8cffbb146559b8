// Decides what a target's document will hold, before any of it is written.
//
// The rules that all targets share are defined here, once. The results of a message's calls come directly after it, in
// the order of the calls, and every call has a result. What a target refuses (empty turns, reasoning of other
// providers, results without a call) is left out and reported. What the target cannot hold in its own form becomes
// text. Originals of the target's own dialect are not changed. The writers then only write what the plan says.
#pragma once

#include <bough/convert.h>

#include <cstdint>

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"

namespace bough::message {

/// The purpose of a plan.
enum class PlanMode : std::uint8_t {
  Convert,   ///< Originals of the target's dialect stay unchanged, so that they come back unchanged.
  Fragment,  ///< The history is one message of a longer history, so nothing is paired or added.
  Request,   ///< Everything must be accepted by the target's API, even originals of its own dialect.
};

Plan makePlan(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter,
              PlanMode mode = PlanMode::Convert);

}  // namespace bough::message
