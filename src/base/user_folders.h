// Settings of the user who runs the program: environment variables, and the folders derived from them.
#pragma once

#include <string>

#include "bough/error.h"

namespace bough {

/// Returns the value of a variable; empty when it is not set.
std::string environmentVariable(const std::string& name);

/// Returns HOME when it is an absolute path; otherwise an empty text.
std::string homeFolder();

/// Returns `path` with a leading `~` replaced by the home folder. Returns InvalidArgument when there is no home folder.
Result<std::string> withHome(const std::string& path);

enum class UserFolder { Data, Config, Cache };

/// Returns the folder where the XDG specification keeps a user's files of that kind: the value of its variable when
/// that is an absolute path, otherwise a folder below HOME. Empty when neither exists.
std::string userFolder(UserFolder kind);

/// Returns USER; "unknown" when it is not set.
std::string userName();

}  // namespace bough
