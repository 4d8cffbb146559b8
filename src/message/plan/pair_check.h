// Checks whether the calls and results of a plan obey the rules of the target's API where copied originals are next to
// messages that are written.
#pragma once

#include <cstdint>
#include <vector>

#include "message/model/planned.h"
#include "message/plan/copied.h"
#include "message/plan/pairing.h"

namespace bough::message {

/// Returns the copied originals that must be written again: their id occurs a second time next to them, or a result is
/// not where the target looks for it. Originals that had such a problem in their own document are accepted.
std::vector<std::int32_t> brokenPairs(const Plan& plan, const History& history, const Pairing& pairing,
                                      const CopiedOriginals& copied, Dialect target);

}  // namespace bough::message
