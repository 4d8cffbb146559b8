// Writes JSON by appending to a string, and splices raw values in between without touching them.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace bough::json {

/// Appends `text` as a JSON string. Bytes above 0x7F pass unchanged; they must be valid UTF-8 already.
void appendQuoted(std::string& out, std::string_view text);

/// Returns `text` as a JSON string.
std::string quoted(std::string_view text);

/// Writes one value and inserts the commas. The caller balances begin and end.
class Writer {
 public:
  /// Writes to a string inside this object; see text() and take().
  Writer() : out_(own_) {}
  explicit Writer(std::string& out) : out_(out) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] const std::string& text() const { return out_; }
  [[nodiscard]] std::string take() { return std::move(out_); }

  Writer& beginObject() { return open('{'); }
  Writer& endObject() { return close('}'); }
  Writer& beginArray() { return open('['); }
  Writer& endArray() { return close(']'); }
  Writer& key(std::string_view name);
  Writer& string(std::string_view text);
  template <std::integral Number>
  Writer& number(Number value) {
    char digits[24];
    return raw(std::string_view(digits, std::to_chars(digits, digits + sizeof digits, value).ptr));
  }
  Writer& boolean(bool value) { return raw(value ? "true" : "false"); }
  Writer& null() { return raw("null"); }
  /// Inserts a value that is already JSON.
  Writer& raw(std::string_view value);

  Writer& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  /// This is a template so that a string literal is not converted to bool.
  template <std::integral Value>
  Writer& member(std::string_view name, Value value) {
    if constexpr (std::same_as<Value, bool>) {
      return key(name).boolean(value);
    } else {
      return key(name).number(value);
    }
  }
  /// Writes a text, or null when it is empty.
  Writer& memberOrNull(std::string_view name, std::string_view text) {
    return text.empty() ? key(name).null() : member(name, text);
  }
  /// Writes an array of strings.
  template <typename Texts>
  Writer& list(std::string_view name, Texts&& texts) {
    key(name).beginArray();
    for (const auto& text : texts) string(text);
    return endArray();
  }

 private:
  void separate();
  Writer& open(char bracket);
  Writer& close(char bracket);

  std::string own_;
  std::string& out_;
  bool comma_ = false;
};

}  // namespace bough::json
