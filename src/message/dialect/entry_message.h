// The message in an entry, and the dialect of that message.
#pragma once

#include <string>
#include <string_view>

namespace bough::message {

/// Returns whether an entry of this type holds a message: `message` or one of the plain types user, tool_call …
bool isMessageType(std::string_view type);
/// Returns the payload of a plain entry with the entry's type as its first member.
std::string withType(std::string_view type, std::string_view payload);

}  // namespace bough::message
