// Runs a program for a tool: in its own process group, for a limited time, keeping a limited part of its output.
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
  int folder = -1;                     ///< The open folder in which it runs.
  int input = -1;                      ///< The open file that becomes its standard input; negative: none.
  std::chrono::milliseconds time{120'000};
  std::size_t outputBytes = std::size_t{48} << 10;          ///< How much output is kept in all: the beginning and the
                                                            ///< end.
  std::function<void(std::string_view bytes)> output = {};  ///< Called with all output as it arrives; may be empty.
};

struct ProcessOutcome {
  std::string output;  ///< stdout and stderr in order of arrival, with a note where output was left out. May be binary.
  std::uint64_t outputBytes = 0;
  int exitCode = 0;  ///< 128 + the signal number when a signal ended it.
  bool timedOut = false;
  bool cancelled = false;
  bool leftOthers = false;  ///< It left other processes running, which were then ended.
};

/// Runs a program. It inherits our environment without keys, and none of our open files. When it ends, every process
/// that it started is ended, also those that have left its process group (process_keeper.h).
Result<ProcessOutcome> runProcess(const ProcessRequest& request, const CancelToken& cancel);

}  // namespace bough::agent
