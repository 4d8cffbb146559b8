#include "base/json/json_write.h"
#include "message/json/content_hash.h"
#include "message/roundtrip/way_back.h"

namespace bough::message {
namespace {

using json::Tree;

int hexDigit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Hashes the bytes of originals while they are indexed.
class OriginalBytes final : public Tree::Observer {
 public:
  void completed(const Tree& tree, Tree::Index node, std::size_t depth) override {
    // In {"natives":[{"value":…}]}. Any other value at this depth is hashed in vain, which does no harm.
    if (depth == 3 && tree.stringIs(node - 1, "value")) hashes_.push_back({node, hashBytes(tree.raw(node))});
  }

  /// Returns the hash of an original at `node`. Call this in the order of the text.
  std::uint64_t hash(const Tree& tree, Tree::Index node) {
    while (next_ < hashes_.size() && hashes_[next_].node < node) ++next_;
    const bool known = next_ < hashes_.size() && hashes_[next_].node == node;
    return known ? hashes_[next_].hash : hashBytes(tree.raw(node));
  }

 private:
  struct Known {
    Tree::Index node;
    std::uint64_t hash;
  };
  std::vector<Known> hashes_;
  std::size_t next_ = 0;
};

class WayBackReader {
 public:
  WayBackReader(const Tree& tree, OriginalBytes& originalBytes, History& history)
      : tree_(tree), originalBytes_(originalBytes), history_(history) {}

  std::optional<std::string_view> run(WayBackData& data) {
    const std::uint64_t version = number(tree_.find(0, "boughOrigin"));
    if (version == 0 || version > kWayBackVersion) return "it is of another version";
    blocksKnown_ = version >= 2;
    const auto document = dialect(tree_.find(0, "dialect"));
    if (!document) return "its dialect is unknown";
    data.document = *document;
    for (const Tree::Index each : tree_.elements(tree_.find(0, "frames"))) {
      if (!requestFrame(each, data.requestFrames.emplace_back())) return "a frame cannot be read";
    }
    const auto natives = tree_.elements(tree_.find(0, "natives"));
    std::size_t count = 0;
    for ([[maybe_unused]] const Tree::Index each : natives) ++count;
    data.originals.reserve(count);
    for (const Tree::Index each : natives) {
      if (!original(each, data.originals.emplace_back())) return "a native cannot be read";
    }
    for (const Tree::Index each : tree_.elements(tree_.find(0, "nodes"))) {
      if (!node(each, data)) return "a node cannot be read";
    }
    settings(tree_.find(0, "written"), data.written);
    aliases(tree_.find(0, "ids"), history_.ids);
    aliases(tree_.find(0, "names"), history_.names);
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::uint64_t number(Tree::Index node) const {
    if (node == Tree::kNone || tree_.kind(node) != json::Kind::Number) return 0;
    std::uint64_t value = 0;
    for (const char c : tree_.raw(node)) {
      if (c < '0' || c > '9') return 0;
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
  }

  [[nodiscard]] std::optional<Dialect> dialect(Tree::Index node) const {
    if (!tree_.isString(node)) return std::nullopt;
    const auto parsed = parseDialect(tree_.body(node));
    return parsed ? std::optional(*parsed) : std::nullopt;
  }

  [[nodiscard]] std::optional<Section> section(Tree::Index node) const {
    if (!tree_.isString(node) || tree_.body(node).empty()) return std::nullopt;
    switch (tree_.body(node).front()) {
      case 's': return Section::System;
      case 't': return Section::Tools;
      case 'm': return Section::Messages;
      default: return std::nullopt;
    }
  }

  bool bytes(Tree::Index node, std::string& out) const {
    if (tree_.isString(node)) {
      json::appendDecoded(out, tree_.body(node));
      return true;
    }
    const Tree::Index hex = node == Tree::kNone ? Tree::kNone : tree_.find(node, "hex");
    if (!tree_.isString(hex) || tree_.body(hex).size() % 2 != 0) return false;
    const std::string_view digits = tree_.body(hex);
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      const int high = hexDigit(digits[i]);
      const int low = hexDigit(digits[i + 1]);
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high << 4 | low);
    }
    return true;
  }

