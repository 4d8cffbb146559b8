// Reads JSON as slices of the text it is in.
//
// Everything bough stores is kept verbatim, so reading must never re-print: a reader here returns the exact bytes of a
// value, and the caller copies or splices them. The scanner is strict (RFC 8259), iterative, allocates nothing, and
// accepts what a parser into doubles cannot hold: numbers of any length, duplicate keys, lone surrogate escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace bough::json {

/// Containers nested deeper than this are refused.
inline constexpr std::size_t kMaxDepth = 512;
inline constexpr std::string_view kTooDeep = "nested deeper than 512 levels";

struct ScanError {
  std::size_t offset = 0;  ///< From the start of the text that was given.
  std::string_view reason;
};

enum class Kind : std::uint8_t { Object, Array, String, Number, True, False, Null };

/// The kind of a value that was returned by one of these readers.
Kind kindOf(std::string_view value);

/// Checks one value that begins at `begin` (blanks before it are skipped) and returns the offset after it.
std::expected<std::size_t, ScanError> skipValue(std::string_view text, std::size_t begin);

enum class Layout : std::uint8_t { OneLine, Lines };

/// Checks that `text` is exactly one value, with blanks around it at most, and valid UTF-8. Returns whether it has line
/// breaks: between its tokens, since none can be in a string.
std::expected<Layout, ScanError> check(std::string_view text);

/// Walks the members of an object in order. The object's text must outlive the reader.
class ObjectReader {
 public:
  struct Member {
    std::string_view key;    ///< Raw, between the quotes: compare with keyIs.
    std::string_view value;  ///< Raw.

    [[nodiscard]] bool keyIs(std::string_view name) const;
  };

  explicit ObjectReader(std::string_view object);

  /// The next member; none at the end or after an error.
  std::optional<Member> next();

  /// Set when the text is not an object, broke off, or goes on after it.
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

  /// The next element, raw; none at the end or after an error.
  std::optional<std::string_view> next();

  [[nodiscard]] const std::optional<ScanError>& error() const { return error_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool first_ = true;
  bool done_ = false;
  std::optional<ScanError> error_;
};

/// The raw value of the first member of that name; none when there is none or `object` is not an object.
std::optional<std::string_view> findMember(std::string_view object, std::string_view name);

/// The text of a raw string value; none when it is not a string. A lone surrogate becomes U+FFFD.
std::optional<std::string> decodeString(std::string_view value);

/// Appends the text of a raw string value's body, the part between the quotes. A lone surrogate becomes U+FFFD.
void appendDecoded(std::string& out, std::string_view body);

/// The text of a string member; none when it is absent or no string.
std::optional<std::string> findString(std::string_view object, std::string_view name);

/// The value of a member that is a whole number from 0 to 2^63-1.
std::optional<std::uint64_t> findUnsigned(std::string_view object, std::string_view name);

}  // namespace bough::json
