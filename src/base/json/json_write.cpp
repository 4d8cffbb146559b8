#include "base/json/json_write.h"

namespace bough::json {

void appendQuoted(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        out += "\\u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
    }
  }
  out.append(text.substr(plain));
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
