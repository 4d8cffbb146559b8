// The environment of programs that this process starts.
#pragma once

#include <deque>
#include <string>
#include <vector>

namespace bough::agent {

/// This process's variables without keys, and with addresses without passwords: other programs of the user can read the
/// environment with which a program was started.
class ToolVariables {
 public:
  ToolVariables();
  ToolVariables(const ToolVariables&) = delete;
  ToolVariables& operator=(const ToolVariables&) = delete;
  ~ToolVariables() = default;

  /// Returns the variables as execve takes them. They live as long as this object.
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::deque<std::string> changed_;  // a deque, so that the strings keep their addresses
  std::vector<char*> pointers_;
};

}  // namespace bough::agent
