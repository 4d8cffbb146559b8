// The estimator. A tokenizer of the o200k family splits text into words, numbers, punctuation and blanks, and these
// into frequent pieces. The cost of a run of characters therefore depends on its kind and length. The constants were
// fitted to o200k (benchmarks/token_error.mjs shows the error).
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bytes/avx2_block.h"
#include "base/json/json_string.h"
#include "context/tokens.h"

namespace bough::context {
namespace {

enum class Kind : std::uint8_t { Lower, Upper, Digit, Space, Newline, Punctuation, Wide };

constexpr std::array<Kind, 256> makeKinds() {
  std::array<Kind, 256> kinds{};
  for (std::size_t c = 0; c < 256; ++c) {
    if (c >= 0x80) {
      kinds[c] = Kind::Wide;
    } else if (c >= 'a' && c <= 'z') {
      kinds[c] = Kind::Lower;
    } else if (c >= 'A' && c <= 'Z') {
      kinds[c] = Kind::Upper;
    } else if (c >= '0' && c <= '9') {
      kinds[c] = Kind::Digit;
    } else if (c == '\n' || c == '\r') {
      kinds[c] = Kind::Newline;
    } else if (c <= ' ') {
      kinds[c] = Kind::Space;
    } else {
      kinds[c] = Kind::Punctuation;
    }
  }
  return kinds;
}
constexpr auto kKinds = makeKinds();

// Costs are in thousandths of a token.
constexpr std::uint64_t kUnit = 1000;

// The cost of each unit.
constexpr std::uint64_t kWord = 929;
constexpr std::uint64_t kEasyLetters = 6;
constexpr std::uint64_t kExtraLetter = 338;  // for each letter of a word after the sixth
constexpr std::uint64_t kExtraUpper = 628;   // for each letter of a word in capitals after the third
constexpr std::uint64_t kSwitch = 813;       // for each change from lower to upper case, or between letters and digits
constexpr std::uint64_t kThreeDigits = 1350;
constexpr std::uint64_t kNoise = 633;  // for each character of a hash, a key or base64
constexpr std::uint64_t kNoiseRepeated = 100;
constexpr std::uint64_t kPunctuation = 647;
constexpr std::uint64_t kExtraPunctuation = 364;
constexpr std::uint64_t kExtraSpace = 30;
constexpr std::uint64_t kNewline = 1000;
constexpr std::uint64_t kExtraNewline = 277;
constexpr std::uint64_t kNewlineAfterPunctuation = 299;
constexpr std::uint64_t kCyrillicWord = 1000;
constexpr std::uint64_t kExtraCyrillic = 232;  // for each letter after the third
constexpr std::uint64_t kIdeograph = 720;
constexpr std::uint64_t kWidePunctuation = 728;
constexpr std::uint64_t kOtherLetter = 500;
constexpr std::uint64_t kEmoji = 1500;
constexpr std::uint64_t kNoiseLength = 16;

// The counts of a word of letters and digits.
struct Word {
  std::uint64_t letters = 0;
  std::uint64_t digits = 0;
  std::uint64_t uppers = 0;
  std::uint64_t switches = 0;

  [[nodiscard]] std::uint64_t length() const { return letters + digits; }
  // Returns true for hashes, keys and base64.
  [[nodiscard]] bool isNoise() const { return length() >= kNoiseLength && switches * 6 > length(); }

  [[nodiscard]] std::uint64_t cost() const {
    std::uint64_t cost = (digits + 2) / 3 * kThreeDigits;
    if (letters > 0) cost += kWord + switches * kSwitch;
    const bool capitals = uppers > 1 && uppers == letters;
    const std::uint64_t easy = capitals ? 3 : kEasyLetters;
    return cost + (std::max(letters, easy) - easy) * (capitals ? kExtraUpper : kExtraLetter);
  }
};

bool joinsNoise(char c) {
  return c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
}

constexpr std::uint64_t lowBits(std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

inline std::size_t firstBit(std::uint64_t bits) {
  return static_cast<std::size_t>(std::countr_zero(bits));
}

inline std::uint64_t countBits(std::uint64_t bits) {
  return static_cast<std::uint64_t>(std::popcount(bits));
}

#define BOUGH_LOOPS "context/estimate_loops.h"
#include "base/bytes/compile_loops.h"

}  // namespace

std::uint64_t estimateText(std::string_view text, bool escaped) {
  return BOUGH_CHOOSE(estimateText(text, escaped));
}

}  // namespace bough::context
