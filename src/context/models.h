// Whose model a name belongs to.
#pragma once

#include <bough/message.h>

#include <string_view>

namespace bough::context {

/// Whether a model is known to be another provider's than the dialect's. `provider`: whom the session recorded for it;
/// empty when it did not. A name that nobody knows is not foreign: many servers speak the dialect of another.
bool isForeignModel(std::string_view model, std::string_view provider, Dialect dialect);

}  // namespace bough::context
