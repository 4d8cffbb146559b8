// What a command ends with, as docs/cli.md promises it.
#pragma once

namespace bough::cli {

enum ExitCode : int { kDone = 0, kProblem = 1, kWrongUse = 2, kInterrupted = 130 };

}  // namespace bough::cli
