// Files that a command was asked to write.
#pragma once

#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

/// Whether `path` may be written: it does not exist, `replace` says so, or the person at the terminal does. Without a
/// terminal an existing file is InvalidArgument.
Result<void> checkOutputFile(const std::string& path, bool replace,
                             std::string_view hint = "name another file, or pass --force");

/// Writes a file that only its owner may read. It is there whole, or as it was before.
Result<void> writeOutputFile(const std::string& path, std::string_view text);

}  // namespace bough::cli
