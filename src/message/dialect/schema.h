// Schemas of tools and answers. Gemini has its own form: types in capitals, `nullable`, counts as strings. All others
// accept JSON Schema.
#pragma once

#include <string>
#include <string_view>

#include "message/json/json_tree.h"

namespace bough::message {

struct JsonSchema {
  std::string text;
  bool orderLost = false;  ///< The schema had a `propertyOrdering`, which JSON Schema does not have.
};

/// Converts a schema from Gemini's form to JSON Schema. What is already JSON Schema stays.
JsonSchema jsonSchemaOf(const json::Tree& tree, json::Tree::Index schema);

/// Returns the schema with `"type":"object"`, which every API requires for a tool's parameters. Returns it unchanged
/// when it already has that type.
std::string asObjectSchema(std::string_view schema);

}  // namespace bough::message
