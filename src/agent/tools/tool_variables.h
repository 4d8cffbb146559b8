// The environment of the programs that this process starts.
#pragma once

#include <deque>
#include <string>
#include <vector>

namespace bough::agent {

/// This process's variables without keys, and addresses without their passwords: other programs of the user can read
/// the environment that a program was started with.
class ToolVariables {
 public:
  ToolVariables();
  ToolVariables(const ToolVariables&) = delete;
  ToolVariables& operator=(const ToolVariables&) = delete;
  ~ToolVariables() = default;

  /// As execve takes them; they live as long as this.
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::deque<std::string> changed_;  // stay where they are
  std::vector<char*> pointers_;
};

}  // namespace bough::agent
