// The roles of child processes.
#pragma once

#include <string>
#include <vector>

namespace bough {

/// The number of sessions that a storm uses: s0, s1 and so on.
inline constexpr unsigned kStormSessions = 6;

/// `role store session name seed`. Returns the exit code.
int runRole(const std::vector<std::string>& arguments);

}  // namespace bough
