#include "message/json_tree.h"

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace bough::json {
namespace {

bool isBlank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isHex(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool isSpecial(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

// The next byte of a string that does not stand for itself.
const char* skipPlain(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i lastControl = _mm_set1_epi8(0x1F);
  while (end - at >= 16) {
    __m128i bytes;
    std::memcpy(&bytes, at, 16);
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, lastControl), bytes);
    const __m128i special =
        _mm_or_si128(control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) return at + std::countr_zero(mask);
    at += 16;
  }
#elif defined(__ARM_NEON)
  const uint8x16_t quote = vdupq_n_u8('"');
  const uint8x16_t backslash = vdupq_n_u8('\\');
  const uint8x16_t firstPlain = vdupq_n_u8(0x20);
  while (end - at >= 16) {
    uint8x16_t bytes;
    std::memcpy(&bytes, at, 16);
    const uint8x16_t special =
        vorrq_u8(vcltq_u8(bytes, firstPlain), vorrq_u8(vceqq_u8(bytes, quote), vceqq_u8(bytes, backslash)));
    // Four bits a byte.
    const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(special), 4);
    const std::uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
    if (mask != 0) return at + std::countr_zero(mask) / 4;
    at += 16;
  }
#endif
  while (at < end && !isSpecial(*at)) ++at;
  return at;
}

}  // namespace

class Tree::Parser {
 public:
  Parser(Tree& tree, std::string_view text)
      : tree_(tree), begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  bool document() {
    if (!value()) return false;
    skipBlanks();
    return at_ == end_ || failWith("something follows the value");
  }

  [[nodiscard]] ScanError error() const {
    return {.offset = static_cast<std::size_t>(at_ - begin_), .reason = reason_};
  }

  // Ends what was open when an error struck, so that every node has an end.
  void closeBroken() {
    // A key whose value is missing goes: members() counts on pairs.
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
      const char c = peek();
      keyPending_ = keyPending_ && c != '{' && c != '[';
      if (c == '{' || c == '[') {
        if (depth_ == kMaxDepth) return failWith("nested too deeply");
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
    Node& node = tree_.nodes_[open_[--depth_]];
    node.end = offset(at_);
    node.next = tree_.size();
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
    const char* from = at_++;
    std::uint8_t flags = 0;
    for (;;) {
      at_ = skipPlain(at_, end_);
      if (at_ >= end_) return failWith("a string is not closed");
      if (*at_ == '"') {
        ++at_;
        add(from, Kind::String, flags);
        return true;
      }
      if (*at_ != '\\') return failWith("a control character stands in a string");
      flags |= kEscapes;
      if (!escape(flags)) return false;
    }
  }

  bool escape(std::uint8_t& flags) {
    if (end_ - at_ < 2) return failWith("a string is not closed");
    switch (at_[1]) {
      case '/': flags |= kOddEscapes; [[fallthrough]];
      case '"':
      case '\\':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't': at_ += 2; return true;
      case 'u': break;
      default: return failWith("an unknown escape");
    }
    if (end_ - at_ < 6 || !isHex(at_[2]) || !isHex(at_[3]) || !isHex(at_[4]) || !isHex(at_[5])) {
      return failWith("a broken \\u escape");
    }
    flags |= kOddEscapes;
    if (at_[2] == 'd' || at_[2] == 'D') flags |= kSurrogates;
    at_ += 6;
    return true;
  }

  bool word(std::string_view expected) {
    if (std::string_view(at_, end_).substr(0, expected.size()) != expected) return failWith("a value is expected");
    at_ += expected.size();
    return true;
  }

  bool digits() {
    const char* from = at_;
    while (isDigit(peek())) ++at_;
    return at_ > from || failWith("a digit is expected");
  }

  bool number() {
    if (peek() == '-') ++at_;
    if (!isDigit(peek())) return failWith("a value is expected");
    if (peek() == '0') {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (peek() == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return false;
    }
    return true;
  }

  Tree& tree_;
  const char* begin_;
  const char* at_;
  const char* end_;
  std::string_view reason_;
  bool keyPending_ = false;
  std::size_t depth_ = 0;
  Index open_[kMaxDepth];
};

std::optional<ScanError> Tree::parse(std::string_view text) {
  text_ = text;
  nodes_.clear();
  if (text.size() > kMaxTextBytes) return ScanError{.offset = 0, .reason = "the text is longer than 4 GiB"};
  // Long histories hold long strings: about one value in so many bytes.
  constexpr std::size_t kBytesPerNode = 48;
  nodes_.reserve(text.size() / kBytesPerNode + 16);
  Parser parser(*this, text);
  if (parser.document()) return std::nullopt;
  parser.closeBroken();
  return parser.error();
}

bool Tree::stringIs(Index node, std::string_view value) const {
  if (!isString(node)) return false;
  if (!hasEscapes(node)) return body(node) == value;
  std::string decoded;
  appendDecoded(decoded, body(node));
  return decoded == value;
}

Tree::Index Tree::find(Index object, std::string_view name) const {
  Index found = kNone;
  for (const auto [key, value] : members(object)) {
    if (stringIs(key, name)) found = value;
  }
  return found;
}

}  // namespace bough::json
