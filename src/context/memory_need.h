// Checks whether work on a whole branch fits into memory.
#pragma once

#include <bough/store.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::context {

/// Fails with Unsupported when working on a session's log needs more memory than there is; otherwise the system would
/// kill this process or another one. `times` is how often the bytes of the log are needed in memory. `hint` says what
/// to do instead. The history that a fork shares is not counted, since it may be a small part of a long log.
Result<void> checkMemory(SessionStore& store, const std::string& sessionId, std::uint64_t times, std::string_view hint);

}  // namespace bough::context
