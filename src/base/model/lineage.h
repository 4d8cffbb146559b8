// The session in which the history of a session began. Sessions that contain copies of the same entries have it in
// common.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace bough {

/// Returns the payload of a session's header; std::nullopt when it cannot be read.
using HeaderPayloadOf = std::function<std::optional<std::string>(const std::string& sessionId)>;

/// Returns the session in which the history of `sessionId` began: the root that its header names, otherwise the last
/// session found by following the headers to where each was forked or detached from. The root of a log that was copied
/// under another name is the session that its header names.
std::string rootSession(std::string sessionId, const HeaderPayloadOf& headerOf);

}  // namespace bough
