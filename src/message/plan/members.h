// Handles the members of a message of the target's own dialect, other than its blocks, when the message cannot be
// copied as a whole.
#pragma once

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"

namespace bough::message {

/// Writes such members again when the message comes from one original; members that are left out are reported.
void rewriteMembers(Plan& plan, const History& history, Dialect target, Reporter& reporter);

}  // namespace bough::message
