// Files that a person names, outside of a store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough {

/// Reads a whole file of at most `limitBytes`: a regular one, a pipe that somebody writes to (`<(command)` of a shell),
/// or /dev/null. It never waits for a writer. NotFound when it does not exist, InvalidArgument when it is too large, a
/// folder, another device, or a pipe that nobody writes to, Io otherwise; each message names the path and the reason.
/// The caller adds the hint.
Result<std::string> readNamedFile(const std::string& path, std::uint64_t limitBytes);

/// Whether a text holds only white space, perhaps after the mark of its byte order.
bool isBlank(std::string_view text);

}  // namespace bough
