// Where a model that is named `PROVIDER/MODEL` is reached.
#pragma once

#include <string>

#include "agent/providers/stream_reader.h"
#include "bough/agent/provider.h"

namespace bough::agent {

/// Fails with InvalidArgument when the provider is unknown, its key is missing, or the table of models that
/// BOUGH_MODELS names cannot be used; the hint says what to set.
Result<Endpoint> findEndpoint(const std::string& name, const Variables& variables = environmentVariable,
                              const std::vector<OwnProvider>& own = {});

}  // namespace bough::agent
