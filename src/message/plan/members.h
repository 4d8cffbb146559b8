// What a message of the target's own dialect says beside its blocks, when it cannot be copied whole.
#pragma once

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"

namespace bough::message {

/// Has these members written again where the message comes from one original; what is left out is named.
void carryMembers(Plan& plan, const History& history, Dialect target, Reporter& reporter);

}  // namespace bough::message
