// Finds what Anthropic accepts only with a beta header.
#pragma once

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"

namespace bough::message {

/// Adds the headers that a plan for Anthropic needs to the report.
void reportBetaHeaders(const Plan& plan, const History& history, Reporter& reporter);

}  // namespace bough::message
