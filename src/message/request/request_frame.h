// Splits a document into its sections and the text around them, and puts such a document together again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/json/json_tree.h"
#include "message/model/history.h"

namespace bough::message {

struct DocumentParts {
  RequestFrame requestFrame;
  json::Tree::Index system = json::Tree::kNone;
  json::Tree::Index tools = json::Tree::kNone;
  std::vector<json::Tree::Index> elements;
  std::vector<std::string_view> separators;  ///< Before each element; empty for the first.
  std::size_t restOffset = 0;                ///< When the tree is broken: where the unreadable part begins.
};

/// Returns std::nullopt when the document has no list of messages.
std::optional<DocumentParts> splitDocument(const json::Tree& tree, Dialect dialect);

/// The content for a document. A section without text is left out, or gets its empty text from the RequestFrame.
struct SectionTexts {
  std::string system;
  std::string tools;
  bool hasSystem = false;
  bool hasTools = false;
};

/// Returns a frame for a document that never had one.
RequestFrame defaultRequest(Dialect dialect, bool bare);

/// The document's text before the first message and after the last one.
struct FilledText {
  std::string before;
  std::string after;
};
FilledText fillRequest(const RequestFrame& requestFrame, const SectionTexts& texts);

}  // namespace bough::message
