// The message that an entry holds, and the dialect it is in.
#pragma once

#include <string>
#include <string_view>

namespace bough::message {

/// Whether an entry of this type holds a message. Besides `message`, these are the plain types: user, tool_call …
bool isMessageType(std::string_view type);
/// The payload of a plain entry with the entry's type as its first member.
std::string withType(std::string_view type, std::string_view payload);

}  // namespace bough::message
