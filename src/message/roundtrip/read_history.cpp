#include "message/roundtrip/read_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/utf8.h"
#include "message/dialect/read_original.h"
#include "message/dialect/tools.h"
#include "message/json/content_hash.h"
#include "message/model/request_names.h"
#include "message/model/signatures.h"
#include "message/request/request_frame.h"
#include "message/roundtrip/restore.h"

namespace bough::message {
namespace {

// Processes the bytes of messages while they are indexed: checks that they are UTF-8 and, when they will be compared
// with what was written, hashes their content.
class DocumentBytes final : public json::Tree::Observer {
 public:
  explicit DocumentBytes(bool compared) : compared_(compared) {}

  void completed(const json::Tree& tree, json::Tree::Index node, std::size_t depth) override {
    // A message is in a list that is the document, or that is a member of it.
    if (depth != (tree.isArray(0) ? 1 : 2)) return;
    checkUpTo(tree, tree.end(node));
    if (compared_) hashes_.push_back({node, hasher_.hash(tree, node)});
  }

  /// Returns whether the whole text is UTF-8.
  bool areUtf8(const json::Tree& tree) {
    checkUpTo(tree, tree.text().size());
    return utf8_;
  }
  /// Returns the hash of the message at `node` if it was hashed. Call this in the order of the text.
  std::optional<std::uint64_t> contentHash(json::Tree::Index node) {
    while (next_ < hashes_.size() && hashes_[next_].node < node) ++next_;
    if (next_ == hashes_.size() || hashes_[next_].node != node) return std::nullopt;
    return hashes_[next_].hash;
  }

 private:
  // Every part except the last ends with a bracket, so no character is split.
  void checkUpTo(const json::Tree& tree, std::size_t end) {
    utf8_ = utf8_ && isUtf8(tree.text().substr(checked_, end - checked_));
    checked_ = end;
  }

  struct Known {
    json::Tree::Index node;
    std::uint64_t hash;
  };
  bool compared_;
  bool utf8_ = true;
  std::size_t checked_ = 0;
  ContentHasher hasher_;
  std::vector<Known> hashes_;
  std::size_t next_ = 0;
};

// Sets what precedes each signed block, because Anthropic binds signatures to it.
void setPrefixes(const DocumentParts& parts, const json::Tree& tree, std::vector<Original>& originals) {
  if (std::ranges::none_of(originals, isSigned)) return;
  ContentHasher hasher;
  Prefix prefix;
  if (parts.system != json::Tree::kNone) prefix.system = hasher.hash(tree, parts.system);
  if (parts.tools != json::Tree::kNone) prefix.tools = hasher.hash(tree, parts.tools);
  for (Original& original : originals) {
    if (original.section != Section::Messages) continue;
    original.signedBlocks = isSigned(original);
    original.prefix = prefix;
    prefix.messages = content_hash::element(prefix.messages, hasher.hash(tree, original.node));
  }
}

void addOriginal(History& history, Dialect dialect, Section section, const json::Tree& tree, json::Tree::Index node,
                 std::int64_t place, std::string_view separator) {
  Original& original = history.originals.emplace_back();
  original.dialect = dialect;
  original.section = section;
  original.isRequestMember = section == Section::System;
  original.tree = &tree;
  original.node = node;
  original.raw = tree.raw(node);
  original.documentPlace = place;
  original.separator = separator;
}

void addDocument(const DocumentParts& parts, Dialect from, const json::Tree& tree, DocumentBytes& bytes,
                 History& history) {
  const bool utf8 = bytes.areUtf8(tree);
  history.originals.reserve(parts.elements.size() + 64);
  if (parts.system != json::Tree::kNone) addOriginal(history, from, Section::System, tree, parts.system, 0, {});
  if (parts.tools != json::Tree::kNone) readTools(from, tree, parts.tools, history);
  for (std::size_t i = 0; i < parts.elements.size(); ++i) {
    addOriginal(history, from, Section::Messages, tree, parts.elements[i], static_cast<std::int64_t>(i),
                parts.separators[i]);
    history.originals.back().contentHash = bytes.contentHash(parts.elements[i]);
  }
  if (parts.requestFrame.stringInput) history.originals.back().isRequestMember = true;
  for (Original& original : history.originals) {
    if (!utf8 && !isUtf8(original.raw)) original.problem = "the text is not UTF-8";
    if (original.section != Section::Tools && original.problem.empty()) readOriginal(original, history);
  }
}

}  // namespace

Result<void> readHistory(std::string_view document, Dialect from, const ConvertOptions& options, const WayBack* wayBack,
                         History& history, Reporter& reporter) {
  const bool marked = document.starts_with(kByteOrderMark);
  json::Tree& tree = history.trees.emplace_back();
  DocumentBytes bytes(wayBack != nullptr);
  const auto broken =
      tree.parse(marked ? document.substr(kByteOrderMark.size()) : document, json::Tree::kMaxTextBytes, &bytes);
  auto parts = splitDocument(tree, from);
  if (!parts) {
    const std::string why = broken ? fmt::format("offset {}: {}", broken->offset, broken->reason)
                                   : fmt::format("there is no list `{}`", requestNames(from).messages);
    return fail(ErrorCode::InvalidArgument, fmt::format("no history of {}: {}", toString(from), why),
                "check the dialect and the file");
  }
  if (marked) {
    RequestFrame::Part& first = parts->requestFrame.parts.front();
    (parts->requestFrame.bare ? first.keyText : first.text).insert(0, kByteOrderMark);
  }
  if (broken) {
    if (options.strict) {
      return fail(ErrorCode::InvalidArgument, fmt::format("offset {}: {}", broken->offset, broken->reason));
    }
    const std::string reason =
        fmt::format("offset {}: {}; {} bytes after offset {} were not converted and are kept", broken->offset,
                    broken->reason, tree.text().size() - parts->restOffset, parts->restOffset);
    reporter.report().compatible = false;
    reporter.warn(reason);
    reporter.note(Change::Invalid, fmt::format("{}[{}]", requestNames(from).messages, parts->elements.size()),
                  "message", reason);
  }
  addDocument(*parts, from, tree, bytes, history);
  parts->requestFrame.toolCount = static_cast<std::uint64_t>(
      std::ranges::count(history.originals, Section::Tools, [](const Original& original) { return original.section; }));
  if (from == Dialect::Anthropic) setPrefixes(*parts, tree, history.originals);
  reporter.report().messages = parts->elements.size();
  if (options.strict) {
    for (const Original& original : history.originals) {
      std::string_view problem = original.problem;
      for (const Block& block : original.message.blocks) problem = problem.empty() ? block.problem : problem;
      if (problem.empty()) continue;
      return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", pathOf(original), problem));
    }
  }
  if (wayBack != nullptr) {
    auto data = readWayBack(*wayBack, history);
    if (data && data->document != from) {
      data = fail(ErrorCode::Damaged, fmt::format("the origin belongs to a document of {}", toString(data->document)));
    }
    if (!data) {
      if (options.strict) return std::unexpected(data.error());
      reporter.warn(data.error().message + "; converted without it");
    } else {
      std::vector<Original> originals = std::move(history.originals);
      history.originals.clear();
      restoreOriginals(*data, std::move(originals), history, reporter);
      parts->requestFrame.written = std::move(data->written);
      for (RequestFrame& requestFrame : data->requestFrames) {
        if (requestFrame.dialect != from) history.requestFrames.push_back(std::move(requestFrame));
      }
    }
  }
  history.requestFrames.push_back(std::move(parts->requestFrame));
  return {};
}

}  // namespace bough::message
