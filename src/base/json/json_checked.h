// Reads JSON whose grammar was checked before. Nested values are skipped by their brackets alone (json_brackets.h).
//
// On unchecked text the reader stays inside the text, but its results mean nothing. isBroken() returns true when the
// members do not fit together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json/json_scan.h"
#include "base/json/json_string.h"

namespace bough::json {

/// Walks the members of an object in order. The object's text must outlive the reader.
class CheckedObject {
 public:
  enum class Text : std::uint8_t {
    All,        ///< Nothing follows the object.
    Beginning,  ///< Other text may follow the object.
  };
  explicit CheckedObject(std::string_view text, Text whole = Text::All);

  /// Returns the next member; std::nullopt at the end.
  std::optional<ObjectReader::Member> next();

  /// Reads the next member in two steps. Returns its key (raw); then call takeValue, or read rest() by other means and
  /// call skip.
  std::optional<std::string_view> nextKey() {
    // Most keys are short and plain, without blanks around them.
    if (!broken_ && !ended_ && text_.size() - at_ > 2 && text_[at_] != '}' && text_[at_ + 1] == '"') {
      const char* const key = text_.data() + at_ + 2;
      const char* const end = shortStringEnd(key, text_.data() + text_.size() - 2);
      if (end != nullptr && *end == ':' && !isBlank(end[1])) {
        at_ = static_cast<std::size_t>(end + 1 - text_.data());
        key_ = {key, static_cast<std::size_t>(end - 1 - key)};
        keyIsPlain_ = true;
        return key_;
      }
    }
    keyIsPlain_ = false;
    const auto found = findKey();
    key_ = found.value_or("");
    return found;
  }
  /// Compares the last key with `name`; the key may be written with escapes.
  [[nodiscard]] bool keyIs(std::string_view name) const {
    return key_ == name || (!keyIsPlain_ && ObjectReader::Member{.key = key_, .value = {}}.keyIs(name));
  }
  std::string_view takeValue() {
    if (at_ < text_.size() && text_[at_] == '"') {
      const char* const value = text_.data() + at_;
      if (const char* end = shortStringEnd(value + 1, text_.data() + text_.size())) {
        const auto size = static_cast<std::size_t>(end - value);
        skip(size);
        return {value, size};
      }
    }
    return skipValue();
  }
  /// Returns the text from the value on.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t sizeBytes) {
    at_ += sizeBytes;
    while (at_ < text_.size() && isBlank(text_[at_])) ++at_;
    if (at_ >= text_.size() || (text_[at_] != ',' && text_[at_] != '}')) broken_ = true;
  }

  /// Returns true when the text turned out not to be a valid object.
  [[nodiscard]] bool isBroken() const { return broken_; }
  /// Returns the end of the object. Valid after the last member.
  [[nodiscard]] std::size_t end() const { return at_; }

 private:
  std::nullopt_t broken();
  std::optional<std::string_view> findKey();
  std::string_view skipValue();

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view key_;  // the last key, raw
  bool keyIsPlain_ = false;
  Text whole_;
  bool broken_ = false;
  bool ended_ = false;
};

/// Returns the raw value of the first member with that name; std::nullopt when there is none or `object` is not an
/// object.
std::optional<std::string_view> findChecked(std::string_view object, std::string_view name);

/// Returns the offset after the value that begins with the first byte of `text`; std::nullopt when the value does not
/// end.
std::optional<std::size_t> skipChecked(std::string_view text);

}  // namespace bough::json
