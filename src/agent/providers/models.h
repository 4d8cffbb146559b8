// Finds the endpoint of a model that is named `PROVIDER/MODEL`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/providers/stream_reader.h"
#include "bough/agent/provider.h"

namespace bough::agent {

/// Returns the endpoint of a model. Fails with InvalidArgument when the provider is unknown, its key is missing, or the
/// model table named by BOUGH_MODELS cannot be used; the hint says what to set.
Result<Endpoint> findEndpoint(const std::string& name, const Variables& variables = environmentVariable,
                              const std::vector<OwnProvider>& own = {});

/// Returns the provider of an answer, judged by the name of its model and by the dialect in which the answer is stored
/// (std::nullopt: any dialect). Returns an empty name when the model could run on servers of any kind.
std::string_view providerOfModel(std::string_view model, std::optional<Dialect> dialect);

/// Says why defaultModel() returns its model, as a phrase that follows "because".
std::string whyDefaultModel(const Variables& variables = environmentVariable);

/// Returns true for models with open weights, which anyone may run, although their names look like those of one
/// provider.
bool hasOpenWeights(std::string_view model);

/// Returns the provider that designed the API of a dialect: anthropic, openai or gemini. Empty for a dialect that
/// belongs to no API.
std::string_view providerOfDialect(Dialect dialect);

/// Returns true when both names mean the same provider: openai has two names.
bool isSameProvider(std::string_view name, std::string_view other);

/// Returns true when answers of provider `name` may be stored in the dialect of `maker` (see providerOfDialect). Also
/// true for a provider that is not built in, because its dialect is unknown.
bool mayUseDialectOf(std::string_view name, std::string_view maker);

}  // namespace bough::agent
