// Writes JSON by appending to a string, and splices raw values in between without touching them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace bough::json {

/// Appends `text` as a JSON string. Bytes above 0x7F pass unchanged; they must be valid UTF-8 already.
void appendQuoted(std::string& out, std::string_view text);

/// Returns `text` as a JSON string.
std::string quoted(std::string_view text);

/// Writes one value; commas take care of themselves. The caller balances begin and end.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  Writer& beginObject() { return open('{'); }
  Writer& endObject() { return close('}'); }
  Writer& beginArray() { return open('['); }
  Writer& endArray() { return close(']'); }
  Writer& key(std::string_view name);
  Writer& string(std::string_view text);
  Writer& number(std::int64_t value);
  Writer& number(std::uint64_t value);
  Writer& boolean(bool value) { return raw(value ? "true" : "false"); }
  Writer& null() { return raw("null"); }
  /// Splices a value that is JSON already.
  Writer& raw(std::string_view value);

  Writer& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  Writer& member(std::string_view name, std::uint64_t value) { return key(name).number(value); }
  /// A template so that a string literal does not turn into a bool.
  template <std::same_as<bool> Bool>
  Writer& member(std::string_view name, Bool value) {
    return key(name).boolean(value);
  }

 private:
  void separate();
  Writer& open(char bracket);
  Writer& close(char bracket);

  std::string& out_;
  bool comma_ = false;
};

}  // namespace bough::json
