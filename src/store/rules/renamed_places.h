// What the names of places in a log (`unreadable:<offset>`) mean after that log was written again, with its lines in
// other places. Sessions that share it may know entries by such names and are not written again with it. So the log
// says what they mean now, in a `session_info` at its end: `{"places":{"unreadable:1234":"unreadable:1100"}}`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bough {

/// The payload of such a session_info; each name is that of an entry, by its id or its place in the new log.
std::string renamedPlacesPayload(const std::map<std::string, std::string>& renamed);
/// What a name means by such a payload; none when it says nothing of it.
std::optional<std::string> renamedIn(std::string_view payload, std::string_view name);

}  // namespace bough
