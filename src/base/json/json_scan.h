// Reads JSON as slices of the text that contains it.
//
// Everything bough stores is kept verbatim, so reading must never print a value again: a reader returns the exact bytes
// of a value, and the caller copies or splices them. The scanner is strict (RFC 8259), iterative, allocates nothing,
// and accepts what a parser into doubles cannot represent: numbers of any length, duplicate keys, lone surrogate
// escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace bough::json {

/// Values nested deeper than this are rejected.
inline constexpr std::size_t kMaxDepth = 512;
inline constexpr std::string_view kTooDeep = "nested deeper than 512 levels";

struct ScanError {
  std::size_t offset = 0;  ///< From the start of the given text.
  std::string_view reason;
};

enum class Kind : std::uint8_t { Object, Array, String, Number, True, False, Null };

/// Returns the kind of a value that one of these readers returned.
Kind kindOf(std::string_view value);

/// Checks one value that begins at `begin` (blanks before it are skipped) and returns the offset after it.
std::expected<std::size_t, ScanError> skipValue(std::string_view text, std::size_t begin);

enum class Layout : std::uint8_t { OneLine, Lines };

/// Checks that `text` is exactly one value, with only blanks around it, and valid UTF-8. Returns Layout::Lines when the
/// text contains line breaks; these are between tokens, since a string cannot contain one.
std::expected<Layout, ScanError> check(std::string_view text);

/// Walks the members of an object in order. The object's text must outlive the reader.
class ObjectReader {
 public:
  struct Member {
    std::string_view key;    ///< Raw, without the quotes. Compare with keyIs.
    std::string_view value;  ///< Raw.

    [[nodiscard]] bool keyIs(std::string_view name) const;
  };

  explicit ObjectReader(std::string_view object);

  /// Returns the next member; std::nullopt at the end or after an error.
  std::optional<Member> next();

  /// Set when the text is not an object, is cut short, or continues after the object.
  [[nodiscard]] const std::optional<ScanError>& error() const { return error_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool first_ = true;
  bool done_ = false;
  std::optional<ScanError> error_;
};

/// Walks the elements of an array in order. The array's text must outlive the reader.
class ArrayReader {
 public:
  explicit ArrayReader(std::string_view array);

  /// Returns the next element, raw; std::nullopt at the end or after an error.
  std::optional<std::string_view> next();

  [[nodiscard]] const std::optional<ScanError>& error() const { return error_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool first_ = true;
  bool done_ = false;
  std::optional<ScanError> error_;
};

/// Returns the raw value of the first member with that name; std::nullopt when there is none or `object` is not an
/// object.
std::optional<std::string_view> findMember(std::string_view object, std::string_view name);

/// Returns the text of a raw string value; std::nullopt when it is not a string. A lone surrogate becomes U+FFFD.
std::optional<std::string> decodeString(std::string_view value);

/// Appends the decoded text of a string body, the raw part between the quotes. A lone surrogate becomes U+FFFD.
void appendDecoded(std::string& out, std::string_view body);

/// Returns the text of a string member; std::nullopt when it is missing or not a string.
std::optional<std::string> findString(std::string_view object, std::string_view name);

/// Returns the value of a member that is a whole number from 0 to 2^63-1; otherwise std::nullopt.
std::optional<std::uint64_t> findUnsigned(std::string_view object, std::string_view name);

}  // namespace bough::json
