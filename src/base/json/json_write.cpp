#include "base/json/json_write.h"

#include "base/json/json_grammar.h"

namespace bough::json {

namespace {

// Returns the letter that represents a character after a backslash; 0 when there is none.
constexpr char escapeLetter(char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

void appendEscape(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (const char letter = escapeLetter(c)) {
    const char escape[] = {'\\', letter};
    out.append(escape, sizeof escape);
  } else {
    const char escape[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
    out.append(escape, sizeof escape);
  }
}

}  // namespace

void appendQuoted(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  out += '"';
  for (;; ++at) {
    const char* const stop = skipPlain(at, end);
    out.append(at, static_cast<std::size_t>(stop - at));
    if (stop == end) break;
    appendEscape(out, *stop);
    at = stop;
  }
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  appendQuoted(out, text);
  return out;
}

void Writer::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

Writer& Writer::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

Writer& Writer::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  appendQuoted(out_, name);
  out_ += ':';
  comma_ = false;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  appendQuoted(out_, text);
  return *this;
}

Writer& Writer::raw(std::string_view value) {
  separate();
  out_ += value;
  return *this;
}

}  // namespace bough::json
