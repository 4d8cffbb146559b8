// Which models there are to name, where they are reached, and how much they read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/http_provider.h"
#include "agent/provider.h"

namespace bough::agent {

/// How much a model reads and writes, in tokens. Guesses on the safe side for models nobody knows yet.
struct ModelLimits {
  std::uint64_t window = 128'000;
  std::uint64_t maxOutput = 8'192;
};
ModelLimits limitsOf(std::string_view model);

/// Reads an environment variable; empty when it is not set.
using Variables = std::function<std::string(const std::string& name)>;
std::string environmentVariable(const std::string& name);

/// The providers that `provider/model` may name, for messages and completion.
const std::vector<std::string>& providerNames();

/// Where a model named `provider/model` is reached. Fails with InvalidArgument when the provider is unknown or its key
/// is missing; the hint says what to set.
Result<Endpoint> findEndpoint(const std::string& name, const Variables& variables = environmentVariable);

/// The model to use when none is named: BOUGH_MODEL, else one whose key is set, else the offline model.
std::string defaultModel(const Variables& variables = environmentVariable);

/// Makes a provider from `provider/model`; `offline/echo` needs neither key nor network.
Result<std::unique_ptr<Provider>> makeProvider(const std::string& name, const HttpProviderOptions& options = {},
                                               const Variables& variables = environmentVariable);

}  // namespace bough::agent
