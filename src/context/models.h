// Which provider a model name belongs to.
#pragma once

#include <bough/message.h>

#include <string_view>

namespace bough::context {

/// Returns true when a model is known to be from another provider than that of the dialect. `provider` is the provider
/// that the session recorded for the model; empty when unknown. An unknown name is not foreign: many servers speak
/// another provider's dialect.
bool isForeignModel(std::string_view model, std::string_view provider, Dialect dialect);

}  // namespace bough::context
