// The command line: parses the arguments, runs the command, prints errors.
#pragma once

namespace bough::cli {

/// Returns the exit code.
int run(int argc, char** argv);

}  // namespace bough::cli
