// Whether the calls and results of a plan obey the target's API where copied originals meet messages that are written.
#pragma once

#include <cstdint>
#include <vector>

#include "message/model/planned.h"
#include "message/plan/copied.h"
#include "message/plan/pairing.h"

namespace bough::message {

/// The copied originals that must be written again: an id beside them is there twice, or a result is not where the
/// target looks for it. What stood like this in its own document stays.
std::vector<std::int32_t> brokenPairs(const Plan& plan, const History& history, const Pairing& pairing,
                                      const CopiedOriginals& copied, Dialect target);

}  // namespace bough::message
