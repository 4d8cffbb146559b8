// Runs a program for a tool: in a process group of its own, for a limited time, keeping a limited part of its output.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "agent/cancel.h"
#include "bough/error.h"

namespace bough::agent {

struct ProcessLimits {
  std::chrono::milliseconds time{120'000};
  std::size_t outputBytes = std::size_t{48} << 10;  ///< Kept in all: the beginning and the end.
};

struct ProcessOutcome {
  std::string output;  ///< stdout and stderr as they came, with a note where something was left out. May be binary.
  std::uint64_t outputBytes = 0;
  int exitCode = 0;  ///< 128 + the signal when one ended it.
  bool timedOut = false;
  bool cancelled = false;
};

/// Runs `arguments[0]`, found in PATH, in a folder. The environment is ours but for keys. Whatever it started and left
/// running in its group is ended with it.
Result<ProcessOutcome> runProcess(const std::vector<std::string>& arguments, const std::string& folder,
                                  const ProcessLimits& limits, const CancelToken& cancel);

}  // namespace bough::agent
