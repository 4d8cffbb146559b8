// What Gemini requires in addition to alternating turns: all results of a turn's calls together, a user turn before
// calls, and a signature at the first call of a turn.
#pragma once

#include "message/model/history.h"
#include "message/model/planned.h"
#include "message/model/report.h"
#include "message/plan/pairing.h"

namespace bough::message {

/// Inserts a synthetic user message at the beginning of a plan, because the target requires one.
void beginWith(Plan& plan, std::string_view text, std::string_view reason, Reporter& reporter);

/// In a request no message stays unchanged, so results need not be joined.
void arrangeForGemini(Plan& plan, const History& history, const Pairing& pairing, bool request, Reporter& reporter);

}  // namespace bough::message
