// Transcripts that an agent (zstd) or a person (gzip) compressed, read as if they were not.
#pragma once

#include <memory>
#include <string>

#include "transcript/source/record.h"

namespace bough::transcript {

/// The bytes of a file: unpacked when it begins as a zstd or a gzip file does. Reading fails with Damaged where it
/// cannot be unpacked further. `path` is for messages.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> file, const std::string& path);

}  // namespace bough::transcript
