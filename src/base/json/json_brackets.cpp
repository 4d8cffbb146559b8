#include "base/json/json_brackets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes/byte_block.h"
#include "base/bytes/crc32c_step.h"
#include "base/json/json_scan.h"
#include "base/json/json_string.h"

namespace bough::json {
namespace {

constexpr std::size_t kBlockBytes = ByteBlock::kSize;

// Replaces each bit by the parity of itself and all lower bits. This turns the positions of quotes into the ranges
// between them.
std::uint64_t prefixParity(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// `{` and `[` differ in only one bit, and so do `}` and `]`.
std::uint64_t bracketsOf(const ByteBlock& block) {
  const auto bracket = [](Bytes x) {
    const Bytes folded = either(x, fillBytes(0x20));
    return either(equal(folded, fillBytes('{')), equal(folded, fillBytes('}')));
  };
  return bits(bracket(block.a), bracket(block.b), bracket(block.c), bracket(block.d));
}

// The state of the scan before a block.
class Nesting {
 public:
  // Processes the 64 bytes at `p`, which are at `offset` in the text.
  void take(const ByteBlock& block, const char* p, std::size_t offset) {
    const std::uint64_t backslashes = block.where('\\');
    const std::uint64_t escaped = escapedBytes(backslashes, firstIsEscaped_);
    const std::uint64_t quotes = block.where('"') & ~escaped;
    firstIsEscaped_ = (backslashes & ~escaped) >> 63 != 0;
    const std::uint64_t inside = prefixParity(quotes) ^ inside_;
    inside_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);
    if ((backslashes & ~inside) != 0) return stop({});
    for (std::uint64_t rest = bracketsOf(block) & ~inside; rest != 0; rest &= rest - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(rest));
      if (!bracket(p[at])) return stop({});
      if (depth_ == 0) return stop(offset + at + 1);
    }
  }

  // Skips a part of a string that does not end it. `lastEscapes` says that its last byte is a backslash that is not
  // itself escaped.
  void passText(bool lastEscapes) { firstIsEscaped_ = lastEscapes; }

  [[nodiscard]] bool insideString() const { return inside_ != 0; }
  /// Returns true when the first byte of the next block follows a backslash that is not itself escaped.
  [[nodiscard]] bool firstIsEscaped() const { return firstIsEscaped_; }
  /// Returns true when the end or an error was found.
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::optional<std::size_t> end() const { return end_; }

 private:
  void stop(std::optional<std::size_t> end) {
    done_ = true;
    end_ = end;
  }

  bool bracket(char c) {
    const bool object = (c & 0x20) != 0;
    if (c == '{' || c == '[') {
      if (depth_ == kMaxDepth) return false;
      std::uint64_t& word = open_[depth_ / 64];
      const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
      word = object ? word | bit : word & ~bit;
      ++depth_;
      return true;
    }
    if (depth_ == 0) return false;
    --depth_;
    return (open_[depth_ / 64] >> (depth_ % 64) & 1) == (object ? 1U : 0U);
  }

