// The estimator itself. A tokenizer of the o200k family cuts text into words, numbers, punctuation and blanks, and
// those into pieces that are frequent. So the cost of a run of characters depends on its kind and length; the figures
// were fitted to o200k (benchmarks/token_error.mjs shows the error).
#include "context/tokens.h"

#include <array>

namespace bough::context {
namespace {

enum class Kind : std::uint8_t { Lower, Upper, Digit, Space, Newline, Punctuation, Other };

constexpr std::array<Kind, 128> makeKinds() {
  std::array<Kind, 128> kinds{};
  for (std::size_t c = 0; c < 128; ++c) {
    if (c >= 'a' && c <= 'z') {
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

class Estimator {
 public:
  explicit Estimator(std::string_view text, bool escaped) : text_(text), escaped_(escaped) {}

  std::uint64_t run() {
    while (at_ < text_.size()) step();
    endWord();
    return (total_ + kUnit - 1) / kUnit;
  }

 private:
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
    narrow(kKinds[c]);
  }

  void escape() {
    const char what = text_[at_ + 1];
    at_ += 2;
    if (what == 'n' || what == 'r') {
      narrow(Kind::Newline);
    } else if (what == 't') {
      narrow(Kind::Space);
    } else if (what == 'u') {
      at_ += 4;
      endWord();
      total_ += kUnit / 2;
    } else {
      narrow(Kind::Punctuation);
    }
  }

  void narrow(Kind kind) {
    switch (kind) {
      case Kind::Lower:
      case Kind::Upper:
      case Kind::Digit: word(kind); break;
      case Kind::Space:
        endWord();
        if (last_ == Kind::Space) total_ += kSpaceMore;
        break;
      case Kind::Newline:
        endWord();
        total_ += last_ == Kind::Newline ? kNewlineMore : last_ == Kind::Punctuation ? kNewlineMore * 3 : kNewline;
        break;
      default: endWord(); total_ += last_ == Kind::Punctuation ? kPunctuationMore : kPunctuation;
    }
    last_ = kind;
  }

  void word(Kind kind) {
    if (letters_ + digits_ > 0 && (kind == Kind::Digit) != (last_ == Kind::Digit)) ++switches_;
    if (kind == Kind::Upper && last_ == Kind::Lower) ++switches_;
    if (kind == Kind::Lower && last_ == Kind::Upper && run_ > 1) ++switches_;
    run_ = last_ == kind ? run_ + 1 : 1;
    ++(kind == Kind::Digit ? digits_ : letters_);
    if (kind == Kind::Upper) ++uppers_;
  }

  void endWord() {
    const std::uint64_t length = letters_ + digits_;
    if (length == 0) return;
    // Hashes, keys and base64 are no words: two characters a token, or fewer.
    if (length >= kNoise && switches_ * 6 > length) {
      total_ += length * kNoisePerChar;
    } else {
      total_ += (digits_ + 2) / 3 * kUnit;
      if (letters_ > 0) {
        total_ += kUnit + switches_ * kSwitch;
        const std::uint64_t easy = uppers_ > 1 && uppers_ == letters_ ? 3 : 6;
        if (letters_ > easy) total_ += (letters_ - easy) * kLetterMore;
      }
    }
    letters_ = digits_ = switches_ = uppers_ = 0;
  }

  void wide(unsigned char lead) {
    endWord();
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    at_ += bytes;
    last_ = Kind::Other;
    total_ += bytes == 4 ? kEmoji : bytes == 3 ? kIdeograph : lead >= 0xD0 && lead <= 0xD3 ? kCyrillic : kLatin;
  }

  static constexpr std::uint64_t kSpaceMore = 120;
  static constexpr std::uint64_t kNewline = 700;
  static constexpr std::uint64_t kNewlineMore = 200;
  static constexpr std::uint64_t kPunctuation = 800;
  static constexpr std::uint64_t kPunctuationMore = 350;
  static constexpr std::uint64_t kLetterMore = 130;
  static constexpr std::uint64_t kSwitch = 500;
  static constexpr std::uint64_t kNoise = 16;
  static constexpr std::uint64_t kNoisePerChar = 620;
  static constexpr std::uint64_t kCyrillic = 300;
  static constexpr std::uint64_t kLatin = 500;
  static constexpr std::uint64_t kIdeograph = 750;
  static constexpr std::uint64_t kEmoji = 1800;

  std::string_view text_;
  bool escaped_;
  std::size_t at_ = 0;
  std::uint64_t total_ = 0;
  Kind last_ = Kind::Other;
  std::uint64_t run_ = 0;
  std::uint64_t letters_ = 0;
  std::uint64_t digits_ = 0;
  std::uint64_t uppers_ = 0;
  std::uint64_t switches_ = 0;
};

}  // namespace

std::uint64_t estimateText(std::string_view text, bool escaped) {
  return Estimator(text, escaped).run();
}

}  // namespace bough::context
