// Where the history of a session began: what sessions with copies of the same entries have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace bough {

/// The payload of a session's header; none when it cannot be read.
using HeaderPayloadOf = std::function<std::optional<std::string>(const std::string& sessionId)>;

/// The session in which the history of this one began: as its header says, else as those say that it was forked or
/// detached from. A log that was copied under another name began as the session that its header names.
std::string rootSession(std::string sessionId, const HeaderPayloadOf& headerOf);

}  // namespace bough
