// How a person names a session.
#pragma once

#include <string>

#include "bough/error.h"
#include "bough/store.h"

namespace bough::cli {

inline constexpr const char* kSessionHelp = "A session: its id, or the beginning of one when that is unique";

/// The id of the session that `name` means. NotFound when there is none; InvalidArgument, with the candidates, when
/// there are several.
Result<std::string> resolveSession(SessionStore& store, const std::string& name);

}  // namespace bough::cli
