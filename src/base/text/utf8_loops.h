// Loops over UTF-8; see base/bytes/compile_loops.h.

// Where characters begin and continue within a block. Leads of four bytes, and leads that limit the next byte, are not
// recognized: text with these is checked character by character.
class Characters {
 public:
  explicit Characters(const ByteBlock& block)
      : ascii_(block.whereInRange('\x00', '\x7F')),
        more_(block.whereInRange('\x80', '\xBF')),
        twos_(block.whereInRange('\xC2', '\xDF')),
        threes_(block.whereInRange('\xE1', '\xEF') & ~block.where('\xED')) {}

  // Returns true when all characters here are complete. `owed` marks the first bytes, which continue a character of the
  // previous block.
  [[nodiscard]] bool areWhole(std::uint64_t owed) const {
    return more_ == ((twos_ | threes_) << 1 | threes_ << 2 | owed) && (ascii_ | more_ | twos_ | threes_) == ~kNone;
  }
  // Returns which first bytes of the next block must continue a character.
  [[nodiscard]] std::uint64_t owed() const { return (twos_ | threes_) >> 63 | threes_ >> 62; }

 private:
  static constexpr std::uint64_t kNone = 0;

  std::uint64_t ascii_;
  std::uint64_t more_;
  std::uint64_t twos_;
  std::uint64_t threes_;
};

inline bool isUtf8(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t owed = 0;  // first bytes of the next block that must continue a character
  std::array<char, ByteBlock::kSize> padded;
  while (at < end) {
    const std::size_t size = std::min(static_cast<std::size_t>(end - at), ByteBlock::kSize);
    if (size < ByteBlock::kSize) {
      // The bytes before the rest were already checked, so the last 64 bytes of the text may be tested together.
      if (owed == 0 && text.size() >= ByteBlock::kSize && ByteBlock(end - ByteBlock::kSize).isAscii()) return true;
      padded.fill('\0');
      std::memcpy(padded.data(), at, size);
    }
    const ByteBlock block(size < ByteBlock::kSize ? padded.data() : at);
    if (owed != 0 || !block.isAscii()) {
      const Characters found(block);
      if (!found.areWhole(owed)) {
        at = skipCharacters(owed == 0 ? at : leadBefore(at), at + size, end);
        if (at == nullptr) return false;
        owed = 0;
        continue;
      }
      owed = found.owed();
    }
    at += size;
  }
  return owed == 0;
}
