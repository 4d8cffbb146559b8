#include "message/json/json_tree.h"

#include "base/json/json_grammar.h"
#include "base/json/json_string.h"

namespace bough::json {

class Tree::Parser {
 public:
  Parser(Tree& tree, std::string_view text, std::size_t mostValues, Observer* observer)
      : tree_(tree),
        begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        mostValues_(mostValues),
        observer_(observer) {}

  bool document() {
    if (!value()) return false;
    skipBlanks();
    return at_ == end_ || failWith("something follows the value");
  }

  [[nodiscard]] ScanError error() const {
    return {.offset = static_cast<std::size_t>(at_ - begin_), .reason = reason_};
  }

  // Closes all open containers after an error, so that every node has an end.
  void closeBroken() {
    // Removes a key without a value, because members() relies on pairs.
    if (keyPending_) tree_.nodes_.pop_back();
    while (depth_ > 0) {
      Node& node = tree_.nodes_[open_[--depth_]];
      node.end = offset(end_);
      node.next = tree_.size();
      node.flags |= kBroken;
    }
  }

 private:
  [[nodiscard]] std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - begin_); }
  [[nodiscard]] char peek() const { return at_ < end_ ? *at_ : '\0'; }

  bool failWith(std::string_view reason) {
    if (reason_.empty()) reason_ = at_ >= end_ ? "the text ends too early" : reason;
    return false;
  }

  void skipBlanks() {
    while (at_ < end_ && isBlank(*at_)) ++at_;
  }

  void add(const char* from, Kind kind, std::uint8_t flags = 0) {
    const Index self = tree_.size();
    tree_.nodes_.push_back({.begin = offset(from), .end = offset(at_), .next = self + 1, .kind = kind, .flags = flags});
  }

  bool value() {
    for (;;) {
      skipBlanks();
      if (tree_.size() >= mostValues_) return failWith(kTooMany);
      const char c = peek();
      keyPending_ = keyPending_ && c != '{' && c != '[';
      if (c == '{' || c == '[') {
        if (depth_ == kMaxDepth) return failWith(kTooDeep);
        open_[depth_++] = tree_.size();
        add(at_, c == '{' ? Kind::Object : Kind::Array);
        ++at_;
        skipBlanks();
        if (peek() != (c == '{' ? '}' : ']')) {
          if (c == '{' && !key()) return false;
          continue;
        }
        closeContainer();
      } else {
        if (!scalar(c)) return false;
        keyPending_ = false;
      }
      for (;;) {
        if (depth_ == 0) return true;
        skipBlanks();
        const bool object = tree_.nodes_[open_[depth_ - 1]].kind == Kind::Object;
        const char next = peek();
        if (next == ',') {
          ++at_;
          skipBlanks();
          if (object && !key()) return false;
          break;
        }
        if (next != (object ? '}' : ']')) return failWith("a comma or the end of the container is expected");
        closeContainer();
      }
    }
  }

  void closeContainer() {
    ++at_;
    const Index self = open_[--depth_];
    tree_.nodes_[self].end = offset(at_);
    tree_.nodes_[self].next = tree_.size();
    if (observer_ != nullptr) observer_->completed(tree_, self, depth_);
  }

  bool key() {
    if (peek() != '"') return failWith("a string is expected");
    if (!string()) return false;
    keyPending_ = true;
    skipBlanks();
    if (peek() != ':') return failWith("a colon is expected");
    ++at_;
    return true;
  }

  bool scalar(char c) {
    const char* from = at_;
    switch (c) {
      case '"': return string();
      case 't': return word("true") && (add(from, Kind::True), true);
      case 'f': return word("false") && (add(from, Kind::False), true);
      case 'n': return word("null") && (add(from, Kind::Null), true);
      default: return number() && (add(from, Kind::Number), true);
    }
  }

  bool string() {
    const char* from = at_;
    const SkippedString skipped = skipString(at_ + 1, end_);
    at_ = skipped.at;
    if (!skipped.reason.empty()) return failWith(skipped.reason);
    tree_.anySurrogates_ |= skipped.surrogates;
    add(from, Kind::String,
        static_cast<std::uint8_t>((skipped.escapes ? kEscapes : 0) | (skipped.oddEscapes ? kOddEscapes : 0) |
                                  (skipped.surrogates ? kSurrogates : 0)));
    return true;
  }

  bool word(std::string_view expected) {
    if (std::string_view(at_, end_).substr(0, expected.size()) != expected) return failWith("a value is expected");
    at_ += expected.size();
    return true;
  }

  bool number() {
    const Skipped skipped = skipNumber(at_, end_);
    at_ = skipped.at;
    return skipped.reason.empty() || failWith(skipped.reason);
  }

  Tree& tree_;
  const char* begin_;
  const char* at_;
  const char* end_;
  std::size_t mostValues_;
  Observer* observer_;
  std::string_view reason_;
  bool keyPending_ = false;
  std::size_t depth_ = 0;
  Index open_[kMaxDepth];
};

std::optional<ScanError> Tree::parse(std::string_view text, std::size_t mostValues, Observer* observer) {
  text_ = text;
  nodes_.clear();
  anySurrogates_ = false;
  if (text.size() > kMaxTextBytes) return ScanError{.offset = 0, .reason = "the text is longer than 4 GiB"};
  // Long histories have long strings: about one value per this many bytes.
  constexpr std::size_t kBytesPerNode = 48;
  nodes_.reserve(text.size() / kBytesPerNode + 16);
  Parser parser(*this, text, mostValues, observer);
  if (parser.document()) return std::nullopt;
  parser.closeBroken();
  return parser.error();
}

bool Tree::decodedIs(Index node, std::string_view value) const {
  std::string decoded;
  appendDecoded(decoded, body(node));
  return decoded == value;
}

Tree::Index Tree::find(Index object, std::string_view name) const {
  for (const auto [key, value] : members(object)) {
    if (stringIs(key, name)) return value;
  }
  return kNone;
}

}  // namespace bough::json
