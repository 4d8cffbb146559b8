// The estimator itself. A tokenizer of the o200k family cuts text into words, numbers, punctuation and blanks, and
// those into pieces that are frequent. So the cost of a run of characters depends on its kind and length; the figures
// were fitted to o200k (benchmarks/token_error.mjs shows the error).
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "context/tokens.h"

namespace bough::context {
namespace {

enum class Kind : std::uint8_t { Lower, Upper, Digit, Space, Newline, Punctuation, Other };

constexpr std::array<Kind, 256> makeKinds() {
  std::array<Kind, 256> kinds{};
  for (std::size_t c = 0; c < 256; ++c) {
    if (c >= 0x80) {
      kinds[c] = Kind::Other;
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

// Tokens are counted in thousandths.
constexpr std::uint64_t kUnit = 1000;

// What each thing costs.
constexpr std::uint64_t kWord = 929;
constexpr std::uint64_t kEasyLetters = 6;
constexpr std::uint64_t kLetterMore = 338;  // beyond the first six of a word,
constexpr std::uint64_t kUpperMore = 628;   // or the first three of one in capitals
constexpr std::uint64_t kSwitch = 813;      // from lower to upper case, or between letters and digits
constexpr std::uint64_t kThreeDigits = 1350;
constexpr std::uint64_t kNoise = 633;  // a character of a hash, a key, base64
constexpr std::uint64_t kNoiseRepeated = 100;
constexpr std::uint64_t kPunctuation = 647;
constexpr std::uint64_t kPunctuationMore = 364;
constexpr std::uint64_t kSpaceMore = 30;
constexpr std::uint64_t kNewline = 1000;
constexpr std::uint64_t kNewlineMore = 277;
constexpr std::uint64_t kNewlineBehindPunctuation = 299;
constexpr std::uint64_t kCyrillicWord = 1000;
constexpr std::uint64_t kCyrillicMore = 232;  // beyond the first three letters
constexpr std::uint64_t kIdeograph = 720;
constexpr std::uint64_t kWidePunctuation = 728;
constexpr std::uint64_t kOtherLetter = 500;
constexpr std::uint64_t kEmoji = 1500;
constexpr std::uint64_t kNoiseLength = 16;

// The end of the small letters at `at`, eight bytes at a time: most of most texts are such runs.
std::size_t endOfLower(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  while (std::endian::native == std::endian::little && text.size() - at >= sizeof(std::uint64_t)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    const std::uint64_t low = bytes & (kOnes * 0x7F);
    const std::uint64_t lower = (low + kOnes * (0x80 - 'a')) & ~(low + kOnes * (0x80 - 'z' - 1)) & ~bytes;
    const std::uint64_t others = ~lower & (kOnes * 0x80);
    if (others != 0) return at + static_cast<std::size_t>(std::countr_zero(others)) / 8;
    at += sizeof bytes;
  }
  while (at < text.size() && kKinds[static_cast<unsigned char>(text[at])] == Kind::Lower) ++at;
  return at;
}

class Estimator {
 public:
  Estimator(std::string_view text, bool escaped) : text_(text), escaped_(escaped) {}

  /// In thousandths.
  std::uint64_t run() {
    while (at_ < text_.size()) {
      // What text is mostly made of: further blanks, plain words, further small letters of another one.
      if (last_ == Kind::Space) moreSpaces();
      if (!isInWord()) {
        if (at_ < text_.size() && kindAt(at_) <= Kind::Upper) plainWord();
      } else if (last_ == Kind::Lower) {
        moreLetters();
      }
      if (at_ < text_.size()) step();
    }
    endWord();
    return total_;
  }

 private:
  [[nodiscard]] Kind kindAt(std::size_t at) const { return kKinds[static_cast<unsigned char>(text_[at])]; }

  [[nodiscard]] bool isInWord() const { return letters_ + digits_ + cyrillic_ > 0; }

  // A whole word of small letters, of which the first may be a capital.
  void plainWord() {
    const std::size_t end = endOfLower(text_, at_ + 1);
    if (end < text_.size() && (kindAt(end) <= Kind::Digit || kindAt(end) == Kind::Other)) return;
    total_ += kWord + (std::max(end - at_, kEasyLetters) - kEasyLetters) * kLetterMore;
    last_ = Kind::Lower;
    at_ = end;
  }

  void moreLetters() {
    const std::size_t begin = at_;
    at_ = endOfLower(text_, at_);
    run_ += at_ - begin;
    letters_ += at_ - begin;
  }

  void moreSpaces() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && kindAt(at_) == Kind::Space) ++at_;
    total_ += (at_ - begin) * kSpaceMore;
  }

  void step() {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c >= 0x80) {
      wide(c);
      return;
    }
    if (escaped_ && c == '\\' && at_ + 1 < text_.size()) {
      escape();
      return;
    }
    ++at_;
    narrow(kKinds[c], c);
  }

  void escape() {
    const char what = text_[at_ + 1];
    at_ += 2;
    if (what == 'n' || what == 'r') {
      narrow(Kind::Newline, '\n');
    } else if (what == 't') {
      narrow(Kind::Space, ' ');
    } else if (what == 'u') {
      endWord();
      at_ += 4;
      last_ = Kind::Other;
      total_ += kOtherLetter;
    } else {
      narrow(Kind::Punctuation, static_cast<unsigned char>(what));
    }
  }

  void narrow(Kind kind, unsigned char c) {
    if (kind <= Kind::Digit) {
      letter(kind);
    } else if (kind == Kind::Punctuation && isNoise() && (c == '+' || c == '/' || c == '=' || c == '_' || c == '-')) {
      ++letters_;
      ++switches_;
    } else {
      if (isInWord()) endWord();
      total_ += gap(kind);
    }
    last_ = kind;
  }

  [[nodiscard]] std::uint64_t gap(Kind kind) const {
    if (kind == Kind::Space) return last_ == Kind::Space ? kSpaceMore : 0;
    if (kind == Kind::Punctuation) return last_ == Kind::Punctuation ? kPunctuationMore : kPunctuation;
    if (last_ == Kind::Newline) return kNewlineMore;
    return last_ == Kind::Punctuation ? kNewlineBehindPunctuation : kNewline;
  }

  void letter(Kind kind) {
    if (cyrillic_ > 0) endWord();
    if (letters_ + digits_ == 0) wordBegin_ = at_ - 1;
    if (letters_ + digits_ > 0 && (kind == Kind::Digit) != (last_ == Kind::Digit)) ++switches_;
    if (kind == Kind::Upper && last_ == Kind::Lower) ++switches_;
    if (kind == Kind::Lower && last_ == Kind::Upper && run_ > 1) ++switches_;
    run_ = last_ == kind ? run_ + 1 : 1;
    ++(kind == Kind::Digit ? digits_ : letters_);
    if (kind == Kind::Upper) ++uppers_;
  }

  // Hashes, keys and base64 are not words.
  [[nodiscard]] bool isNoise() const {
    const std::uint64_t length = letters_ + digits_;
    return length >= kNoiseLength && switches_ * 6 > length;
  }

  // How many letters and digits of the word are the same as the character before them.
  [[nodiscard]] std::uint64_t countRepeated() const {
    std::uint64_t repeated = 0;
    for (std::size_t i = wordBegin_ + 1; i < std::min(at_, text_.size()); ++i) {
      if (kindAt(i) <= Kind::Digit && text_[i] == text_[i - 1]) ++repeated;
    }
    return repeated;
  }

  void endWord() {
    if (cyrillic_ > 0) total_ += kCyrillicWord + (cyrillic_ > 3 ? (cyrillic_ - 3) * kCyrillicMore : 0);
    cyrillic_ = 0;
    if (letters_ + digits_ == 0) return;
    if (isNoise()) {
      const std::uint64_t repeated = countRepeated();
      total_ += (letters_ + digits_ - repeated) * kNoise + repeated * kNoiseRepeated;
    } else {
      total_ += (digits_ + 2) / 3 * kThreeDigits;
      if (letters_ > 0) total_ += kWord + switches_ * kSwitch;
      const bool capitals = uppers_ > 1 && uppers_ == letters_;
      const std::uint64_t easy = capitals ? 3 : kEasyLetters;
      if (letters_ > easy) total_ += (letters_ - easy) * (capitals ? kUpperMore : kLetterMore);
    }
    letters_ = digits_ = switches_ = uppers_ = 0;
  }

  void wide(unsigned char lead) {
    const bool cyrillic = lead >= 0xD0 && lead <= 0xD4;
    if (!cyrillic || letters_ + digits_ > 0) endWord();
    last_ = Kind::Other;
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (cyrillic) {
      ++cyrillic_;
    } else if (bytes == 4) {
      total_ += kEmoji;
    } else if (bytes == 3) {
      const auto second = at_ + 1 < text_.size() ? static_cast<unsigned char>(text_[at_ + 1]) : 0;
      const bool punctuation = lead == 0xEF || (lead == 0xE3 && second == 0x80) || (lead == 0xE2 && second <= 0x81);
      total_ += punctuation ? kWidePunctuation : kIdeograph;
    } else if (bytes == 2) {
      total_ += kOtherLetter;
    }
    at_ += bytes;
    // Most of a Chinese text.
    for (; at_ + 2 < text_.size() && isIdeograph(text_[at_]); at_ += 3) total_ += kIdeograph;
  }

  static bool isIdeograph(char lead) { return lead >= '\xE4' && lead <= '\xE9'; }

  std::string_view text_;
  bool escaped_;
  std::size_t at_ = 0;
  std::size_t wordBegin_ = 0;
  std::uint64_t total_ = 0;
  Kind last_ = Kind::Other;
  std::uint64_t run_ = 0;
  std::uint64_t letters_ = 0;
  std::uint64_t digits_ = 0;
  std::uint64_t uppers_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t cyrillic_ = 0;
};

// Of long texts, slices are enough: so many, of so many bytes, evenly spread.
constexpr std::size_t kSlices = 8;
constexpr std::size_t kSliceBytes = 128;

}  // namespace

std::uint64_t estimateText(std::string_view text, bool escaped) {
  if (text.size() <= 2 * kSlices * kSliceBytes) return (Estimator(text, escaped).run() + kUnit - 1) / kUnit;
  std::uint64_t sampled = 0;
  for (std::size_t i = 0; i < kSlices; ++i) {
    const std::size_t begin = (text.size() - kSliceBytes) / (kSlices - 1) * i;
    sampled += Estimator(text.substr(begin, kSliceBytes), escaped).run();
  }
  const std::uint64_t perByte = sampled / (kSlices * kSliceBytes / 64);  // in 64,000ths
  return perByte * (text.size() / 64) / kUnit + 1;
}

}  // namespace bough::context
