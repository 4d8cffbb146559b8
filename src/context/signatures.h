// Which signatures are valid in a context. Anthropic binds a signature to everything before it in the original request.
#pragma once

#include "context/branch.h"
#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::context {

/// The parts of a request that differ from what the branch recorded.
struct RequestChanges {
  bool system = false;
  bool tools = false;
  bool turnsLeftOut = false;
};

/// Reports every signed block: whether it is in the context, and what makes it invalid.
void reportSignatures(const message::History& history, const Branch& branch, Dialect target,
                      const RequestChanges& changes, message::Reporter& reporter);

}  // namespace bough::context
