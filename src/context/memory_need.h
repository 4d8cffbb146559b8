// Checks whether work on a whole branch fits into memory.
#pragma once

#include <bough/store.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bough::context {

/// Fails with Unsupported when working on a session's log needs more memory than there is; otherwise the system would
/// kill this process or another one. `copies` is how often memory must hold the bytes of the log. `hint` says what
/// to do instead. The history that a fork shares is not counted, since it may be a small part of a long log.
Result<void> checkMemory(SessionStore& store, const std::string& sessionId, std::uint64_t copies,
                         std::string_view hint);

}  // namespace bough::context
