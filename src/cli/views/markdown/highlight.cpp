#include "cli/views/markdown/highlight.h"

#include <algorithm>
#include <array>

namespace bough::cli {

struct Highlighter::Language {
  std::string_view names;
  std::string_view lineComment;
  std::string_view commentBegin;
  std::string_view commentEnd;
  std::string_view quotes;
  std::string_view longQuote;  ///< The quote of strings that span lines.
  std::string_view keywords;
  bool tags = false;  ///< A name after < is a keyword.
  bool anyCase = false;
};

namespace {

constexpr auto kLanguages = std::to_array<Highlighter::Language>({
    {" c h cpp c++ cc cxx hpp objc java kotlin kt swift cs csharp scala dart proto ", "//", "/*", "*/", "\"'", "",
     " abstract alignas async auto await bool boolean break case catch char class co_await co_return co_yield concept "
     "const "
     "constexpr consteval continue default delete do double else enum explicit export extends extern false final float "
     "for "
     "friend fun func goto if implements import in inline instanceof int interface let long mutable namespace new nil "
     "noexcept "
     "null nullptr operator override package private protected public register requires return short signed sizeof "
     "static "
     "struct super switch template this throw throws true try typedef typename union unsigned using val var virtual "
     "void "
     "volatile when while message repeated optional "},
    {" js javascript jsx ts typescript tsx mjs cjs ", "//", "/*", "*/", "\"'", "`",
     " abstract any as async await boolean break case catch class const continue debugger declare default delete do "
     "else enum "
     "export extends false finally for from function get if implements import in instanceof interface keyof let module "
     "new "
     "null number of private protected public readonly return set static string super switch this throw true try type "
     "typeof "
     "undefined unknown var void while with yield "},
    {" go golang ", "//", "/*", "*/", "\"'", "`",
     " break case chan const continue default defer else fallthrough false for func go goto if import interface map "
     "nil package "
     "range return select struct switch true type var string int bool error byte rune float64 int64 "},
    {" rust rs ", "//", "/*", "*/", "\"", "",
     " as async await bool break const continue crate dyn else enum extern false fn for if impl in let loop match mod "
     "move mut "
     "pub ref return self Self static str String struct super trait true type u8 u32 u64 i32 i64 usize unsafe use "
     "where while "},
    {" python py python3 ", "#", "", "", "\"'", "\"\"\"",
     " False None True and as assert async await break case class continue def del elif else except finally for from "
     "global if "
     "import in is lambda match nonlocal not or pass raise return self try while with yield "},
    {" sh bash zsh shell console fish dockerfile makefile make ", "#", "", "", "\"'", "",
     " case cd do done echo elif else esac exit export fi for function if in local return set source then until while "
     "sudo FROM "
     "RUN COPY CMD ENV ENTRYPOINT WORKDIR ARG EXPOSE end "},
    {" ruby rb ", "#", "", "", "\"'", "",
     " and begin break case class def do else elsif end ensure false for if in module next nil not or raise require "
     "rescue "
     "return self then true unless until when while yield "},
    {" php ", "//", "/*", "*/", "\"'", "",
     " array as break case catch class const continue default echo else elseif extends false final finally for foreach "
     "function "
     "global if implements interface namespace new null private protected public require return static switch throw "
     "true try "
     "use var while "},
    {" lua ", "--", "--[[", "]]", "\"'", "",
     " and break do else elseif end false for function goto if in local nil not or repeat return then true until "
     "while "},
    {" json jsonc jsonl json5 ", "//", "/*", "*/", "\"", "", " true false null "},
    {" yaml yml toml ini cfg conf properties ", "#", "", "", "\"'", "", " true false null yes no on off "},
    {" sql psql postgres sqlite mysql ", "--", "/*", "*/", "'\"", "",
     " add all alter and as asc begin between by case check commit constraint create cross default delete desc "
     "distinct drop else "
     "end exists explain foreign from full group having if in index inner insert integer into is join key left like "
     "limit not "
     "null on or order outer primary references returning right rollback select set table text then union unique "
     "update using "
     "values view when where with ",
     false, true},
    {" html xml svg vue svelte ", "", "<!--", "-->", "\"'", "", " ", true},
    {" css scss less ", "", "/*", "*/", "\"'", "", " important media import keyframes "},
    {" cmake ", "#", "#[[", "]]", "\"", "",
     " if else elseif endif foreach endforeach function endfunction macro endmacro set list include project "
     "find_package "
     "add_library add_executable target_link_libraries while endwhile return ",
     false, true},
});

constexpr Highlighter::Language kDiff{" diff patch ", "", "", "", "", "", ""};

bool isLetter(char c) {
  return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return out;
}

}  // namespace

Highlighter::Highlighter(std::string_view language) {
  if (language.empty() || language.find(' ') != std::string_view::npos) return;
  const std::string name = " " + lowered(language) + " ";
  if (kDiff.names.find(name) != std::string_view::npos) language_ = &kDiff;
  for (const Language& each : kLanguages) {
    if (each.names.find(name) != std::string_view::npos) language_ = &each;
  }
  if (language_ == nullptr) return;
  std::string_view words = language_->keywords;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0) keywords_.insert(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

std::vector<Span> Highlighter::line(std::string_view text) {
  spans_.clear();
  at_ = 0;
  before_ = ' ';
  if (language_ == nullptr) {
    put(text, kPlain);
  } else if (language_ == &kDiff) {
    const char mark = text.empty() ? ' ' : text.front();
    put(text, mark == '+' ? kAdded : mark == '-' ? kRemoved : mark == '@' ? kPlace : kPlain);
  } else {
    while (at_ < text.size()) step(text);
  }
  return std::move(spans_);
}

void Highlighter::step(std::string_view text) {
  const std::string_view rest = text.substr(at_);
  if (!until_.empty()) {
    const std::size_t end = rest.find(until_);
    if (end == std::string_view::npos) {
      put(rest, untilStyle_);
      return;
    }
    put(rest.substr(0, end + until_.size()), untilStyle_);
    until_ = {};
    return;
  }
  if (comment(rest) || string(rest)) return;
  if (isLetter(rest.front()) || isDigit(rest.front())) {
    word(rest);
  } else {
    put(rest.substr(0, 1), kPlain);
  }
}

bool Highlighter::comment(std::string_view rest) {
  if (!language_->commentBegin.empty() && rest.starts_with(language_->commentBegin)) {
    put(language_->commentBegin, kComment);
    until_ = language_->commentEnd;
    untilStyle_ = kComment;
    return true;
  }
  if (language_->lineComment.empty() || !rest.starts_with(language_->lineComment)) return false;
  if (language_->lineComment == "#" && before_ != ' ' && before_ != '\t' && before_ != ';') return false;
  put(rest, kComment);
  return true;
}

bool Highlighter::string(std::string_view rest) {
  if (!language_->longQuote.empty() && rest.starts_with(language_->longQuote)) {
    put(language_->longQuote, kString);
    until_ = language_->longQuote;
    untilStyle_ = kString;
    return true;
  }
  if (language_->quotes.find(rest.front()) == std::string_view::npos) return false;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\') {
      ++i;
    } else if (rest[i] == rest.front()) {
      put(rest.substr(0, i + 1), kString);
      return true;
    }
  }
  // An unpaired quote, as in "don't", does not begin a string. Then the other quotes of this line are not examined
  // either.
  put(rest.substr(0, 1), kPlain);
  if (rest.find(rest.front(), 1) == std::string_view::npos) return true;
  put(rest.substr(1), kPlain);
  return true;
}

void Highlighter::word(std::string_view rest) {
  std::size_t size = 1;
  while (size < rest.size() &&
         (isLetter(rest[size]) || isDigit(rest[size]) || (isDigit(rest.front()) && rest[size] == '.'))) {
    ++size;
  }
  const std::string_view name = rest.substr(0, size);
  const bool tag = language_->tags && (before_ == '<' || before_ == '/');
  const bool key = keywords_.contains(name) || (language_->anyCase && keywords_.contains(lowered(name)));
  put(name, isDigit(name.front()) ? kNumber : tag || key ? kKeyword : kPlain);
}

void Highlighter::put(std::string_view text, unsigned style) {
  at_ += text.size();
  if (text.empty()) return;
  before_ = text.back();
  if (!spans_.empty() && spans_.back().style == style) {
    spans_.back().text += text;
  } else {
    spans_.push_back({std::string(text), style});
  }
}

}  // namespace bough::cli
