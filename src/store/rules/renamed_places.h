// An entry that could not be read may be known by its place in the log (`unreadable:<offset>`). When the log is
// rewritten, the places of its lines change. Sessions that share the log may still use the old names, and are not
// rewritten with it. So the log records the new meaning of these names in a `session_info` at its end:
// `{"places":{"unreadable:1234":"unreadable:1100"}}`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bough {

/// Returns the payload of such a session_info. Each old name maps to an entry's id or to its place in the new log.
std::string renamedPlacesPayload(const std::map<std::string, std::string>& renamed);
/// Returns what such a payload says about a name; std::nullopt when it does not contain the name.
std::optional<std::string> renamedIn(std::string_view payload, std::string_view name);

}  // namespace bough
