// Writes files that the user asked a command to write.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

/// What to do if the file exists when the output is written.
enum class Existing { Refused, Replaced };

/// Checks whether `path` may be written: the file does not exist, `replace` allows it, or the person at the terminal
/// agrees. Without a terminal, an existing file is an InvalidArgument error.
Result<Existing> checkOutputFile(const std::string& path, bool replace,
                                 std::string_view hint = "name another file, or pass --force");

/// Writes a file that only its owner may read. The write is atomic: after a failure the old file remains. With
/// Existing::Refused, fails with InvalidArgument when somebody has created the file since it was checked.
Result<void> writeOutputFile(const std::string& path, std::string_view text, Existing existing);

}  // namespace bough::cli
