// The exit codes of all commands; docs/cli.md documents them.
#pragma once

namespace bough::cli {

enum ExitCode : int { kDone = 0, kProblem = 1, kWrongUse = 2, kInterrupted = 130 };

}  // namespace bough::cli
