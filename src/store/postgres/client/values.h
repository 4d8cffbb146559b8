// Parameters and results of statements in PostgreSQL's binary form: no byte is escaped or converted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/client/libpq.h"

namespace bough::postgres {

/// Converts a count or a place to a PostgreSQL type. A value that is too large becomes the largest possible one.
inline std::int64_t bigint(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}
inline std::int64_t integer(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT32_MAX));
}

/// The parameters of one statement, in order. Texts are copied. Bytes that PostgreSQL does not accept (NUL, and in a
/// text that is not UTF-8 all that are not ASCII) are replaced.
class Parameters {
 public:
  Parameters& text(std::string_view value);
  Parameters& bytes(std::string_view value);
  Parameters& number(std::int64_t value);
  Parameters& truth(bool value);
  Parameters& nothing();  ///< NULL, with the type that the statement expects.
  Parameters& textOrNothing(const std::optional<std::string>& value) { return value ? text(*value) : nothing(); }
  /// Arrays. An element without a value is NULL.
  Parameters& texts(std::span<const std::optional<std::string_view>> values);
  Parameters& texts(std::span<const std::string> values);
  Parameters& byteTexts(std::span<const std::string_view> values);
  Parameters& numbers(std::span<const std::int64_t> values);

  /// Reserves room for `bytes` bytes in total, and for about as many values as an append has.
  void reserve(std::size_t bytes) {
    constexpr std::size_t kValues = 20;
    data_.reserve(bytes);
    types_.reserve(kValues);
    places_.reserve(kValues);
    lengths_.reserve(kValues);
  }
  [[nodiscard]] int size() const { return static_cast<int>(types_.size()); }
  [[nodiscard]] std::size_t totalBytes() const { return data_.size(); }
  [[nodiscard]] const std::vector<Oid>& types() const { return types_; }
  [[nodiscard]] const std::vector<int>& lengths() const { return lengths_; }
  /// Returns where each parameter begins; valid until another is added.
  [[nodiscard]] std::vector<const char*> pointers() const;

 private:
  void begin(Oid type);
  void end();
  void put32(std::uint32_t value);
  void put64(std::uint64_t value);
  void arrayHeader(Oid element, std::size_t count, bool nulls);

  static constexpr std::size_t kNull = SIZE_MAX;
  std::string data_;
  std::vector<std::size_t> places_;  // kNull for NULL
  std::vector<int> lengths_;
  std::vector<Oid> types_;
};

/// The rows that a statement returned.
class Rows {
 public:
  Rows() = default;
  explicit Rows(PGresult* result);

  [[nodiscard]] int size() const;
  [[nodiscard]] int columns() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] bool isNull(int row, int column) const;
  /// Returns a text or bytea; empty for NULL. Valid as long as this object.
  [[nodiscard]] std::string_view text(int row, int column) const;
  [[nodiscard]] std::string string(int row, int column) const { return std::string(text(row, column)); }
  /// Returns an int2, int4, int8 or boolean; 0 for NULL.
  [[nodiscard]] std::int64_t number(int row, int column) const;
  [[nodiscard]] bool truth(int row, int column) const { return number(row, column) != 0; }
  /// The elements of an array of integers.
  [[nodiscard]] std::vector<std::int64_t> numbers(int row, int column) const;
  /// The elements of an array of texts; NULL is empty.
  [[nodiscard]] std::vector<std::string> texts(int row, int column) const;
  /// Returns the number of rows that a statement changed.
  [[nodiscard]] std::uint64_t changed() const;

 private:
  struct Clear {
    void operator()(PGresult* result) const;
  };
  std::unique_ptr<PGresult, Clear> result_;
};

/// Receives the rows of a statement as they arrive, so that they are never all in memory.
struct RowSink {
  std::function<void()> restart;               ///< Called before the first row of each attempt.
  std::function<void(const Rows& rows)> take;  ///< Receives the next rows.
};

}  // namespace bough::postgres
