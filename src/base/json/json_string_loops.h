// Loops over the bytes of JSON strings; see base/bytes/compile_loops.h.

// Marks n, r, t, b and f: letters that may follow a backslash. \u is checked separately.
inline Bytes escapeLetters(Bytes x) {
  const Bytes br = equal(either(x, fillBytes('r' ^ 'b')), fillBytes('r'));
  const Bytes fn = equal(either(x, fillBytes('n' ^ 'f')), fillBytes('n'));
  return either(either(br, fn), equal(x, fillBytes('t')));
}
static_assert(('b' | ('r' ^ 'b')) == 'r' && ('f' | ('n' ^ 'f')) == 'n');

class StringSkipper {
 public:
  explicit StringSkipper(const char* end) : end_(end) {}

  // Processes a block whose bytes are at `at`. Returns true when the string ended there or is invalid.
  bool take(const ByteBlock& block, const char* at) {
#if !defined(__x86_64__)
    // One bit per byte takes several instructions here, and most blocks contain only plain text.
    if (!firstIsEscaped_ && !block.has<specialBytes>()) return false;
#endif
    const std::uint64_t backslashes = block.where('\\');
    const std::uint64_t quotes = block.where('"');
    std::uint64_t stops = block.whereInRange('\0', '\x1F');
    if (backslashes == 0 && !firstIsEscaped_) {
      stops |= quotes;
    } else {
      const std::uint64_t escaped = escapedBytes(backslashes, firstIsEscaped_);
      stops |= quotes & ~escaped;
      const std::uint64_t before = stops == 0 ? ~std::uint64_t{0} : (stops & -stops) - 1;
      found_.escapes |= (backslashes & before) != 0;
      const std::uint64_t odd = escaped & before & ~(quotes | backslashes | block.where<escapeLetters>());
      if (odd != 0 && !checkEscapes(odd, at)) return true;
      firstIsEscaped_ = (backslashes & ~escaped) >> 63 != 0;
    }
    if (stops != 0) close(at + std::countr_zero(stops));
    return stops != 0;
  }

  SkippedString open() { return fail(end_, "a string is not closed"); }
  [[nodiscard]] const SkippedString& found() const { return found_; }

 private:
  void close(const char* at) {
    if (*at == '"') {
      found_.at = at + 1;
    } else {
      fail(at, "a control character is in a string");
    }
  }

  bool checkEscapes(std::uint64_t rest, const char* at) {
    for (; rest != 0; rest &= rest - 1) {
      const char* const escape = at + std::countr_zero(rest);
      found_.oddEscapes = true;
      if (*escape == '/') continue;
      if (*escape != 'u') {
        fail(escape, "an unknown escape");
        return false;
      }
      if (end_ - escape < 5 || !isHexDigit(escape[1]) || !isHexDigit(escape[2]) || !isHexDigit(escape[3]) ||
          !isHexDigit(escape[4])) {
        fail(escape, "a broken \\u escape");
        return false;
      }
      if (escape[1] == 'd' || escape[1] == 'D') found_.surrogates = true;
    }
    return true;
  }

  SkippedString fail(const char* at, std::string_view reason) {
    found_.at = at;
    found_.reason = reason;
    return found_;
  }

  const char* end_;
  bool firstIsEscaped_ = false;
  SkippedString found_{.at = nullptr};
};

inline bool mayHoldSurrogates(std::string_view json) {
  const char* at = json.data();
  const char* const end = at + json.size();
  std::uint64_t before = 0;  // 1 when the previous byte is a backslash
  for (; end - at >= static_cast<std::ptrdiff_t>(ByteBlock::kSize); at += ByteBlock::kSize) {
    const ByteBlock block(at);
    const std::uint64_t backslashes = block.where('\\');
    if (((backslashes << 1 | before) & block.where('u')) != 0) return true;
    before = backslashes >> 63;
  }
  const std::string_view rest(at, end);
  return (before != 0 && rest.starts_with('u')) || rest.contains("\\u");
}

inline SkippedString skipLongString(const char* at, const char* end) {
  StringSkipper skipper(end);
  std::array<char, ByteBlock::kSize> last;
  for (;; at += ByteBlock::kSize) {
    const char* bytes = at;
    const bool whole = end - at >= static_cast<std::ptrdiff_t>(ByteBlock::kSize);
    if (!whole) {
      // The rest of the text, padded with a letter that may also follow a backslash, so that the padding is never
      // reported.
      last.fill('n');
      std::memcpy(last.data(), at, static_cast<std::size_t>(end - at));
      bytes = last.data();
    }
    if (skipper.take(ByteBlock(bytes), at)) return skipper.found();
    if (!whole) return skipper.open();
  }
}
