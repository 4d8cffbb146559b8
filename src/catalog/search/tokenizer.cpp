#include "catalog/search/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "catalog/database/database.h"

namespace bough::catalog {

enum class CharacterClass : std::uint8_t { Unknown, Separator, Letter, Mark, Alone };

// The class of a character, and its folded form.
struct Character {
  CharacterClass kind = CharacterClass::Unknown;
  std::uint8_t length = 0;
  std::array<char, 14> folded{};
};

namespace {

/// Longer words are cut to this length.
constexpr std::size_t kMaxWordBytes = 96;

/// The result of cutWords begins with this byte. Before each word comes a byte with its length.
constexpr char kCut = '\x01';

struct CodeRange {
  utf8proc_int32_t first;
  utf8proc_int32_t last;
};

// Scripts without blanks between words, and Hangul, where particles are attached to the words.
constexpr CodeRange kAlone[] = {
    {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF},   {0x2E80, 0x2FDF},   {0x3005, 0x3007},   {0x3021, 0x3029},
    {0x3040, 0x318F}, {0x31A0, 0x31BF}, {0x31F0, 0x31FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x1B000, 0x1B16F}, {0x1F000, 0x1FAFF}, {0x20000, 0x3FFFF}, {0x2600, 0x27BF}};

bool standsAlone(utf8proc_int32_t point) {
  for (const CodeRange& range : kAlone) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

Character classify(utf8proc_int32_t point) {
  Character made;
  const utf8proc_category_t category = utf8proc_category(point);
  const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
  const bool mark = category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
  const bool digit = category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
  const bool alone = standsAlone(point) && (letter || mark || digit || category == UTF8PROC_CATEGORY_SO);
  if (!letter && !mark && !digit && !alone) {
    made.kind = CharacterClass::Separator;
    return made;
  }
  made.kind = alone ? CharacterClass::Alone : mark ? CharacterClass::Mark : CharacterClass::Letter;
  if (mark && !alone) return made;
  // In scripts where every character is a word, a mark makes a different letter (が is not か). Elsewhere marks are
  // ignored.
  const auto options = static_cast<utf8proc_option_t>(  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange): flags
      UTF8PROC_STABLE | UTF8PROC_COMPAT | (alone ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK) |
      UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  std::array<utf8proc_uint8_t, 8> text{};
  const utf8proc_ssize_t length = utf8proc_encode_char(point, text.data());
  utf8proc_uint8_t* folded = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(text.data(), length, &folded, options);
  const bool usable = size > 0 && size <= static_cast<utf8proc_ssize_t>(made.folded.size());
  const void* bytes = usable ? folded : text.data();
  made.length = static_cast<std::uint8_t>(usable ? size : length);
  std::memcpy(made.folded.data(), bytes, made.length);
  std::free(folded);
  return made;
}

}  // namespace

// Caches the class of each character after its first lookup.
class Characters {
 public:
  const Character& at(utf8proc_int32_t point) {
    if (point < 0 || static_cast<std::size_t>(point) >= kKept) return scratch_ = classify(point);
    if (known_.empty()) known_.resize(kKept);
    Character& found = known_[static_cast<std::size_t>(point)];
    if (found.kind == CharacterClass::Unknown) found = classify(point);
    return found;
  }

