#include "message/request/request_frame.h"

#include <algorithm>

#include "message/model/request_names.h"

namespace bough::message {
namespace {

using json::Tree;

struct FramedSection {
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

std::vector<FramedSection> framedSectionsOf(const Tree& tree, const RequestNames& names) {
  std::vector<FramedSection> framedSections;
  auto add = [&](Section section, Tree::Index key) {
    std::erase_if(framedSections, [&](const FramedSection& each) { return each.section == section; });
    framedSections.push_back({section, key, key + 1});
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
  return framedSections;
}

bool endsWithComma(std::string_view text, std::size_t& at) {
  at = text.find_last_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == ',';
}

}  // namespace

std::optional<DocumentParts> splitDocument(const Tree& tree, Dialect dialect) {
  DocumentParts parts;
  parts.requestFrame.dialect = dialect;
  if (tree.empty()) return std::nullopt;
  std::size_t first = 0;
  std::size_t last = 0;
  if (tree.isArray(0)) {
    takeElements(tree, 0, parts, first, last);
    parts.requestFrame.bare = true;
    parts.restOffset = last;
    parts.requestFrame.parts.push_back({.text = {},
                                        .hasSection = true,
                                        .section = Section::Messages,
                                        .keyText = slice(tree, 0, first),
                                        .emptyText = {},
                                        .endText = slice(tree, last, tree.text().size())});
    return parts;
  }
  std::vector<FramedSection> framedSections = framedSectionsOf(tree, requestNames(dialect));
  std::ranges::sort(framedSections, {}, &FramedSection::key);
  std::size_t done = 0;
  bool found = false;
  for (const FramedSection& framed : framedSections) {
    const std::size_t keyBegin = tree.begin(framed.key);
    RequestFrame::Part part{.text = slice(tree, done, keyBegin),
                            .hasSection = true,
                            .section = framed.section,
                            .keyText = {},
                            .emptyText = {},
                            .endText = {}};
    std::size_t valueBegin = tree.begin(framed.value);
    done = tree.end(framed.value);
    if (framed.section == Section::Messages) {
      if (tree.isArray(framed.value)) {
        takeElements(tree, framed.value, parts, first, last);
        valueBegin = first;
        part.endText = slice(tree, last, done);
        parts.restOffset = last;
      } else if (tree.isString(framed.value) && dialect == Dialect::OpenaiResponses) {
        parts.requestFrame.stringInput = true;
        parts.elements.push_back(framed.value);
        parts.separators.emplace_back();
      } else {
        return std::nullopt;
      }
      found = true;
    } else if (isEmptyValue(tree, framed.value)) {
      part.emptyText = std::string(tree.raw(framed.value));
    } else if (framed.section == Section::System) {
      parts.system = framed.value;
    } else {
      parts.tools = framed.value;
      parts.requestFrame.toolsText = std::string(tree.raw(framed.value));
    }
    part.keyText = slice(tree, keyBegin, valueBegin);
    parts.requestFrame.parts.push_back(std::move(part));
  }
  if (!found) return std::nullopt;
  parts.requestFrame.parts.push_back({.text = slice(tree, done, tree.text().size()),
                                      .hasSection = false,
                                      .section = Section::Messages,
                                      .keyText = {},
                                      .emptyText = {},
                                      .endText = {}});
  return parts;
}

RequestFrame defaultRequest(Dialect dialect, bool bare) {
  RequestFrame requestFrame;
  requestFrame.dialect = dialect;
  requestFrame.bare = bare;
  const RequestNames names = requestNames(dialect);
  auto addPart = [&](std::string text, Section section, std::string keyText, std::string endText) {
    requestFrame.parts.push_back({.text = std::move(text),
                                  .hasSection = true,
                                  .section = section,
                                  .keyText = std::move(keyText),
                                  .emptyText = {},
                                  .endText = std::move(endText)});
  };
  if (bare) {
    addPart("", Section::Messages, "[", "]");
    return requestFrame;
  }
  auto key = [](std::string_view name) { return "\"" + std::string(name) + "\":"; };
  std::string before = "{";
  if (!names.system.empty()) {
    addPart(before, Section::System, key(names.system), "");
    before = ",";
  }
  addPart(before, Section::Tools, key(names.tools), "");
  addPart(",", Section::Messages, key(names.messages) + "[", "]");
  requestFrame.parts.push_back(
      {.text = "}", .hasSection = false, .section = Section::Messages, .keyText = {}, .emptyText = {}, .endText = {}});
  return requestFrame;
}

FilledText fillRequest(const RequestFrame& requestFrame, const SectionTexts& texts) {
  const RequestNames names = requestNames(requestFrame.dialect);
  bool systemPlaced = false;
  bool toolsPlaced = false;
  for (const RequestFrame::Part& part : requestFrame.parts) {
    systemPlaced |= part.hasSection && part.section == Section::System;
    toolsPlaced |= part.hasSection && part.section == Section::Tools;
  }
  // Sections without a place in the frame go before everything else.
  std::string inserted;
  if (texts.hasSystem && !systemPlaced) inserted += "\"" + std::string(names.system) + "\":" + texts.system + ",";
  if (texts.hasTools && !toolsPlaced) inserted += "\"" + std::string(names.tools) + "\":" + texts.tools + ",";
  FilledText filled;
  std::string out;
  if (requestFrame.bare && !inserted.empty()) {
    out += "{" + inserted + "\"" + std::string(names.messages) + "\":";
    inserted.clear();
  }
  const bool wrapped = !out.empty();
  bool dropComma = false;
  for (const RequestFrame::Part& part : requestFrame.parts) {
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
    if (!part.hasSection) continue;
    if (part.section == Section::Messages) {
      out += part.keyText;
      filled.before = std::move(out);
      out = part.endText;
      continue;
    }
    const bool has = part.section == Section::System ? texts.hasSystem : texts.hasTools;
    if (!has && part.emptyText.empty()) {
      dropComma = true;
      continue;
    }
    out += part.keyText;
    out += !has ? part.emptyText : part.section == Section::System ? texts.system : texts.tools;
    out += part.endText;
  }
  if (wrapped) out += '}';
  filled.after = std::move(out);
  return filled;
}

}  // namespace bough::message
