// A model behind an HTTP API: posts the context, reads the stream, and retries where a retry can help.
#pragma once

#include <memory>

#include "agent/providers/stream_reader.h"
#include "bough/agent/provider.h"
#include "bough/agent/tools.h"

namespace bough::agent {

std::unique_ptr<Provider> makeHttpProvider(Endpoint endpoint, Secrets secrets, const HttpProviderOptions& options = {});

}  // namespace bough::agent