  [[nodiscard]] bool flag(Tree::Index object, std::string_view name) const {
    const Tree::Index found = tree_.find(object, name);
    return found != Tree::kNone && tree_.kind(found) == json::Kind::True;
  }

  bool requestFrame(Tree::Index node, RequestFrame& out) const {
    const auto written = dialect(tree_.find(node, "dialect"));
    if (!written) return false;
    out.dialect = *written;
    out.bare = flag(node, "bare");
    out.stringInput = flag(node, "stringInput");
    out.toolCount = number(tree_.find(node, "toolCount"));
    if (!bytes(tree_.find(node, "tools"), out.toolsText)) return false;
    settings(tree_.find(node, "written"), out.written);
    bool messages = false;
    for (const Tree::Index each : tree_.elements(tree_.find(node, "pieces"))) {
      RequestFrame::Part& text = out.parts.emplace_back();
      std::vector<Tree::Index> parts;
      for (const Tree::Index part : tree_.elements(each)) parts.push_back(part);
      if (parts.size() != 1 && parts.size() != 5) return false;
      if (!bytes(parts[0], text.text)) return false;
      if (parts.size() == 1) continue;
      const auto framed = section(parts[1]);
      if (!framed || !bytes(parts[2], text.keyText) || !bytes(parts[3], text.emptyText) ||
          !bytes(parts[4], text.endText)) {
        return false;
      }
      text.hasSection = true;
      text.section = *framed;
      messages |= *framed == Section::Messages;
    }
    return messages;
  }

  bool original(Tree::Index node, Original& out) {
    const auto written = dialect(tree_.find(node, "dialect"));
    const auto where = section(tree_.find(node, "section"));
    if (!written || !where) return false;
    out.dialect = *written;
    out.section = *where;
    out.fromWayBack = true;
    out.isRequestMember = flag(node, "wholeSlot");
    out.partial = flag(node, "partial");
    out.replacesSystem = flag(node, "replacesSystem");
    const Tree::Index entry = tree_.find(node, "entry");
    if (tree_.isString(entry)) out.entryId = tree_.body(entry);
    const Tree::Index place = tree_.find(node, "place");
    out.documentPlace = place == Tree::kNone ? kNotInDocument : static_cast<std::int64_t>(number(place));
    out.separator = out.documentPlace > 0 ? "," : "";
    const Tree::Index separator = tree_.find(node, "separator");
    if (separator != Tree::kNone) {
      std::string& kept = history_.texts.emplace_back();
      if (!bytes(separator, kept)) return false;
      out.separator = kept;
    }
    const Tree::Index hash = tree_.find(node, "hash");
    if (!tree_.isString(hash)) return false;
    out.recordedHash = fromHex(tree_.body(hash));
    prefix(tree_.find(node, "prefix"), out);
    const Tree::Index value = tree_.find(node, "value");
    if (value != Tree::kNone) {
      out.tree = &tree_;
      out.node = value;
      out.raw = tree_.raw(value);
      if (originalBytes_.hash(tree_, value) != out.recordedHash) out.problem = kDamagedOriginal;
    } else {
      std::string& kept = history_.texts.emplace_back();
      if (!bytes(tree_.find(node, "bytes"), kept)) return false;
      out.raw = kept;
      out.problem = hashBytes(out.raw) == out.recordedHash ? "the text is not UTF-8" : kDamagedOriginal;
    }
    return true;
  }

  void prefix(Tree::Index node, Original& out) const {
    std::vector<std::uint64_t> hashes;
    for (const Tree::Index each : tree_.elements(node)) {
      hashes.push_back(tree_.isString(each) ? fromHex(tree_.body(each)) : 0);
    }
    if (hashes.size() != 3) return;
    out.signedBlocks = true;
    out.prefix = {.system = hashes[0], .tools = hashes[1], .messages = hashes[2]};
  }

