// Estimates the tokens of a text, 64 bytes at a time; see base/bytes/compile_loops.h.

// The kinds of the characters in 64 bytes, one bit per byte, the first byte in the lowest bit. Words, gaps and
// sequences are found for all bytes at once. A branch per byte would cost more, because the next byte is unpredictable.
struct KindBits {
  // Inlined into every loop: most results are used once, from a register.
  [[gnu::always_inline]] explicit KindBits(const ByteBlock& block) {
    lower = block.whereInRange('a', 'z');
    upper = block.whereInRange('A', 'Z');
    digit = block.whereInRange('0', '9');
    newline = block.where('\n') | block.where('\r');
    space = block.whereInRange('\0', ' ') & ~newline;
    wide = block.whereInRange('\x80', '\xFF');
    punctuation = ~(words() | newline | space | wide);
    backslash = block.where('\\');
    if (backslash == 0) return;
    lineLetters = block.where('n') | block.where('r');
    tabLetters = block.where('t');
    unicodeLetters = block.where('u');
  }

  /// Returns the kinds of the 64 bytes of `text` at `at`, or of the bytes left there.
  static KindBits of(std::string_view text, std::size_t at) {
    const std::size_t size = text.size() - at;
    if (size >= ByteBlock::kSize) return KindBits(ByteBlock(text.data() + at));
    if (text.size() >= ByteBlock::kSize) {
      KindBits kinds{ByteBlock(text.data() + text.size() - ByteBlock::kSize)};
      kinds.dropFirst(ByteBlock::kSize - size);
      return kinds;
    }
    std::array<char, ByteBlock::kSize> padded{};
    std::memcpy(padded.data(), text.data() + at, size);
    KindBits kinds{ByteBlock(padded.data())};
    kinds.keep(lowBits(size));
    return kinds;
  }

  void dropFirst(std::size_t count) {
    lower >>= count;
    upper >>= count;
    digit >>= count;
    newline >>= count;
    space >>= count;
    wide >>= count;
    punctuation >>= count;
    backslash >>= count;
    lineLetters >>= count;
    tabLetters >>= count;
    unicodeLetters >>= count;
  }
  void keep(std::uint64_t kept) {
    lower &= kept;
    upper &= kept;
    digit &= kept;
    newline &= kept;
    space &= kept;
    wide &= kept;
    punctuation &= kept;
    backslash &= kept;
  }
  [[nodiscard]] std::uint64_t words() const { return lower | upper | digit; }
  /// Where a word changes between letters and digits.
  [[nodiscard]] std::uint64_t digitSwitches() const {
    const std::uint64_t letters = lower | upper;
    return (digit & (letters << 1)) | (letters & (digit << 1));
  }
  /// Those, and where the case changes. A capital before small letters is not a change.
  [[nodiscard]] std::uint64_t switches() const {
    return digitSwitches() | (upper & (lower << 1)) | (lower & (upper << 1) & (upper << 2));
  }

  std::uint64_t lower;
  std::uint64_t upper;
  std::uint64_t digit;
  std::uint64_t newline;
  std::uint64_t space;  ///< Includes control characters.
  std::uint64_t wide;   ///< Bytes of non-ASCII characters.
  std::uint64_t punctuation;
  std::uint64_t backslash;  ///< Also counted as punctuation.
  // Letters that may follow a backslash; set only when the block contains a backslash.
  std::uint64_t lineLetters = 0;  ///< n and r.
  std::uint64_t tabLetters = 0;
  std::uint64_t unicodeLetters = 0;
};

class Estimator {
 public:
  Estimator(std::string_view text, bool escaped) : text_(text), escaped_(escaped) {}

  /// Returns thousandths of a token.
  std::uint64_t run() {
    while (at_ < text_.size()) {
      if (kindAt(at_) == Kind::Wide) {
        wideCharacters();
      } else {
        block();
      }
    }
    return total_;
  }

 private:
  [[nodiscard]] Kind kindAt(std::size_t at) const { return kKinds[static_cast<unsigned char>(text_[at])]; }

  // Processes the next 64 bytes, or those before something that is handled separately: a long word or a non-ASCII
  // character.
  void block() {
    const std::string_view rest = text_.substr(at_);
    KindBits kinds = KindBits::of(text_, at_);
    std::uint64_t uncounted = 0;
    std::size_t end = std::min(rest.size(), ByteBlock::kSize);
    if (escaped_ && kinds.backslash != 0) end = takeEscapes(rest.size(), kinds, uncounted);
    if (end == 0) {
      unicodeEscape();
      return;
    }
    if (kinds.wide != 0) end = std::min(end, firstBit(kinds.wide));
    end = endOfShortWords(kinds.words() & lowBits(end), end, rest.size());
    if (end == 0) {
      longWord();
      return;
    }
    kinds.keep(lowBits(end));
    addGaps(kinds, ~uncounted);
    addOddWords(kinds);
    addPlainWords(kinds);
    last_ = lastKind(kinds, std::uint64_t{1} << (end - 1));
    at_ += end;
  }

