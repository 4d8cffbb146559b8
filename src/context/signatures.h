// Which signatures hold in a context. Anthropic binds them to everything that stood before them when they were given.
#pragma once

#include "context/branch.h"
#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::context {

/// What of a request is not what the branch recorded.
struct RequestChanges {
  bool system = false;
  bool tools = false;
  bool turnsLeftOut = false;
};

/// Reports every signed block: whether it is in the context, and what breaks it.
void reportSignatures(const message::History& history, const Branch& branch, Dialect target,
                      const RequestChanges& changes, message::Reporter& reporter);

}  // namespace bough::context