  std::uint64_t inside_ = 0;  // all ones when the previous block ended inside a string
  bool firstIsEscaped_ = false;
  std::size_t depth_ = 0;
  std::array<std::uint64_t, kMaxDepth / 64> open_{};  // one bit per container, set for objects
  bool done_ = false;
  std::optional<std::size_t> end_;
};

// A fast path for long strings, which contain most bytes. Inside a string, skips a block that contains neither the end
// of the string nor two backslashes in a row, whose number would matter.
bool passBlock(const ByteBlock& block, const char* p, Nesting& nesting) {
  if (!nesting.insideString()) return false;
  const Bytes backslash = fillBytes('\\');
  const Bytes quote = fillBytes('"');
  Bytes before = fillBytes(nesting.firstIsEscaped() ? '\xFF' : '\0');
  const auto one = [&](Bytes bytes) {
    const Bytes backslashes = equal(bytes, backslash);
    const Bytes escaped = shiftIn(before, backslashes);
    before = backslashes;
    return choose(escaped, backslashes, equal(bytes, quote));
  };
  const Bytes a = one(block.a);
  const Bytes b = one(block.b);
  const Bytes c = one(block.c);
  const Bytes d = one(block.d);
  if (any(either(either(a, b), either(c, d)))) return false;
  nesting.passText(p[kBlockBytes - 1] == '\\');
  return true;
}

// Inside a string, skips to the next quote, which may end the string. Returns its position, or the end of the text.
std::size_t passToQuote(std::string_view text, std::size_t begin, Nesting& nesting) {
  const std::size_t quote = std::min(text.find('"', begin), text.size());
  std::size_t backslashes = 0;
  while (quote - backslashes > begin && text[quote - backslashes - 1] == '\\') ++backslashes;
  const bool oneBefore = quote - backslashes == begin && nesting.firstIsEscaped();
  nesting.passText((backslashes + (oneBefore ? 1 : 0)) % 2 != 0);
  return quote;
}

// Passes whole blocks from the start of `text` to `use` and scans them, until the container ends or is invalid. Returns
// the offset after the last block.
template <typename Use>
[[gnu::always_inline]] inline std::size_t scanBlocks(std::string_view text, Nesting& nesting, Use use) {
  std::size_t at = 0;
  for (; at + kBlockBytes <= text.size() && !nesting.done(); at += kBlockBytes) {
    const char* p = text.data() + at;
    const ByteBlock block(p);
    use(block, at);
    if (!passBlock(block, p, nesting)) nesting.take(block, p, at);
  }
  return at;
}

// Processes the rest of `text` after the whole blocks.
std::optional<std::size_t> takeRest(std::string_view text, std::size_t at, Nesting& nesting) {
  if (!nesting.done()) {
    std::array<char, kBlockBytes> last{};
    last.fill(' ');
    std::memcpy(last.data(), text.data() + at, text.size() - at);
    nesting.take(ByteBlock(last.data()), last.data(), at);
  }
  return nesting.end();
}

bool beginsContainer(std::string_view text) {
  return text.starts_with('{') || text.starts_with('[');
}

#ifdef BOUGH_CRC_TARGET
BOUGH_CRC_TARGET std::optional<std::size_t> copySummed(std::string_view text, char* out, std::uint32_t& state) {
  Nesting nesting;
  std::uint32_t sum = state;  // a local, so that it stays in a register: the text might alias `state`
  const std::size_t at = scanBlocks(text, nesting, [&](const ByteBlock& block, std::size_t offset) BOUGH_CRC_TARGET {
    block.store(out + offset);
    sum = crc32cStep64(sum, text.data() + offset);
  });
  Crc32c crc;
  crc.setState(sum);
  crc.add(text.substr(at));
  state = crc.state();
  std::memcpy(out + at, text.data() + at, text.size() - at);
  return takeRest(text, at, nesting);
}
#endif

}  // namespace

std::optional<std::size_t> skipBrackets(std::string_view text) {
  if (!beginsContainer(text)) return std::nullopt;
  Nesting nesting;
  std::size_t at = 0;
  while (at + kBlockBytes <= text.size() && !nesting.done()) {
    const char* p = text.data() + at;
    const ByteBlock block(p);
    if (!passBlock(block, p, nesting)) {
      nesting.take(block, p, at);
      at += kBlockBytes;
      continue;
    }
    at = passToQuote(text, at + kBlockBytes, nesting);
  }
  return takeRest(text, at, nesting);
}

std::optional<std::size_t> copyBrackets(std::string_view text, char* out) {
  if (!beginsContainer(text)) {
    std::memcpy(out, text.data(), text.size());
    return std::nullopt;
  }
  Nesting nesting;
  const std::size_t at =
      scanBlocks(text, nesting, [&](const ByteBlock& block, std::size_t offset) { block.store(out + offset); });
  std::memcpy(out + at, text.data() + at, text.size() - at);
  return takeRest(text, at, nesting);
}

std::optional<std::size_t> copyBrackets(std::string_view text, char* out, Crc32c& crc) {
#ifdef BOUGH_CRC_TARGET
  if (hasCrc32cInstruction() && beginsContainer(text)) {
    std::uint32_t state = crc.state();
    const auto end = copySummed(text, out, state);
    crc.setState(state);
    return end;
  }
#endif
  crc.add(text);
  std::memcpy(out, text.data(), text.size());
  return skipBrackets(text);
}

}  // namespace bough::json
