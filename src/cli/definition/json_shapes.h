// The shapes of what commands print with --json: written down once, for `bough schema`, docs/json.md and the test that
// holds them against real output.
//
// A shape is written as in TypeScript: `{sessionId: text, title: text | null, entries: Entry[]}`. A `?` after a name
// says that the member may be left out. Names that begin with a capital letter are shapes of their own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

struct JsonShape {
  std::string_view name;  ///< Of a command, "bough" alone, "error", or of a part.
  std::string_view shape;
  std::string_view about;
};

/// One answer a line, for each command.
std::span<const JsonShape> commandShapes();
/// What several answers share.
std::span<const JsonShape> partShapes();

/// The JSON Schema (2020-12) of a command's answer; NotFound when the command has none.
Result<std::string> jsonSchema(std::string_view command);
/// docs/json.md.
std::string shapesAsMarkdown();

}  // namespace bough::cli
