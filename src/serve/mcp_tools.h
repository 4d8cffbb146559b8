// The tools that a model may call. Each is one row of a table: its name, its description and its function. Every result
// has a limited size, and tells how to continue where it was cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/error.h"
#include "bough/store.h"
#include "serve/tool_arguments.h"

namespace bough::serve {

struct ToolContext {
  SessionStore& store;
  Catalog& catalog;
  std::vector<std::string>& used;  ///< The sessions that a result refers to.
};

struct McpTool {
  std::string_view name;
  std::string_view description;
  std::string_view properties;  ///< JSON: the members of the input schema's `properties`.
  std::string_view required;    ///< JSON: the elements of its `required`.
  bool writes = false;
  Result<std::string> (*run)(ToolContext context, const ToolArguments& arguments);
};

/// Returns null when there is no such tool, or when it writes and `write` is false.
const McpTool* findTool(std::string_view name, bool write);
/// Runs a tool. InvalidArgument when `arguments` is not an object.
Result<std::string> runTool(const McpTool& tool, SessionStore& store, Catalog& catalog, std::string_view arguments);
/// Returns the result of tools/list.
std::string listTools(bool write);

}  // namespace bough::serve
