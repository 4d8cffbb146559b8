// Takes a document apart into the frame of its request and its sections, and puts one together again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/history.h"
#include "message/json_tree.h"

namespace bough::message {

/// The names a dialect's request uses. An empty one: there is no such member.
struct RequestNames {
  std::string_view messages;
  std::string_view system;
  std::string_view tools;
};
RequestNames requestNames(Dialect dialect);

struct DocumentParts {
  Frame frame;
  json::Tree::Index system = json::Tree::kNone;
  json::Tree::Index tools = json::Tree::kNone;
  std::vector<json::Tree::Index> elements;
  std::vector<std::string_view> separators;  ///< Before each element; the first has none.
  std::size_t restOffset = 0;                ///< With a broken tree: where what could not be read begins.
};

/// None when the document holds no list of messages.
std::optional<DocumentParts> splitDocument(const json::Tree& tree, Dialect dialect);

/// What a document is filled with. A section without text is left out, or gets the frame's empty text.
struct SectionTexts {
  std::string system;
  std::string tools;
  bool hasSystem = false;
  bool hasTools = false;
};

/// A frame for a document that never had one.
Frame defaultFrame(Dialect dialect, bool bare);

/// The document's text before the first message and behind the last.
struct FrameText {
  std::string before;
  std::string after;
};
FrameText fillFrame(const Frame& frame, const SectionTexts& texts);

}  // namespace bough::message
