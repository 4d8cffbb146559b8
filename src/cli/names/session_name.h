// How a person names a session.
#pragma once

#include <memory>
#include <string>

#include "bough/error.h"
#include "bough/store.h"
#include "cli/definition/command.h"

namespace bough::cli {

inline constexpr const char* kSessionHelp =
    "A session: its id, a key, part of its title, @last, @N (of the last list), or a path";

/// The id of the session that `name` means in this store. NotFound when there is none; InvalidArgument, with the
/// candidates, when there are several.
Result<std::string> resolveSession(SessionStore& store, const std::string& name);

/// A session that was named, and the store it is in.
struct NamedSession {
  std::shared_ptr<void> passing;  ///< What goes with it: the folder of a copy.
  std::unique_ptr<SessionStore> store;
  std::string sessionId;
};

/// The same in the store that the command line means. A name may also be the path of a session file: in a store, then
/// it is that store's session; elsewhere, then it can be read but not written. A transcript of another agent, by its
/// path or by the id of a session in that agent's folder, is read as a session, too.
Result<NamedSession> openSession(const Context& context, const std::string& name);

}  // namespace bough::cli
