// What an API refuses even in messages of its own provider, when a crash or an edit split them.
#pragma once

#include "message/plan/plan.h"

namespace bough::message {

/// Leaves out and reports reasoning without what it led to, unsigned reasoning, and repeated items. Merges messages
/// that are then adjacent.
void applyRequestRules(Plan& plan, const History& history, Dialect target, Reporter& reporter);

/// Drops reasoning from edited messages when it has no signature or when what it led to is missing, because Anthropic
/// refuses it.
void dropRefusedThinking(Plan& plan, const History& history, Dialect target, Reporter& reporter);

/// Copies messages as a whole when they are unchanged, and reports which messages were merged.
void copyUnchangedMessages(Plan& plan, const History& history, Dialect target, Reporter& reporter);

}  // namespace bough::message
