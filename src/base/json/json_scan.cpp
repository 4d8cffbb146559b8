#include "base/json/json_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/bytes/byte_block.h"
#include "base/json/json_grammar.h"
#include "base/json/json_string.h"
#include "base/text/utf8.h"

namespace bough::json {
namespace {

static_assert(kTooDeep.contains("512") && kMaxDepth == 512);

constexpr std::string_view kNotUtf8 = "the text is not UTF-8";

// Returns what is wrong at a position: `reason`, or a more exact one when the bytes there cannot occur in any text.
// Programs do not write NUL bytes; a crash or a broken disk does.
std::string_view reasonAt(const char* at, const char* end, std::string_view reason) {
  constexpr std::ptrdiff_t kLongestCharacter = 4;
  if (at >= end) return reason;
  if (*at == '\0') return "a NUL byte is in the text";
  return utf8PrefixBytes({at, at + std::min(end - at, kLongestCharacter)}) == 0 ? kNotUtf8 : reason;
}

ScanError somethingFollows(std::string_view text, std::size_t at) {
  return {.offset = at, .reason = reasonAt(text.data() + at, text.data() + text.size(), "something follows the value")};
}

// The containers that are open around a value: one bit each, set for objects.
class OpenContainers {
 public:
  void set(std::size_t depth, bool object) {
    const std::uint64_t bit = std::uint64_t{1} << (depth % 64);
    if (depth % 64 == 0) bits_[depth / 64] = 0;
    bits_[depth / 64] = object ? bits_[depth / 64] | bit : bits_[depth / 64] & ~bit;
  }
  [[nodiscard]] bool isObject(std::size_t depth) const { return (bits_[depth / 64] >> (depth % 64) & 1) != 0; }

 private:
  std::array<std::uint64_t, kMaxDepth / 64> bits_;  // a word is initialized when its first bit is set
};

char closing(bool object) {
  return object ? '}' : ']';
}

// Scans a text. Internally the position is passed from step to step, so that it stays in a register; at_ holds it
// between calls.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at)
      : begin_(text.data()), end_(text.data() + text.size()), at_(text.data() + at) {}

  [[nodiscard]] std::size_t at() const { return static_cast<std::size_t>(at_ - begin_); }
  [[nodiscard]] ScanError error() const { return {.offset = at(), .reason = reason_}; }
  [[nodiscard]] char peek() const { return at_ < end_ ? *at_ : '\0'; }
  [[nodiscard]] Layout layout() const { return layout_; }

  void skipBlanks() { (void)next(at_); }
  bool take(char c, std::string_view reasonIfMissing) { return moveTo(take(at_, c, reasonIfMissing)); }
  bool string() { return moveTo(string(at_)); }
  /// Scans one value of any kind.
  bool value() { return moveTo(value(at_)); }

 private:
  // Each of these functions returns the end of what it scanned, or null on failure.

  // Iterative: `open_` remembers the containers.
  const char* value(const char* at) {
    std::size_t depth = 0;
    bool inObject = false;
    for (;;) {
      const char c = next(at);
      if (c == '{' || c == '[') {
        if (depth == kMaxDepth) return failAt(at, kTooDeep);
        inObject = c == '{';
        open_.set(depth++, inObject);
        ++at;
        if (next(at) != closing(inObject)) {
          if (inObject) at = key(at);
          if (at == nullptr) return nullptr;
          continue;
        }
      } else {
        at = scalar(at, c);
        if (at == nullptr) return nullptr;
      }
      // After a value, or inside an empty container: close the containers that end here, or continue with the next
      // value.
      for (;;) {
        if (depth == 0) return at;
        const char follows = next(at);
        if (follows == ',') break;
        if (follows != closing(inObject)) return missing(at, "a comma or the end of the container is expected");
        ++at;
        --depth;
        inObject = depth > 0 && open_.isObject(depth - 1);
      }
      ++at;
      if (inObject) at = key(at);
      if (at == nullptr) return nullptr;
    }
  }

  const char* key(const char* at) {
    if (next(at) != '"') return missing(at, "a string is expected");
    at = restOfString(at + 1);
    if (at == nullptr) return nullptr;
    return next(at) == ':' ? at + 1 : missing(at, "a colon is expected");
  }

  const char* string(const char* at) {
    at = take(at, '"', "a string is expected");
    return at == nullptr ? nullptr : restOfString(at);
  }

  // Most strings are short and plain: their end is in the block of 64 bytes that was examined last.
  const char* restOfString(const char* at) {
    if (at - block_ >= blockBytes_) lookAt(at);
    if (at - block_ < blockBytes_) {
      const std::uint64_t ahead = specials_ >> (at - block_);
      at = ahead != 0 ? at + std::countr_zero(ahead) : block_ + blockBytes_;
      if (ahead != 0 && *at == '"') return at + 1;
    }
    const SkippedString skipped = skipString(at, end_);
    return skipped.reason.empty() ? skipped.at : failAt(skipped.at, skipped.reason);
  }

