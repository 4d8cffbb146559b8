// A model behind an HTTP API: posts the context, reads the stream, tries again where that can help.
#pragma once

#include <memory>

#include "agent/provider.h"
#include "agent/secrets.h"
#include "agent/stream_reader.h"

namespace bough::agent {

struct HttpProviderOptions {
  int attempts = 6;                       ///< In all, the first one included.
  std::uint64_t longestWaitMs = 120'000;  ///< A provider that asks for more is not waited for.
  int connectTimeoutMs = 20'000;
  int idleTimeoutMs = 300'000;
};

std::unique_ptr<Provider> makeHttpProvider(Endpoint endpoint, Secrets secrets, const HttpProviderOptions& options = {});

}  // namespace bough::agent
