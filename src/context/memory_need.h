// Whether what is made of a whole branch fits in memory.
#pragma once

#include <bough/store.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::context {

/// Fails with Unsupported when a session's log takes more memory than there is: the system would end this process, or
/// another one. `times`: how many times its bytes are needed. `hint`: what to do instead. What a fork shares is not
/// counted, since it may be a small part of a long log.
Result<void> checkMemory(SessionStore& store, const std::string& sessionId, std::uint64_t times, std::string_view hint);

}  // namespace bough::context
