// Files outside of a store, named by the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough {

/// Reads a whole file of at most `limitBytes`: a regular file, a pipe that has a writer (`<(command)` in a shell), or
/// /dev/null. Never waits for a writer to open the pipe. Returns NotFound when the file does not exist; InvalidArgument
/// when it is too large, a folder, another device, or a pipe without a writer; otherwise Io. Each message names the
/// path and the reason. The caller adds the hint.
Result<std::string> readNamedFile(const std::string& path, std::uint64_t limitBytes);

/// Returns true when a text contains only white space, possibly after a byte order mark.
bool isBlank(std::string_view text);

}  // namespace bough