  // Examines 64 bytes, those at `at` or the last of the text, for bytes that may end a string.
  void lookAt(const char* at) {
    constexpr auto kSize = static_cast<std::ptrdiff_t>(ByteBlock::kSize);
    if (end_ - begin_ < kSize) return;  // a text this short is scanned string by string
    block_ = end_ - at >= kSize ? at : end_ - kSize;
    blockBytes_ = kSize;
    const ByteBlock block(block_);
    specials_ = bits(specialBytes(block.a), specialBytes(block.b), specialBytes(block.c), specialBytes(block.d));
  }

  const char* scalar(const char* at, char c) {
    switch (c) {
      case '"': return restOfString(at + 1);
      case 't': return word(at, "true");
      case 'f': return word(at, "false");
      case 'n': return word(at, "null");
      default: return number(at);
    }
  }

  const char* word(const char* at, std::string_view expected) {
    if (!std::string_view(at, end_).starts_with(expected)) return failAt(at, "a value is expected");
    return at + expected.size();
  }

  const char* number(const char* at) {
    if (at >= end_) return failAt(at, "the text ends too early");
    const Skipped skipped = skipNumber(at, end_);
    return skipped.reason.empty() ? skipped.at : failAt(skipped.at, skipped.reason);
  }

  const char* take(const char* at, char c, std::string_view reasonIfMissing) {
    return at < end_ && *at == c ? at + 1 : missing(at, reasonIfMissing);
  }

  const char* missing(const char* at, std::string_view reason) {
    return failAt(at, at < end_ ? reason : "the text ends too early");
  }

  // Skips blanks. Returns the byte after them; NUL at the end.
  char next(const char*& at) {
    for (; at < end_; ++at) {
      if (!isBlank(*at)) return *at;
      if (*at == '\n' || *at == '\r') layout_ = Layout::Lines;
    }
    return '\0';
  }

  bool moveTo(const char* at) {
    if (at != nullptr) at_ = at;
    return at != nullptr;
  }

  const char* failAt(const char* at, std::string_view reason) {
    at_ = at;
    if (reason_.empty()) reason_ = reasonAt(at, end_, reason);
    return nullptr;
  }

  const char* begin_;
  const char* end_;
  const char* at_;
  const char* block_ = begin_;
  std::ptrdiff_t blockBytes_ = 0;
  std::uint64_t specials_ = 0;
  Layout layout_ = Layout::OneLine;
  std::string_view reason_;
  OpenContainers open_;
};

void appendUtf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::uint32_t hexAt(std::string_view text, std::size_t at) {
  std::uint32_t value = 0;
  std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  return value;
}

// Decodes the escape after the backslash at `at` and returns the offset after it.
std::size_t decodeEscape(std::string_view body, std::size_t at, std::string& out) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  const char c = body[at + 1];
  switch (c) {
    case 'b': out += '\b'; return at + 2;
    case 'f': out += '\f'; return at + 2;
    case 'n': out += '\n'; return at + 2;
    case 'r': out += '\r'; return at + 2;
    case 't': out += '\t'; return at + 2;
    case 'u': break;
    default: out += c; return at + 2;
  }
  const std::uint32_t unit = hexAt(body, at + 2);
  at += 6;
  if (unit < 0xD800 || unit > 0xDFFF) {
    appendUtf8(out, unit);
    return at;
  }
  const bool pairFollows = unit < 0xDC00 && at + 6 <= body.size() && body[at] == '\\' && body[at + 1] == 'u';
  const std::uint32_t low = pairFollows ? hexAt(body, at + 2) : 0;
  if (low < 0xDC00 || low > 0xDFFF) {
    appendUtf8(out, kReplacement);
    return at;
  }
  appendUtf8(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
  return at + 6;
}

// Shared by ObjectReader and ArrayReader: opens the container, or skips the comma. Returns false at the end or on an
// error.
bool advance(Scanner& scanner, bool first, char open, char close, bool& done) {
  scanner.skipBlanks();
  if (first) {
    if (!scanner.take(open, open == '{' ? "an object is expected" : "an array is expected")) return false;
    scanner.skipBlanks();
    done = scanner.peek() == close;
    return !done;
  }
  if (scanner.peek() == close) {
    done = true;
    return false;
  }
  return scanner.take(',', "a comma is expected");
}

// Returns an error when anything follows a container that ends at `end`.
std::optional<ScanError> restError(std::string_view text, std::size_t end) {
  Scanner scanner(text, end);
  scanner.skipBlanks();
  if (scanner.at() == text.size()) return std::nullopt;
  return somethingFollows(text, scanner.at());
}

}  // namespace