  // Gives both bytes of an escape the kind of the character that it represents, and marks the second byte as
  // `uncounted`. Returns the end of the block: before an escape that is longer, or that is not completely in the block.
  // A backslash at the end of the text represents itself.
  static std::size_t takeEscapes(std::size_t rest, KindBits& kinds, std::uint64_t& uncounted) {
    const std::size_t size = std::min(rest, ByteBlock::kSize);
    const std::uint64_t escaped = json::escapedBytes(kinds.backslash, false) & lowBits(size);
    const auto pairs = [](std::uint64_t seconds) { return seconds | seconds >> 1; };
    const std::uint64_t newlines = pairs(escaped & kinds.lineLetters);
    const std::uint64_t spaces = pairs(escaped & kinds.tabLetters);
    const std::uint64_t all = pairs(escaped);
    const std::uint64_t longer = escaped & kinds.unicodeLetters;
    const bool isCut = rest > size && (kinds.backslash & ~escaped) >> 63 != 0;
    kinds.keep(~all);
    kinds.newline |= newlines;
    kinds.space |= spaces;
    kinds.punctuation |= all & ~newlines & ~spaces;
    uncounted = escaped;
    return longer != 0 ? firstBit(longer) - 1 : size - (isCut ? 1 : 0);
  }

  // Returns the end of the words that are completely in the block, before the first long word.
  static std::size_t endOfShortWords(std::uint64_t words, std::size_t end, std::size_t rest) {
    if (end == ByteBlock::kSize && rest > end) end -= static_cast<std::size_t>(std::countl_one(words));
    std::uint64_t ends = words;  // ends of words of at least 2, 4, 8 and 16 characters
    for (std::size_t length = 1; length < kNoiseLength; length *= 2) ends &= ends << length;
    return ends == 0 ? end : std::min(end, firstBit(ends) + 1 - kNoiseLength);
  }

  void addGaps(const KindBits& kinds, std::uint64_t counted) {
    const std::uint64_t afterSpace = kinds.space << 1 | (last_ == Kind::Space ? 1 : 0);
    const std::uint64_t afterNewline = kinds.newline << 1 | (last_ == Kind::Newline ? 1 : 0);
    const std::uint64_t afterPunctuation = kinds.punctuation << 1 | (last_ == Kind::Punctuation ? 1 : 0);
    const std::uint64_t punctuation = kinds.punctuation & counted;
    const std::uint64_t newlines = kinds.newline & counted;
    total_ += countBits(kinds.space & counted & afterSpace) * kExtraSpace +
              countBits(punctuation & afterPunctuation) * kExtraPunctuation +
              countBits(punctuation & ~afterPunctuation) * kPunctuation +
              countBits(newlines & afterNewline) * kExtraNewline +
              countBits(newlines & afterPunctuation) * kNewlineAfterPunctuation +
              countBits(newlines & ~afterNewline & ~afterPunctuation) * kNewline;
  }

  // Adds words that mix letters and digits or contain consecutive capitals, one by one, because their cost depends on
  // the whole word. Removes them from `kinds`.
  void addOddWords(KindBits& kinds) {
    const std::uint64_t switches = kinds.switches();
    const std::uint64_t words = kinds.words();
    std::uint64_t odd = kinds.digitSwitches() | (kinds.upper & (kinds.upper << 1));
    std::uint64_t taken = 0;
    while (odd != 0) {
      const std::uint64_t before = lowBits(firstBit(odd));
      const auto begin = static_cast<std::size_t>(64 - std::countl_zero(before & ~words));
      const std::uint64_t from = words & ~lowBits(begin);
      const std::uint64_t word = from & ~(from + (std::uint64_t{1} << begin));
      total_ += Word{.letters = countBits((kinds.lower | kinds.upper) & word),
                     .digits = countBits(kinds.digit & word),
                     .uppers = countBits(kinds.upper & word),
                     .switches = countBits(switches & word)}
                    .cost();
      taken |= word;
      odd &= ~word;
    }
    kinds.keep(~taken);
  }

  // Adds numbers, and words of letters only, possibly with single capitals.
  void addPlainWords(const KindBits& kinds) {
    const std::uint64_t letters = kinds.lower | kinds.upper;
    const std::uint64_t pairs = letters & (letters << 1);
    const std::uint64_t fours = pairs & (pairs << 2);
    const std::uint64_t beyondEasy = fours & (pairs << 4) & (letters << kEasyLetters);
    total_ += countBits(letters & ~(letters << 1)) * kWord + countBits(kinds.switches()) * kSwitch +
              countBits(beyondEasy) * kExtraLetter;
    const std::uint64_t triples = kinds.digit & (kinds.digit << 1) & (kinds.digit << 2);
    for (std::uint64_t begins = kinds.digit & ~(kinds.digit << 1); begins != 0; begins = (begins << 3) & triples) {
      total_ += countBits(begins) * kThreeDigits;
    }
  }

