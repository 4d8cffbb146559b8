// Whole processes, as people run them.
#pragma once

#include <string>
#include <vector>

namespace bough::bench {

/// Where a program is; empty when it is not installed.
std::string pathOf(const std::string& program);

/// Runs a program to its end, its output thrown away. Failed when its exit code is none of these.
void runProcess(std::vector<std::string> words, const std::vector<int>& accepted = {0});

/// Seconds until a program prints its first byte; whoever prints more is not waited for.
double firstOutput(std::vector<std::string> words);

}  // namespace bough::bench
