// What the person who runs the program has set: variables, and the folders that follow from them.
#pragma once

#include <string>

#include "bough/error.h"

namespace bough {

/// Empty when the variable is not set.
std::string environmentVariable(const std::string& name);

/// HOME, when it is an absolute path; else empty.
std::string homeFolder();

/// A path, with that folder in the place of a `~` that it begins with. InvalidArgument when there is none.
Result<std::string> withHome(const std::string& path);

enum class UserFolder { Data, Config, Cache };

/// Where the XDG specification keeps a person's files of that kind: what its variable says, when that is an absolute
/// path, else a folder below HOME. Empty when there is neither.
std::string userFolder(UserFolder kind);

/// USER; "unknown" when it is not set.
std::string userName();

}  // namespace bough
