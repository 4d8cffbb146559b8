// The shapes of the commands' --json output, written down once: for `bough schema`, for docs/json.md, and for the test
// that compares them with real output.
//
// A shape is written as in TypeScript: `{sessionId: text, title: text | null, entries: Entry[]}`. A `?` after a name
// marks a member that may be missing. Names that begin with a capital letter refer to other shapes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

struct JsonShape {
  std::string_view name;  ///< The name of a command, "bough" for no command, "error", or the name of a part.
  std::string_view shape;
  std::string_view about;
};

/// Returns one shape for each command; each describes one line of output.
std::span<const JsonShape> commandShapes();
/// Returns the shapes that several answers share.
std::span<const JsonShape> partShapes();

/// Returns the JSON Schema (2020-12) of a command's answer. Fails with NotFound when the command has no shape.
Result<std::string> jsonSchema(std::string_view command);
/// Returns the text of docs/json.md.
std::string shapesAsMarkdown();

}  // namespace bough::cli
