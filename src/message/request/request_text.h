// Takes a document apart into the request text of its request and its sections, and puts one together again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/json/json_tree.h"
#include "message/model/history.h"

namespace bough::message {

struct DocumentParts {
  RequestText requestText;
  json::Tree::Index system = json::Tree::kNone;
  json::Tree::Index tools = json::Tree::kNone;
  std::vector<json::Tree::Index> elements;
  std::vector<std::string_view> separators;  ///< Before each element; the first has none.
  std::size_t restOffset = 0;                ///< With a broken tree: where what could not be read begins.
};

/// None when the document holds no list of messages.
std::optional<DocumentParts> splitDocument(const json::Tree& tree, Dialect dialect);

/// What a document is filled with. A section without text is left out, or gets the request text's empty text.
struct SectionTexts {
  std::string system;
  std::string tools;
  bool hasSystem = false;
  bool hasTools = false;
};

/// A request text for a document that never had one.
RequestText defaultRequest(Dialect dialect, bool bare);

/// The document's text before the first message and after the last.
struct FilledText {
  std::string before;
  std::string after;
};
FilledText fillRequest(const RequestText& requestText, const SectionTexts& texts);

}  // namespace bough::message
