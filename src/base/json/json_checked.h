// Reads JSON whose grammar was checked before: what is nested is skipped by its brackets alone (json_brackets.h).
//
// On text that was not checked, the reader stays inside the text and finds something or nothing; isBroken() tells when
// the members do not fit together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json/json_scan.h"

namespace bough::json {

/// Walks the members of an object in order. The object's text must outlive the reader.
class CheckedObject {
 public:
  enum class Text : std::uint8_t {
    All,        ///< Nothing but the object.
    Beginning,  ///< It begins with the object.
  };
  explicit CheckedObject(std::string_view text, Text whole = Text::All);

  /// The next member; none at the end.
  std::optional<ObjectReader::Member> next();

  /// The same in two steps: the next key (raw), then takeValue, or skip after rest() was read by other means.
  std::optional<std::string_view> nextKey();
  std::string_view takeValue();
  /// The text from the value on.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t sizeBytes);

  /// The text is not an object as it should be.
  [[nodiscard]] bool isBroken() const { return broken_; }
  /// After the last member: where the object ends.
  [[nodiscard]] std::size_t end() const { return at_; }

 private:
  std::nullopt_t broken();

  std::string_view text_;
  std::size_t at_ = 0;
  Text whole_;
  bool broken_ = false;
  bool ended_ = false;
};

/// The raw value of the first member of that name; none when there is none or `object` is not an object.
std::optional<std::string_view> findChecked(std::string_view object, std::string_view name);

/// The offset after the value that begins with the first byte of `text`; none when it does not end.
std::optional<std::size_t> skipChecked(std::string_view text);

}  // namespace bough::json
