// The built-in tools, and what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "bough/agent/tools.h"
#include "bough/agent/working_folder.h"

namespace bough::agent {

// In file_tools.cpp.
Tool readTool();
Tool writeTool();
Tool editTool();
Tool lsTool();
// In program_tools.cpp.
Tool grepTool();
Tool bashTool();

/// Describes a failed system call to a model. Leaves out hints that apply only to a store's own files.
Error fileError(int number, std::string_view what, std::string_view path);

inline ToolOutcome failed(std::string text) {
  return {.text = std::move(text), .isError = true};
}
inline ToolOutcome failed(const Error& error) {
  return failed(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

/// A larger file is changed without a copy, so the change cannot be undone.
constexpr std::size_t kMostCopiedBytes = std::size_t{16} << 20;

/// Resolves a path that a model gave. `~` is the home folder, as in shells, unless the working folder holds a file of
/// that name.
Result<Place> givenPlace(const std::string& given, const WorkingFolder& folder);

/// Returns a number that a call may give, or `otherwise`. Fails with a message for the model when the value is not a
/// number.
Result<std::uint64_t> numberArgument(const std::string& arguments, const char* name, std::uint64_t otherwise);

/// Returns valid UTF-8 of at most about `limitBytes`; binary data becomes a note. `allBytes` is the full size when
/// `bytes` is an excerpt.
std::string asText(std::string_view bytes, std::size_t limitBytes, std::uint64_t allBytes = 0);

}  // namespace bough::agent
