// The estimator itself. A tokenizer of the o200k family cuts text into words, numbers, punctuation and blanks, and
// those into pieces that are frequent. So the cost of a run of characters depends on its kind and length; the figures
// were fitted to o200k (benchmarks/token_error.mjs shows the error).
#include <algorithm>
#include <array>

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

class Estimator {
 public:
  Estimator(std::string_view text, bool escaped) : text_(text), escaped_(escaped) {}

  /// In thousandths.
  std::uint64_t run() {
    while (at_ < text_.size()) {
      // What text is mostly made of: further small letters of a word, further blanks.
      if (last_ == Kind::Lower) moreLetters();
      if (last_ == Kind::Space) moreSpaces();
      if (at_ < text_.size()) step();
    }
    endWord();
    return total_;
  }

 private:
  [[nodiscard]] Kind kindAt(std::size_t at) const { return kKinds[static_cast<unsigned char>(text_[at])]; }

  void moreLetters() {
    const std::size_t begin = at_;
    for (; at_ < text_.size() && kindAt(at_) == Kind::Lower; ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      repeated_ += c == lastChar_ ? 1 : 0;
      lastChar_ = c;
    }
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
      at_ += 4;
      endWord();
      last_ = Kind::Other;
      total_ += kOtherLetter;
    } else {
      narrow(Kind::Punctuation, static_cast<unsigned char>(what));
    }
  }

  void narrow(Kind kind, unsigned char c) {
    if (kind <= Kind::Digit) {
      letter(kind, c);
    } else if (kind == Kind::Punctuation && isNoise() && (c == '+' || c == '/' || c == '=' || c == '_' || c == '-')) {
      ++letters_;
      ++switches_;
    } else {
      endWord();
      total_ += gap(kind);
    }
    last_ = kind;
    lastChar_ = c;
  }

  [[nodiscard]] std::uint64_t gap(Kind kind) const {
    if (kind == Kind::Space) return last_ == Kind::Space ? kSpaceMore : 0;
    if (kind == Kind::Punctuation) return last_ == Kind::Punctuation ? kPunctuationMore : kPunctuation;
    if (last_ == Kind::Newline) return kNewlineMore;
    return last_ == Kind::Punctuation ? kNewlineBehindPunctuation : kNewline;
  }

  void letter(Kind kind, unsigned char c) {
    if (cyrillic_ > 0) endWord();
    if (letters_ + digits_ > 0 && (kind == Kind::Digit) != (last_ == Kind::Digit)) ++switches_;
    if (kind == Kind::Upper && last_ == Kind::Lower) ++switches_;
    if (kind == Kind::Lower && last_ == Kind::Upper && run_ > 1) ++switches_;
    run_ = last_ == kind ? run_ + 1 : 1;
    if (c == lastChar_) ++repeated_;
    ++(kind == Kind::Digit ? digits_ : letters_);
    if (kind == Kind::Upper) ++uppers_;
  }

  // Hashes, keys and base64 are not words.
  [[nodiscard]] bool isNoise() const {
    const std::uint64_t length = letters_ + digits_;
    return length >= kNoiseLength && switches_ * 6 > length;
  }

  void endWord() {
    if (cyrillic_ > 0) total_ += kCyrillicWord + (cyrillic_ > 3 ? (cyrillic_ - 3) * kCyrillicMore : 0);
    cyrillic_ = 0;
    if (letters_ + digits_ == 0) return;
    if (isNoise()) {
      total_ += (letters_ + digits_ - repeated_) * kNoise + repeated_ * kNoiseRepeated;
    } else {
      total_ += (digits_ + 2) / 3 * kThreeDigits;
      if (letters_ > 0) total_ += kWord + switches_ * kSwitch;
      const bool capitals = uppers_ > 1 && uppers_ == letters_;
      const std::uint64_t easy = capitals ? 3 : 6;
      if (letters_ > easy) total_ += (letters_ - easy) * (capitals ? kUpperMore : kLetterMore);
    }
    letters_ = digits_ = switches_ = uppers_ = repeated_ = 0;
  }

  void wide(unsigned char lead) {
    const bool cyrillic = lead >= 0xD0 && lead <= 0xD4;
    if (!cyrillic || letters_ + digits_ > 0) endWord();
    last_ = Kind::Other;
    lastChar_ = 0;
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
  }

  std::string_view text_;
  bool escaped_;
  std::size_t at_ = 0;
  std::uint64_t total_ = 0;
  Kind last_ = Kind::Other;
  unsigned char lastChar_ = 0;
  std::uint64_t run_ = 0;
  std::uint64_t letters_ = 0;
  std::uint64_t digits_ = 0;
  std::uint64_t uppers_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t repeated_ = 0;
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