 private:
  static constexpr std::size_t kKept = 0x10000;
  std::vector<Character> known_;
  Character scratch_;
};

namespace {

constexpr std::array<char, 128> makeAscii() {
  std::array<char, 128> table{};
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = c;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = static_cast<char>(c + ('a' - 'A'));
  for (char c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = c;
  return table;
}
constexpr std::array<char, 128> kAscii = makeAscii();

class Tokenizer {
 public:
  // Calls `use(word, begin, end)` for each word until it returns something other than SQLITE_OK.
  template <typename Use>
  int run(std::string_view text, Use use) {
    const char* bytes = text.data();
    const std::size_t size = text.size();
    std::array<char, kMaxWordBytes + 16> word{};
    std::size_t length = 0;
    std::size_t begin = 0;
    std::size_t at = 0;
    int status = SQLITE_OK;
    const auto flush = [&](std::size_t end) {
      if (length > 0) status = use(std::string_view(word.data(), length), begin, end);
      length = 0;
    };
    while (at < size && status == SQLITE_OK) {
      const auto first = static_cast<unsigned char>(bytes[at]);
      if (first < 0x80) {
        const char folded = kAscii[first];
        if (folded == 0) {
          flush(at);
        } else {
          if (length == 0) begin = at;
          if (length < kMaxWordBytes) word[length++] = folded;
        }
        ++at;
        continue;
      }
      utf8proc_int32_t point = 0;
      const utf8proc_ssize_t step = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(bytes + at),
                                                     static_cast<utf8proc_ssize_t>(size - at), &point);
      if (step <= 0) {
        flush(at);
        ++at;
        continue;
      }
      const Character& character = characters_.at(point);
      const std::size_t next = at + static_cast<std::size_t>(step);
      if (character.kind == CharacterClass::Alone) {
        flush(at);
        if (status == SQLITE_OK) status = use({character.folded.data(), character.length}, at, next);
      } else if (character.kind == CharacterClass::Separator) {
        flush(at);
      } else {
        if (length == 0) begin = at;
        if (length < kMaxWordBytes) {
          std::memcpy(word.data() + length, character.folded.data(), character.length);
          length += character.length;
        }
      }
      at = next;
    }
    if (status == SQLITE_OK) flush(size);
    return status;
  }

 private:
  Characters characters_;
};

int create(void*, const char**, int, Fts5Tokenizer** made) {
  return runCallback([&] {
    *made = reinterpret_cast<Fts5Tokenizer*>(new Tokenizer);
    return SQLITE_OK;
  });
}

void destroy(Fts5Tokenizer* tokenizer) {
  delete reinterpret_cast<Tokenizer*>(tokenizer);
}

using TakeToken = int (*)(void*, int, const char*, int, int, int);

// The index does not use the positions of words in the text.
int replay(std::string_view cut, void* context, TakeToken token) {
  int status = SQLITE_OK;
  for (std::size_t at = 0; at < cut.size() && status == SQLITE_OK;) {
    const std::size_t length = std::min<std::size_t>(static_cast<unsigned char>(cut[at]), cut.size() - at - 1);
    ++at;
    status = token(context, 0, cut.data() + at, static_cast<int>(length), 0, 0);
    at += length;
  }
  return status;
}

int tokenize(Fts5Tokenizer* tokenizer, void* context, int reason, const char* text, int bytes, TakeToken token) {
  if (text == nullptr || bytes <= 0) return SQLITE_OK;
  if (reason == FTS5_TOKENIZE_DOCUMENT && *text == kCut) {
    return replay({text + 1, static_cast<std::size_t>(bytes) - 1}, context, token);
  }
  return runCallback([&] {
    return reinterpret_cast<Tokenizer*>(tokenizer)->run(
        {text, static_cast<std::size_t>(bytes)}, [&](std::string_view word, std::size_t begin, std::size_t end) {
          return token(context, 0, word.data(), static_cast<int>(word.size()), static_cast<int>(begin),
                       static_cast<int>(end));
        });
  });
}

}  // namespace

bool registerTokenizer(fts5_api& api) {
  fts5_tokenizer tokenizer{.xCreate = create, .xDelete = destroy, .xTokenize = tokenize};
  return api.xCreateTokenizer(&api, "bough", nullptr, &tokenizer, nullptr) == SQLITE_OK;
}

std::string cutWords(std::string_view text) {
  thread_local Tokenizer tokenizer;  // keeps its cache of characters
  std::string cut(1, kCut);
  cut.reserve(text.size() + text.size() / 4);
  tokenizer.run(text, [&](std::string_view word, std::size_t, std::size_t) {
    cut += static_cast<char>(word.size());
    cut += word;
    return SQLITE_OK;
  });
  return cut;
}

void eachWord(std::string_view text, const std::function<void(std::string_view)>& use) {
  thread_local Tokenizer tokenizer;  // keeps its cache of characters
  tokenizer.run(text, [&](std::string_view word, std::size_t, std::size_t) {
    use(word);
    return SQLITE_OK;
  });
}

bool hasWord(std::string_view text) {
  bool any = false;
  Tokenizer().run(text, [&](std::string_view, std::size_t, std::size_t) {
    any = true;
    return SQLITE_DONE;
  });
  return any;
}

struct Folding::Known {
  Characters characters;
};
Folding::Folding() : known_(std::make_unique<Known>()) {}
Folding::~Folding() = default;

Folding::Character Folding::at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {.folded = {&kAscii[first], kAscii[first] == 0 ? std::size_t{0} : std::size_t{1}}};
  utf8proc_int32_t point = 0;
  const utf8proc_ssize_t step = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                                 static_cast<utf8proc_ssize_t>(text.size() - at), &point);
  if (step <= 0) return {};
  const catalog::Character& found = known_->characters.at(point);
  return {.folded = {found.folded.data(), found.length},
          .isMark = found.kind == CharacterClass::Mark,
          .bytes = static_cast<std::size_t>(step)};
}

}  // namespace bough::catalog
