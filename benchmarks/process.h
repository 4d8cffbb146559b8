// Runs whole processes, as people run them.
#pragma once

#include <string>
#include <vector>

namespace bough::bench {

/// Returns the path of a program; empty when it is not installed.
std::string pathOf(const std::string& program);

/// Runs a program to its end and drops its output. Throws Failed when its exit code is not accepted.
void runProcess(std::vector<std::string> words, const std::vector<int>& accepted = {0});

/// Returns the seconds until a program prints its first byte; does not wait for the rest.
double firstOutput(std::vector<std::string> words);

}  // namespace bough::bench
