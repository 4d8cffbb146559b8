#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "message/content_hash.h"
#include "message/document.h"
#include "message/reader.h"
#include "message/restore.h"
#include "message/signatures.h"
#include "message/tools.h"

namespace bough::message {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

// What stands before each signed block, for Anthropic, who binds its signatures to it.
void setPrefixes(const DocumentParts& parts, const json::Tree& tree, std::vector<Native>& natives) {
  if (std::ranges::none_of(natives, isSigned)) return;
  ContentHasher hasher;
  Prefix prefix;
  if (parts.system != json::Tree::kNone) prefix.system = hasher.hash(tree, parts.system);
  if (parts.tools != json::Tree::kNone) prefix.tools = hasher.hash(tree, parts.tools);
  for (Native& native : natives) {
    if (native.section != Section::Messages) continue;
    native.signedBlocks = isSigned(native);
    native.prefix = prefix;
    prefix.messages = content_hash::element(prefix.messages, hasher.hash(tree, native.node));
  }
}

void addNative(History& history, Dialect dialect, Section section, const json::Tree& tree, json::Tree::Index node,
               std::int64_t place, std::string_view separator) {
  Native& native = history.natives.emplace_back();
  native.dialect = dialect;
  native.section = section;
  native.wholeSlot = section == Section::System;
  native.tree = &tree;
  native.node = node;
  native.raw = tree.raw(node);
  native.place = place;
  native.separator = separator;
}

void addDocument(const DocumentParts& parts, Dialect from, const json::Tree& tree, History& history) {
  const bool utf8 = isUtf8(tree.text());
  history.natives.reserve(parts.elements.size() + 64);
  if (parts.system != json::Tree::kNone) addNative(history, from, Section::System, tree, parts.system, 0, {});
  if (parts.tools != json::Tree::kNone) readTools(from, tree, parts.tools, history);
  for (std::size_t i = 0; i < parts.elements.size(); ++i) {
    addNative(history, from, Section::Messages, tree, parts.elements[i], static_cast<std::int64_t>(i),
              parts.separators[i]);
  }
  if (parts.frame.stringInput) history.natives.back().wholeSlot = true;
  for (Native& native : history.natives) {
    native.rawHash = hashBytes(native.raw);
    if (!utf8 && !isUtf8(native.raw)) native.problem = "the text is not UTF-8";
    if (native.section != Section::Tools && native.problem.empty()) readNative(native, history);
  }
}

}  // namespace

void readNative(Native& native, History& history) {
  if (!native.problem.empty() || native.tree == nullptr) return;
  if (native.section == Section::Tools) {
    readTool(native, history);
    return;
  }
  const json::Tree& tree = *native.tree;
  Problem problem;
  if (native.section == Section::System) {
    problem = readSystem(native.dialect, tree, native.node, native.message);
  } else if (native.wholeSlot) {
    // `input` as one string: a user message.
    Reader reader(tree, native.message);
    native.message.dialect = native.dialect;
    native.message.raw = native.raw;
    native.message.role = Role::User;
    problem = readAnthropicContent(reader, native.node);
  } else {
    problem = readMessage(native.dialect, tree, native.node, native.message);
  }
  if (!problem) return;
  native.problem = *problem;
  native.message.blocks.clear();
  native.message.role = Role::User;
}

Result<void> readHistory(std::string_view document, Dialect from, const ConvertOptions& options, const Origin* origin,
                         History& history, Reporter& reporter) {
  const bool marked = document.starts_with(kBom);
  json::Tree& tree = history.trees.emplace_back();
  const auto broken = tree.parse(marked ? document.substr(kBom.size()) : document);
  auto parts = splitDocument(tree, from);
  if (!parts) {
    const std::string why = broken ? fmt::format("offset {}: {}", broken->offset, broken->reason)
                                   : fmt::format("there is no list `{}`", requestNames(from).messages);
    return fail(ErrorCode::InvalidArgument, fmt::format("no history of {}: {}", toString(from), why),
                "check the dialect and the file");
  }
  if (marked) {
    Frame::Piece& first = parts->frame.pieces.front();
    (parts->frame.bare ? first.keyText : first.text).insert(0, kBom);
  }
  if (broken) {
    if (options.strict) {
      return fail(ErrorCode::InvalidArgument, fmt::format("offset {}: {}", broken->offset, broken->reason));
    }
    const std::string reason =
        fmt::format("offset {}: {}; {} bytes behind offset {} were not converted and are kept", broken->offset,
                    broken->reason, tree.text().size() - parts->restOffset, parts->restOffset);
    reporter.report().compatible = false;
    reporter.warn(reason);
    reporter.note(Change::Invalid, fmt::format("{}[{}]", requestNames(from).messages, parts->elements.size()),
                  "message", reason);
  }
  addDocument(*parts, from, tree, history);
  parts->frame.toolCount = static_cast<std::uint64_t>(
      std::ranges::count(history.natives, Section::Tools, [](const Native& native) { return native.section; }));
  if (from == Dialect::Anthropic) setPrefixes(*parts, tree, history.natives);
  reporter.report().messages = parts->elements.size();
  if (options.strict) {
    for (const Native& native : history.natives) {
      std::string_view problem = native.problem;
      for (const Block& block : native.message.blocks) problem = problem.empty() ? block.problem : problem;
      if (problem.empty()) continue;
      return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", pathOf(native), problem));
    }
  }
  if (origin != nullptr) {
    auto data = readOrigin(*origin, history);
    if (data && data->document != from) {
      data = fail(ErrorCode::Damaged, fmt::format("the origin belongs to a document of {}", toString(data->document)));
    }
    if (!data) {
      if (options.strict) return std::unexpected(data.error());
      reporter.warn(data.error().message + "; converted without it");
    } else {
      std::vector<Native> natives = std::move(history.natives);
      history.natives.clear();
      restoreNatives(*data, std::move(natives), history, reporter);
      for (Frame& frame : data->frames) {
        if (frame.dialect != from) history.frames.push_back(std::move(frame));
      }
    }
  }
  history.frames.push_back(std::move(parts->frame));
  return {};
}

}  // namespace bough::message
