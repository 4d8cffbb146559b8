#include "message/document.h"

#include <algorithm>

namespace bough::message {
namespace {

using json::Tree;

struct Slot {
  Section section;
  Tree::Index key;
  Tree::Index value;
};

bool isEmptyValue(const Tree& tree, Tree::Index value) {
  return tree.kind(value) == json::Kind::Null || (tree.isArray(value) && tree.next(value) == value + 1);
}

void takeElements(const Tree& tree, Tree::Index list, DocumentParts& parts, std::size_t& first, std::size_t& last) {
  first = last = tree.begin(list) + 1;
  for (const Tree::Index element : tree.elements(list)) {
    if (tree.broken(element)) break;
    if (parts.elements.empty()) {
      first = tree.begin(element);
      parts.separators.emplace_back();
    } else {
      parts.separators.push_back(tree.text().substr(last, tree.begin(element) - last));
    }
    parts.elements.push_back(element);
    last = tree.end(element);
  }
}

std::string slice(const Tree& tree, std::size_t begin, std::size_t end) {
  return std::string(tree.text().substr(begin, end - begin));
}

std::vector<Slot> findSlots(const Tree& tree, const RequestNames& names) {
  std::vector<Slot> slots;
  auto add = [&](Section section, Tree::Index key) {
    std::erase_if(slots, [&](const Slot& slot) { return slot.section == section; });
    slots.push_back({section, key, key + 1});
  };
  for (const auto [key, value] : tree.members(0)) {
    const std::string_view name = tree.body(key);
    if (name == names.messages && !tree.isObject(value)) add(Section::Messages, key);
    if (!names.system.empty() && (name == names.system || (name == "system_instruction" && names.system[0] == 's' &&
                                                           names.messages == "contents"))) {
      if (!tree.broken(value)) add(Section::System, key);
    }
    if (name == names.tools && (tree.isArray(value) || isEmptyValue(tree, value)) && !tree.broken(value)) {
      add(Section::Tools, key);
    }
  }
  return slots;
}

bool endsWithComma(std::string_view text, std::size_t& at) {
  at = text.find_last_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == ',';
}

}  // namespace

RequestNames requestNames(Dialect dialect) {
  switch (dialect) {
    case Dialect::Anthropic: return {"messages", "system", "tools"};
    case Dialect::OpenaiChat: return {"messages", "", "tools"};
    case Dialect::OpenaiResponses: return {"input", "instructions", "tools"};
    case Dialect::Gemini: return {"contents", "systemInstruction", "tools"};
    case Dialect::Plain:
    case Dialect::Bough: break;
  }
  return {"messages", "system", "tools"};
}

std::optional<DocumentParts> splitDocument(const Tree& tree, Dialect dialect) {
  DocumentParts parts;
  parts.frame.dialect = dialect;
  if (tree.empty()) return std::nullopt;
  std::size_t first = 0;
  std::size_t last = 0;
  if (tree.isArray(0)) {
    takeElements(tree, 0, parts, first, last);
    parts.frame.bare = true;
    parts.restOffset = last;
    parts.frame.pieces.push_back({.text = {},
                                  .hasSlot = true,
                                  .slot = Section::Messages,
                                  .keyText = slice(tree, 0, first),
                                  .emptyText = {},
                                  .endText = slice(tree, last, tree.text().size())});
    return parts;
  }
  std::vector<Slot> slots = findSlots(tree, requestNames(dialect));
  std::ranges::sort(slots, {}, &Slot::key);
  std::size_t done = 0;
  bool found = false;
  for (const Slot& slot : slots) {
    const std::size_t keyBegin = tree.begin(slot.key);
    Frame::Piece piece{.text = slice(tree, done, keyBegin),
                       .hasSlot = true,
                       .slot = slot.section,
                       .keyText = {},
                       .emptyText = {},
                       .endText = {}};
    std::size_t valueBegin = tree.begin(slot.value);
    done = tree.end(slot.value);
    if (slot.section == Section::Messages) {
      if (tree.isArray(slot.value)) {
        takeElements(tree, slot.value, parts, first, last);
        valueBegin = first;
        piece.endText = slice(tree, last, done);
        parts.restOffset = last;
      } else if (tree.isString(slot.value) && dialect == Dialect::OpenaiResponses) {
        parts.frame.stringInput = true;
        parts.elements.push_back(slot.value);
        parts.separators.emplace_back();
      } else {
        return std::nullopt;
      }
      found = true;
    } else if (isEmptyValue(tree, slot.value)) {
      piece.emptyText = std::string(tree.raw(slot.value));
    } else if (slot.section == Section::System) {
      parts.system = slot.value;
    } else {
      parts.tools = slot.value;
      parts.frame.toolsText = std::string(tree.raw(slot.value));
    }
    piece.keyText = slice(tree, keyBegin, valueBegin);
    parts.frame.pieces.push_back(std::move(piece));
  }
  if (!found) return std::nullopt;
  parts.frame.pieces.push_back({.text = slice(tree, done, tree.text().size()),
                                .hasSlot = false,
                                .slot = Section::Messages,
                                .keyText = {},
                                .emptyText = {},
                                .endText = {}});
  return parts;
}

Frame defaultFrame(Dialect dialect, bool bare) {
  Frame frame;
  frame.dialect = dialect;
  frame.bare = bare;
  const RequestNames names = requestNames(dialect);
  auto slot = [&](std::string text, Section section, std::string keyText, std::string endText) {
    frame.pieces.push_back({.text = std::move(text),
                            .hasSlot = true,
                            .slot = section,
                            .keyText = std::move(keyText),
                            .emptyText = {},
                            .endText = std::move(endText)});
  };
  if (bare) {
    slot("", Section::Messages, "[", "]");
    return frame;
  }
  auto key = [](std::string_view name) { return "\"" + std::string(name) + "\":"; };
  std::string before = "{";
  if (!names.system.empty()) {
    slot(before, Section::System, key(names.system), "");
    before = ",";
  }
  slot(before, Section::Tools, key(names.tools), "");
  slot(",", Section::Messages, key(names.messages) + "[", "]");
  frame.pieces.push_back(
      {.text = "}", .hasSlot = false, .slot = Section::Messages, .keyText = {}, .emptyText = {}, .endText = {}});
  return frame;
}

FrameText fillFrame(const Frame& frame, const SectionTexts& texts) {
  const RequestNames names = requestNames(frame.dialect);
  bool systemPlaced = false;
  bool toolsPlaced = false;
  for (const Frame::Piece& piece : frame.pieces) {
    systemPlaced |= piece.hasSlot && piece.slot == Section::System;
    toolsPlaced |= piece.hasSlot && piece.slot == Section::Tools;
  }
  // Sections the frame has no place for go before everything else.
  std::string inserted;
  if (texts.hasSystem && !systemPlaced) inserted += "\"" + std::string(names.system) + "\":" + texts.system + ",";
  if (texts.hasTools && !toolsPlaced) inserted += "\"" + std::string(names.tools) + "\":" + texts.tools + ",";
  FrameText filled;
  std::string out;
  if (frame.bare && !inserted.empty()) {
    out += "{" + inserted + "\"" + std::string(names.messages) + "\":";
    inserted.clear();
  }
  const bool wrapped = !out.empty();
  bool dropComma = false;
  for (const Frame::Piece& piece : frame.pieces) {
    std::string_view text = piece.text;
    if (!inserted.empty()) {
      const std::size_t brace = text.find('{');
      out += text.substr(0, brace + 1);
      out += inserted;
      text.remove_prefix(brace + 1);
      inserted.clear();
    }
    if (dropComma) {
      const std::size_t at = text.find_first_not_of(" \t\r\n");
      if (at != std::string_view::npos && text[at] == ',') {
        text.remove_prefix(at + 1);
      } else if (std::size_t comma = 0; endsWithComma(out, comma)) {
        out.resize(comma);
      }
      dropComma = false;
    }
    out += text;
    if (!piece.hasSlot) continue;
    if (piece.slot == Section::Messages) {
      out += piece.keyText;
      filled.before = std::move(out);
      out = piece.endText;
      continue;
    }
    const bool has = piece.slot == Section::System ? texts.hasSystem : texts.hasTools;
    if (!has && piece.emptyText.empty()) {
      dropComma = true;
      continue;
    }
    out += piece.keyText;
    out += !has ? piece.emptyText : piece.slot == Section::System ? texts.system : texts.tools;
    out += piece.endText;
  }
  if (wrapped) out += '}';
  filled.after = std::move(out);
  return filled;
}

}  // namespace bough::message
