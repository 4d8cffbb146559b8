// Opens a session file named by its path, either as a session of its store or by itself.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"
#include "bough/store.h"
#include "cli/names/named_session.h"

namespace bough::cli {

/// Returns true when a name has the extension of a session file.
bool isSessionFileName(std::string_view name);

/// Returns true when a name may be a path: it contains a slash or has the extension of a session file.
bool isSessionPath(const std::string& name);

/// Returns true when a name is the path of an existing folder.
bool isFolderName(const std::string& name);

/// Returns true when a name is a path and something exists there.
bool isPathOfFile(const std::string& name);

/// Returns true when a file belongs to another agent. Files of bough have sealed lines, or at least bough's header.
bool isForeign(const std::string& path);
/// Returns true when the file is in the sessions folder of a store.
bool isAmongSessions(const std::string& path);

/// Opens the session of one of bough's files. A file in a store is opened as that store's session; any other file can
/// be read but not written.
Result<NamedSession> openPath(const std::string& path);

/// Returns the id of the session whose file in this store has that path.
Result<std::string> sessionAt(SessionStore& store, const std::string& path);

}  // namespace bough::cli
