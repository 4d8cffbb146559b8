// Schemas of tools and answers. Gemini has a form of its own: types in capitals, `nullable`, counts as strings;
// everybody else takes JSON Schema.
#pragma once

#include <string>
#include <string_view>

#include "message/json/json_tree.h"

namespace bough::message {

struct JsonSchema {
  std::string text;
  bool orderLost = false;  ///< It had a `propertyOrdering`, which JSON Schema does not have.
};

/// A schema in Gemini's form as JSON Schema. What is JSON Schema already stays.
JsonSchema jsonSchemaOf(const json::Tree& tree, json::Tree::Index schema);

/// The schema with `"type":"object"`, which every API demands of a tool's parameters; as it is when it says so already.
std::string asObjectSchema(std::string_view schema);

}  // namespace bough::message
