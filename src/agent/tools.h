// The tools a model may use: read, write, edit, ls, grep, bash.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/cancel.h"
#include "agent/process.h"
#include "agent/secrets.h"
#include "agent/working_folder.h"

namespace bough::agent {

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  ///< Should be a JSON object; it comes from a model.
};

struct ToolOutcome {
  std::string text;  ///< Valid UTF-8, of limited length.
  bool isError = false;
};

struct ToolLimits {
  std::size_t outputBytes = std::size_t{48} << 10;
  std::size_t fileBytes = std::size_t{16} << 20;  ///< Larger files are not edited.
  int defaultTimeoutMs = 120'000;
  int longestTimeoutMs = 600'000;
};

/// What stands around a tool while it runs.
struct ToolEnvironment {
  WorkingFolder folder;
  ToolLimits limits;
  Secrets secrets;                           ///< Never in a result.
  std::vector<std::string> allowedCommands;  ///< Run without asking, with any arguments but no shell syntax.
};

/// A call whose arguments were read once: what is asked about is what will be done.
struct PreparedCall {
  /// What the user has to be asked before it runs; none when nothing. The text names what would happen.
  std::optional<std::string> question{};
  /// Does it, at most once.
  std::function<ToolOutcome(const CancelToken&)> run;
};

/// One tool. Calls may come from several threads at once.
struct Tool {
  std::string name;
  std::string description;
  std::string parameters;     ///< A JSON schema.
  bool safeToRepeat = false;  ///< Running it a second time does no harm: recovery does so without asking.
  /// Reads the arguments and finds the files they name; changes nothing. The environment outlives the prepared call.
  std::function<PreparedCall(const std::string& arguments, const ToolEnvironment&)> prepare;
};

const std::vector<Tool>& builtInTools();

/// None when there is no such tool.
const Tool* findTool(const std::vector<Tool>& tools, const std::string& name);

/// Prepares a call. Its result is fit to be stored: no keys, valid UTF-8, of limited length. An unknown tool and
/// arguments that are not an object give a result too: the model is told.
PreparedCall prepareCall(const std::vector<Tool>& tools, const ToolCall& call, const ToolEnvironment& environment);

/// A call that does nothing but give this result.
PreparedCall failedCall(std::string text);
PreparedCall failedCall(const Error& error);

/// Whether a shell command is one of those that need no question.
bool isAllowedCommand(const std::string& command, const std::vector<std::string>& allowed);

/// Valid UTF-8 of at most about `limitBytes`; binary data becomes a note.
std::string asText(std::string_view bytes, std::size_t limitBytes);

// Each in the file of its name.
Tool readTool();
Tool writeTool();
Tool editTool();
Tool lsTool();
Tool grepTool();
Tool bashTool();

}  // namespace bough::agent
