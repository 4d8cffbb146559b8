// Where a model that is named `PROVIDER/MODEL` is reached.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/providers/stream_reader.h"
#include "bough/agent/provider.h"

namespace bough::agent {

/// Fails with InvalidArgument when the provider is unknown, its key is missing, or the table of models that
/// BOUGH_MODELS names cannot be used; the hint says what to set.
Result<Endpoint> findEndpoint(const std::string& name, const Variables& variables = environmentVariable,
                              const std::vector<OwnProvider>& own = {});

/// The provider that gave an answer, by the name of its model and the API whose dialect it is stored in; none: whatever
/// it says. Empty when that could be a server of any kind.
std::string_view providerOfModel(std::string_view model, std::optional<Dialect> dialect);

/// Why defaultModel() gives what it gives, to follow "because".
std::string whyDefaultModel(const Variables& variables = environmentVariable);

/// Whether anybody may run a model, since its weights are open, though it is named like those of one provider.
bool isAnyones(std::string_view model);

/// The provider that has made an API: anthropic, openai or gemini. Empty for a dialect that is no API's.
std::string_view providerOfDialect(Dialect dialect);

/// Whether two names are those of one provider: openai has two.
bool isProvider(std::string_view name, std::string_view other);

/// Whether a provider's answers may be in a dialect of the one that has made the API (providerOfDialect). True as well
/// where nobody knows: for one that is not built in.
bool speaksApiOf(std::string_view name, std::string_view maker);

}  // namespace bough::agent
