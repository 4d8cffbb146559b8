// Runs a program for a tool: in a process group of its own, for a limited time, keeping a limited part of its output.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/cancel.h"
#include "bough/error.h"

namespace bough::agent {

struct ProcessRequest {
  std::vector<std::string> arguments;  ///< The first one is the program, found in PATH.
  int folder = -1;                     ///< An open folder: where it runs.
  int input = -1;                      ///< An open file that it reads as its standard input; none when negative.
  std::chrono::milliseconds time{120'000};
  std::size_t outputBytes = std::size_t{48} << 10;          ///< Kept in all: the beginning and the end.
  std::function<void(std::string_view bytes)> output = {};  ///< Gets all of it, as it comes; may be empty.
};

struct ProcessOutcome {
  std::string output;  ///< stdout and stderr as they came, with a note where something was left out. May be binary.
  std::uint64_t outputBytes = 0;
  int exitCode = 0;  ///< 128 + the signal when one ended it.
  bool timedOut = false;
  bool cancelled = false;
  bool leftOthers = false;  ///< It left others running, which were ended.
};

/// Runs a program. The environment is ours except for keys; of our open files it gets none. Whatever it started is
/// ended with it, also what has left its process group (process_keeper.h).
Result<ProcessOutcome> runProcess(const ProcessRequest& request, const CancelToken& cancel);

}  // namespace bough::agent
