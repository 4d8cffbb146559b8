#include "message/request/request_text.h"

#include <algorithm>

#include "message/model/request_names.h"

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

std::optional<DocumentParts> splitDocument(const Tree& tree, Dialect dialect) {
  DocumentParts parts;
  parts.requestText.dialect = dialect;
  if (tree.empty()) return std::nullopt;
  std::size_t first = 0;
  std::size_t last = 0;
  if (tree.isArray(0)) {
    takeElements(tree, 0, parts, first, last);
    parts.requestText.bare = true;
    parts.restOffset = last;
    parts.requestText.parts.push_back({.text = {},
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
    RequestText::Part part{.text = slice(tree, done, keyBegin),
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
        part.endText = slice(tree, last, done);
        parts.restOffset = last;
      } else if (tree.isString(slot.value) && dialect == Dialect::OpenaiResponses) {
        parts.requestText.stringInput = true;
        parts.elements.push_back(slot.value);
        parts.separators.emplace_back();
      } else {
        return std::nullopt;
      }
      found = true;
    } else if (isEmptyValue(tree, slot.value)) {
      part.emptyText = std::string(tree.raw(slot.value));
    } else if (slot.section == Section::System) {
      parts.system = slot.value;
    } else {
      parts.tools = slot.value;
      parts.requestText.toolsText = std::string(tree.raw(slot.value));
    }
    part.keyText = slice(tree, keyBegin, valueBegin);
    parts.requestText.parts.push_back(std::move(part));
  }
  if (!found) return std::nullopt;
  parts.requestText.parts.push_back({.text = slice(tree, done, tree.text().size()),
                                     .hasSlot = false,
                                     .slot = Section::Messages,
                                     .keyText = {},
                                     .emptyText = {},
                                     .endText = {}});
  return parts;
}

RequestText defaultRequest(Dialect dialect, bool bare) {
  RequestText requestText;
  requestText.dialect = dialect;
  requestText.bare = bare;
  const RequestNames names = requestNames(dialect);
  auto slot = [&](std::string text, Section section, std::string keyText, std::string endText) {
    requestText.parts.push_back({.text = std::move(text),
                                 .hasSlot = true,
                                 .slot = section,
                                 .keyText = std::move(keyText),
                                 .emptyText = {},
                                 .endText = std::move(endText)});
  };
  if (bare) {
    slot("", Section::Messages, "[", "]");
    return requestText;
  }
  auto key = [](std::string_view name) { return "\"" + std::string(name) + "\":"; };
  std::string before = "{";
  if (!names.system.empty()) {
    slot(before, Section::System, key(names.system), "");
    before = ",";
  }
  slot(before, Section::Tools, key(names.tools), "");
  slot(",", Section::Messages, key(names.messages) + "[", "]");
  requestText.parts.push_back(
      {.text = "}", .hasSlot = false, .slot = Section::Messages, .keyText = {}, .emptyText = {}, .endText = {}});
  return requestText;
}

FilledText fillRequest(const RequestText& requestText, const SectionTexts& texts) {
  const RequestNames names = requestNames(requestText.dialect);
  bool systemPlaced = false;
  bool toolsPlaced = false;
  for (const RequestText::Part& part : requestText.parts) {
    systemPlaced |= part.hasSlot && part.slot == Section::System;
    toolsPlaced |= part.hasSlot && part.slot == Section::Tools;
  }
  // Sections without a place in the request text go before everything else.
  std::string inserted;
  if (texts.hasSystem && !systemPlaced) inserted += "\"" + std::string(names.system) + "\":" + texts.system + ",";
  if (texts.hasTools && !toolsPlaced) inserted += "\"" + std::string(names.tools) + "\":" + texts.tools + ",";
  FilledText filled;
  std::string out;
  if (requestText.bare && !inserted.empty()) {
    out += "{" + inserted + "\"" + std::string(names.messages) + "\":";
    inserted.clear();
  }
  const bool wrapped = !out.empty();
  bool dropComma = false;
  for (const RequestText::Part& part : requestText.parts) {
    std::string_view text = part.text;
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
    if (!part.hasSlot) continue;
    if (part.slot == Section::Messages) {
      out += part.keyText;
      filled.before = std::move(out);
      out = part.endText;
      continue;
    }
    const bool has = part.slot == Section::System ? texts.hasSystem : texts.hasTools;
    if (!has && part.emptyText.empty()) {
      dropComma = true;
      continue;
    }
    out += part.keyText;
    out += !has ? part.emptyText : part.slot == Section::System ? texts.system : texts.tools;
    out += part.endText;
  }
  if (wrapped) out += '}';
  filled.after = std::move(out);
  return filled;
}

}  // namespace bough::message
