// What Anthropic takes only together with a beta header.
#pragma once

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"

namespace bough::message {

/// Names in the report the headers that a plan for Anthropic needs.
void nameBetas(const Plan& plan, const History& history, Reporter& reporter);

}  // namespace bough::message
