// Files that a command was asked to write.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

/// What a file that is at the path when the output is written means.
enum class Existing { Refused, Replaced };

/// Looks whether `path` may be written: it does not exist, `replace` says so, or the person at the terminal does.
/// Without a terminal an existing file is InvalidArgument.
Result<Existing> checkOutputFile(const std::string& path, bool replace,
                                 std::string_view hint = "name another file, or pass --force");

/// Writes a file that only its owner may read. It is there whole, or as it was before. With Existing::Refused, a file
/// that somebody made since it was checked is InvalidArgument.
Result<void> writeOutputFile(const std::string& path, std::string_view text, Existing existing);

}  // namespace bough::cli
