// The roles of child processes.
#pragma once

#include <string>
#include <vector>

namespace bough {

/// `role store session name seed`. Returns the exit code.
int runRole(const std::vector<std::string>& arguments);

}  // namespace bough
