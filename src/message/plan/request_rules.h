// What an API refuses even in messages of its own provider, when a crash or an edit tore them apart.
#pragma once

#include "message/plan/plan.h"

namespace bough::message {

/// Leaves out, and reports: reasoning without what it led to, unsigned reasoning, items that are there twice. Merges
/// what then stands side by side.
void applyRequestRules(Plan& plan, const History& history, Dialect target, Reporter& reporter);

/// In messages that were edited: reasoning without a signature, or without what it led to, which Anthropic refuses.
void dropLooseThinking(Plan& plan, const History& history, Dialect target, Reporter& reporter);

/// Copies whole what stayed as it was written, and says what was put together.
void copyWhatStayed(Plan& plan, const History& history, Dialect target, Reporter& reporter);

}  // namespace bough::message
