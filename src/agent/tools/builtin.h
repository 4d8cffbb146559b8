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

/// What a call of the system failed with, for a model. The hints of a store's own files are left out.
Error fileError(int number, std::string_view what, std::string_view path);

inline ToolOutcome failed(std::string text) {
  return {.text = std::move(text), .isError = true};
}
inline ToolOutcome failed(const Error& error) {
  return failed(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

/// Of a longer file no copy is kept before it is changed, so its change cannot be undone.
constexpr std::size_t kMostCopiedBytes = std::size_t{16} << 20;

/// Where a path leads that a model gave: `~` is the home folder, as for shells, unless the working folder holds
/// something of that name.
Result<Place> givenPlace(const std::string& given, const WorkingFolder& folder);

/// A number that a call may give; a model that writes another thing there is told so.
Result<std::uint64_t> numberArgument(const std::string& arguments, const char* name, std::uint64_t otherwise);

/// Valid UTF-8 of at most about `limitBytes`; binary data becomes a note. `allBytes` counts more than `bytes` when
/// these are an excerpt.
std::string asText(std::string_view bytes, std::size_t limitBytes, std::uint64_t allBytes = 0);

}  // namespace bough::agent
