// A session's file that is named by its path: which store's session it is, or that it is one by itself.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"
#include "bough/store.h"
#include "cli/names/named_session.h"

namespace bough::cli {

/// Whether a name has the ending of a session file.
bool isSessionFileName(std::string_view name);

/// Whether a name may be a path: it has a slash, or the ending of a session file.
bool isSessionPath(const std::string& name);

/// Whether a name is the path of a folder that exists.
bool isFolderName(const std::string& name);

/// Whether a name is a path, and something is there.
bool isPathOfFile(const std::string& name);

/// Whether a file is not a session file of bough's, whose lines have seals or at least its header, but another agent's.
bool isForeign(const std::string& path);
/// Whether it lies among the sessions of a store.
bool isAmongSessions(const std::string& path);

/// The session of a file of bough's: in a store, then it is that store's session; elsewhere, then it can be read but
/// not written.
Result<NamedSession> openPath(const std::string& path);

/// The session of this store that a file of it is.
Result<std::string> sessionAt(SessionStore& store, const std::string& path);

}  // namespace bough::cli