  // Returns the index of an original, or -1; std::nullopt when it is neither.
  [[nodiscard]] std::optional<std::int32_t> originalIndex(Tree::Index node, const WayBackData& data) const {
    if (tree_.raw(node) == "-1") return -1;
    const std::uint64_t index = number(node);
    if (tree_.kind(node) != json::Kind::Number || index >= data.originals.size()) return std::nullopt;
    return static_cast<std::int32_t>(index);
  }

  // [section, hash, original before it] when verbatim, otherwise [section, hash, block hash, original, block hash,
  // original …].
  bool node(Tree::Index list, WayBackData& data) const {
    std::vector<Tree::Index> parts;
    for (const Tree::Index each : tree_.elements(list)) parts.push_back(each);
    if (parts.size() < 2 || !tree_.isString(parts[1])) return false;
    const auto where = section(parts[0]);
    if (!where) return false;
    ValueRecord record;
    record.section = *where;
    record.hash = fromHex(tree_.body(parts[1]));
    record.firstBlock = static_cast<std::uint32_t>(data.records.blocks.size());
    record.verbatim = parts.size() == 3;
    if (record.verbatim) {
      const auto before = originalIndex(parts[2], data);
      if (!before) return false;
      record.original = *before;
    }
    const std::size_t step = blocksKnown_ ? 3 : 2;
    if (!record.verbatim && (parts.size() - 2) % step != 0) return false;
    for (std::size_t i = 2; !record.verbatim && i < parts.size(); i += step) {
      const auto from = originalIndex(parts[i + 1], data);
      if (!tree_.isString(parts[i]) || !from) return false;
      BlockRecord block{.hash = fromHex(tree_.body(parts[i])), .original = *from};
      if (blocksKnown_ && tree_.raw(parts[i + 2]) != "-1")
        block.blockIndex = static_cast<std::int32_t>(number(parts[i + 2]));
      data.records.blocks.push_back(block);
      ++record.blockCount;
    }
    data.records.values.push_back(record);
    return true;
  }

  void settings(Tree::Index list, std::vector<Setting>& out) const {
    if (list == Tree::kNone) return;
    for (const Tree::Index each : tree_.elements(list)) {
      std::vector<Tree::Index> parts;
      for (const Tree::Index part : tree_.elements(each)) parts.push_back(part);
      if (parts.size() != 3 || !tree_.isString(parts[0]) || !tree_.isString(parts[1])) continue;
      out.push_back({.unit = std::string(tree_.body(parts[0])),
                     .path = std::string(tree_.body(parts[1])),
                     .json = std::string(tree_.raw(parts[2]))});
    }
  }

  void aliases(Tree::Index list, Aliases& out) const {
    for (const Tree::Index pair : tree_.elements(list)) {
      std::vector<Tree::Index> sides;
      for (const Tree::Index each : tree_.elements(pair)) sides.push_back(each);
      if (sides.size() != 2 || !tree_.isString(sides[0]) || !tree_.isString(sides[1])) continue;
      out.learn(std::string(tree_.body(sides[0])), std::string(tree_.body(sides[1])));
    }
  }

  const Tree& tree_;
  OriginalBytes& originalBytes_;
  History& history_;
  bool blocksKnown_ = false;
};

}  // namespace

Result<WayBackData> readWayBack(const WayBack& wayBack, History& history) {
  Tree& tree = history.trees.emplace_back();
  OriginalBytes originalBytes;
  if (const auto error = tree.parse(wayBack.json, Tree::kMaxTextBytes, &originalBytes)) {
    return fail(ErrorCode::Damaged, "the way back is not JSON: " + std::string(error->reason),
                "convert without it, or restore the file");
  }
  WayBackData data;
  if (const auto problem = WayBackReader(tree, originalBytes, history).run(data)) {
    return fail(ErrorCode::Damaged, "the origin cannot be used: " + std::string(*problem),
                "convert without it, or restore the file");
  }
  return data;
}

}  // namespace bough::message
