// A working folder with tools for it, and a folder outside of it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "agent/tools/builtin.h"
#include "support/temp_folder.h"

namespace bough::agent {

/// An environment variable that is set during the lifetime of this object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class ToolsTest : public ::testing::Test {
 protected:
  ToolsTest() {
    std::filesystem::create_directories(folder_ / "work/sub");
    std::filesystem::create_directories(folder_ / "outside");
    put("outside/secret.txt", "outside\n");
    environment_ = std::make_unique<ToolEnvironment>(ToolEnvironment{
        .folder = *WorkingFolder::open(folder_ / "work"), .limits = {}, .secrets = {}, .allowedCommands = {}});
  }

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  ToolOutcome run(const std::string& tool, const std::string& arguments) {
    return prepare(tool, arguments).run(cancel_);
  }
  std::optional<std::string> question(const std::string& tool, const std::string& arguments) {
    return prepare(tool, arguments).question;
  }
  PreparedCall prepare(const std::string& tool, const std::string& arguments) {
    return prepareCall(builtInTools(), {.id = "c", .name = tool, .arguments = arguments}, *environment_);
  }

  TempFolder folder_;
  std::unique_ptr<ToolEnvironment> environment_;
  CancelToken cancel_;
};

}  // namespace bough::agent