Kind kindOf(std::string_view value) {
  switch (value.empty() ? 'n' : value.front()) {
    case '{': return Kind::Object;
    case '[': return Kind::Array;
    case '"': return Kind::String;
    case 't': return Kind::True;
    case 'f': return Kind::False;
    case 'n': return Kind::Null;
    default: return Kind::Number;
  }
}

std::expected<std::size_t, ScanError> skipValue(std::string_view text, std::size_t begin) {
  Scanner scanner(text, begin);
  if (!scanner.value()) return std::unexpected(scanner.error());
  return scanner.at();
}

std::expected<Layout, ScanError> check(std::string_view text) {
  Scanner scanner(text, 0);
  if (!scanner.value()) return std::unexpected(scanner.error());
  scanner.skipBlanks();
  if (scanner.at() != text.size()) return std::unexpected(somethingFollows(text, scanner.at()));
  if (!isUtf8(text)) {
    return std::unexpected(ScanError{.offset = utf8PrefixBytes(text), .reason = kNotUtf8});
  }
  return scanner.layout();
}

bool ObjectReader::Member::keyIs(std::string_view name) const {
  // An escape is longer than the character that it represents.
  if (key.size() <= name.size()) return key == name;
  if (!key.contains('\\')) return false;
  const std::string_view quoted(key.data() - 1, key.size() + 2);
  return decodeString(quoted) == name;
}

ObjectReader::ObjectReader(std::string_view object) : text_(object) {}

std::optional<ObjectReader::Member> ObjectReader::next() {
  if (done_ || error_) return std::nullopt;
  Scanner scanner(text_, at_);
  const bool more = advance(scanner, first_, '{', '}', done_);
  first_ = false;
  if (done_) {
    error_ = restError(text_, scanner.at() + 1);
    return std::nullopt;
  }
  scanner.skipBlanks();
  const std::size_t keyBegin = scanner.at();
  if (!more || !scanner.string()) {
    error_ = scanner.error();
    return std::nullopt;
  }
  const std::size_t keyEnd = scanner.at();
  scanner.skipBlanks();
  if (!scanner.take(':', "a colon is expected")) {
    error_ = scanner.error();
    return std::nullopt;
  }
  scanner.skipBlanks();
  const std::size_t begin = scanner.at();
  if (!scanner.value()) {
    error_ = scanner.error();
    return std::nullopt;
  }
  at_ = scanner.at();
  return Member{.key = text_.substr(keyBegin + 1, keyEnd - keyBegin - 2), .value = text_.substr(begin, at_ - begin)};
}

ArrayReader::ArrayReader(std::string_view array) : text_(array) {}

std::optional<std::string_view> ArrayReader::next() {
  if (done_ || error_) return std::nullopt;
  Scanner scanner(text_, at_);
  const bool more = advance(scanner, first_, '[', ']', done_);
  first_ = false;
  if (done_) {
    error_ = restError(text_, scanner.at() + 1);
    return std::nullopt;
  }
  scanner.skipBlanks();
  const std::size_t begin = scanner.at();
  if (!more || !scanner.value()) {
    error_ = scanner.error();
    return std::nullopt;
  }
  at_ = scanner.at();
  return text_.substr(begin, at_ - begin);
}

std::optional<std::string_view> findMember(std::string_view object, std::string_view name) {
  ObjectReader reader(object);
  while (auto member = reader.next()) {
    if (member->keyIs(name)) return member->value;
  }
  return std::nullopt;
}

std::optional<std::string> decodeString(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
  const std::string_view body = value.substr(1, value.size() - 2);
  std::string out;
  out.reserve(body.size());
  appendDecoded(out, body);
  return out;
}

void appendDecoded(std::string& out, std::string_view body) {
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t plainEnd = std::min(body.find('\\', at), body.size());
    out.append(body.substr(at, plainEnd - at));
    at = plainEnd < body.size() ? decodeEscape(body, plainEnd, out) : plainEnd;
  }
}

std::optional<std::string> findString(std::string_view object, std::string_view name) {
  const auto value = findMember(object, name);
  return value ? decodeString(*value) : std::nullopt;
}

std::optional<std::uint64_t> findUnsigned(std::string_view object, std::string_view name) {
  const auto value = findMember(object, name);
  if (!value || kindOf(*value) != Kind::Number) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, status] = std::from_chars(value->data(), end, number);
  if (status != std::errc{} || stop != end || number > INT64_MAX) return std::nullopt;
  return number;
}

}  // namespace bough::json
