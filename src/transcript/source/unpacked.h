// Reads transcripts that an agent (zstd) or a person (gzip) compressed as if they were not compressed.
#pragma once

#include <memory>
#include <string>

#include "transcript/source/record.h"

namespace bough::transcript {

/// Returns the bytes of a file, decompressed when the file begins like a zstd or gzip file. Reading fails with Damaged
/// at the point where decompression fails. `path` is used in messages.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> file, const std::string& path);

}  // namespace bough::transcript
