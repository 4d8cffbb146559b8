// The command line: parses the arguments, runs the command, prints errors.
#pragma once

#include <memory>

#include "bough/storage_backend.h"

namespace bough::cli {

/// Runs a command line and returns its exit code. With `backend`, every command works on that backend.
int run(int argc, char** argv, std::shared_ptr<StorageBackend> backend = nullptr);

}  // namespace bough::cli