  static Kind lastKind(const KindBits& kinds, std::uint64_t last) {
    if ((kinds.space & last) != 0) return Kind::Space;
    if ((kinds.newline & last) != 0) return Kind::Newline;
    return (kinds.punctuation & last) != 0 ? Kind::Punctuation : Kind::Lower;
  }

  // Goes character by character: once the word is noise, some punctuation is part of it.
  void longWord() {
    const std::size_t begin = at_;
    Word word;
    std::uint64_t run = 0;
    for (; at_ < text_.size(); ++at_) {
      if (escaped_ && text_.substr(at_, 2) == R"(\/)" && word.isNoise()) ++at_;
      const Kind kind = kindAt(at_);
      if (kind == Kind::Punctuation && joinsNoise(text_[at_]) && word.isNoise()) {
        ++word.letters;
        ++word.switches;
      } else if (kind <= Kind::Digit) {
        if (word.length() > 0 && (kind == Kind::Digit) != (last_ == Kind::Digit)) ++word.switches;
        if (kind == Kind::Upper && last_ == Kind::Lower) ++word.switches;
        if (kind == Kind::Lower && last_ == Kind::Upper && run > 1) ++word.switches;
        run = last_ == kind ? run + 1 : 1;
        ++(kind == Kind::Digit ? word.digits : word.letters);
        if (kind == Kind::Upper) ++word.uppers;
      } else {
        break;
      }
      last_ = kind;
    }
    total_ += word.isNoise() ? noiseCost(word, text_.substr(begin, at_ - begin)) : word.cost();
  }

  static std::uint64_t noiseCost(const Word& word, std::string_view text) {
    std::uint64_t repeated = 0;  // letters and digits that equal the previous character
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == text[i - 1] && kKinds[static_cast<unsigned char>(text[i])] <= Kind::Digit) ++repeated;
    }
    return (word.length() - repeated) * kNoise + repeated * kNoiseRepeated;
  }

  void unicodeEscape() {
    total_ += kOtherLetter;
    last_ = Kind::Wide;
    at_ += 6;
  }

  // Processes all non-ASCII characters that follow.
  void wideCharacters() {
    std::uint64_t cyrillic = 0;
    while (at_ < text_.size() && kindAt(at_) == Kind::Wide) {
      const auto lead = static_cast<unsigned char>(text_[at_]);
      if (lead >= 0xD0 && lead <= 0xD4) {
        ++cyrillic;
        at_ += 2;
        continue;
      }
      total_ += cyrillicCost(cyrillic);
      cyrillic = 0;
      wideCharacter(lead);
      // Most of a Chinese text.
      for (; at_ + 2 < text_.size() && isIdeograph(text_[at_]); at_ += 3) total_ += kIdeograph;
    }
    total_ += cyrillicCost(cyrillic);
    last_ = Kind::Wide;
  }

  static bool isIdeograph(char lead) { return lead >= '\xE4' && lead <= '\xE9'; }

  static std::uint64_t cyrillicCost(std::uint64_t letters) {
    constexpr std::uint64_t kEasy = 3;
    return letters == 0 ? 0 : kCyrillicWord + (std::max(letters, kEasy) - kEasy) * kExtraCyrillic;
  }

  void wideCharacter(unsigned char lead) {
    if (lead >= 0xF0) {
      total_ += kEmoji;
      at_ += 4;
    } else if (lead >= 0xE0) {
      const auto second = at_ + 1 < text_.size() ? static_cast<unsigned char>(text_[at_ + 1]) : 0;
      const bool punctuation = lead == 0xEF || (lead == 0xE3 && second == 0x80) || (lead == 0xE2 && second <= 0x81);
      total_ += punctuation ? kWidePunctuation : kIdeograph;
      at_ += 3;
    } else if (lead >= 0xC0) {
      total_ += kOtherLetter;
      at_ += 2;
    } else {
      ++at_;
    }
  }

  std::string_view text_;
  bool escaped_;
  std::size_t at_ = 0;
  std::uint64_t total_ = 0;
  Kind last_ = Kind::Wide;
};

// Long texts are sampled: so many slices of so many bytes, evenly spread.
constexpr std::size_t kSlices = 8;
constexpr std::size_t kSliceBytes = 128;

inline std::uint64_t estimateText(std::string_view text, bool escaped) {
  if (text.size() <= 2 * kSlices * kSliceBytes) return (Estimator(text, escaped).run() + kUnit - 1) / kUnit;
  std::uint64_t sampled = 0;
  for (std::size_t i = 0; i < kSlices; ++i) {
    const std::size_t begin = (text.size() - kSliceBytes) / (kSlices - 1) * i;
    sampled += Estimator(text.substr(begin, kSliceBytes), escaped).run();
  }
  const std::uint64_t perByte = sampled / (kSlices * kSliceBytes / 64);  // in 64,000ths of a token
  return perByte * (text.size() / 64) / kUnit + 1;
}
