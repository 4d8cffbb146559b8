// The command line: parses the arguments, runs the command, prints errors.
#pragma once

#include <memory>

#include "bough/storage_backend.h"

namespace bough::cli {

/// Returns the exit code. With a backend, every command works on that one.
int run(int argc, char** argv, std::shared_ptr<StorageBackend> backend = nullptr);

}  // namespace bough::cli
