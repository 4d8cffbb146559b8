#include "store/postgres/client/values.h"

#include <endian.h>

#include <algorithm>
#include <charconv>

#include "base/text/utf8.h"

namespace bough::postgres {
namespace {

// From PostgreSQL's pg_type.dat. These numbers never change.
constexpr Oid kBool = 16;
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kText = 25;
constexpr Oid kByteaArray = 1001;
constexpr Oid kTextArray = 1009;
constexpr Oid kInt8Array = 1016;

std::uint64_t bigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::int64_t signedNumber(std::string_view bytes) {
  const std::uint64_t value = bigEndian(bytes);
  if (bytes.size() == 2) return static_cast<std::int16_t>(value);
  if (bytes.size() == 4) return static_cast<std::int32_t>(value);
  return static_cast<std::int64_t>(value);
}

// Calls `use` with each element of a binary one-dimensional array.
template <typename Use>
void forEachElement(std::string_view array, Use use) {
  constexpr std::size_t kHeaderBytes = 20;
  if (array.size() < kHeaderBytes) return;  // an empty array has no dimension
  std::uint64_t count = bigEndian(array.substr(12, 4));
  array.remove_prefix(kHeaderBytes);
  for (; count > 0 && array.size() >= 4; --count) {
    const auto length = static_cast<std::int32_t>(bigEndian(array.substr(0, 4)));
    array.remove_prefix(4);
    const std::size_t bytes = length < 0 ? 0 : std::min(static_cast<std::size_t>(length), array.size());
    use(array.substr(0, bytes));
    array.remove_prefix(bytes);
  }
}

// Appends a text in the form that the server accepts: UTF-8 without NUL. Stored texts already have that form. A text
// that is only searched for may be anything; a replaced byte matches no id.
void addText(std::string_view text, std::string& out) {
  const bool clean = isUtf8(text);
  if (clean && text.find('\0') == std::string_view::npos) {
    out += text;
    return;
  }
  for (const char c : text) {
    out += c == '\0' ? ' ' : !clean && static_cast<unsigned char>(c) >= 0x80 ? '?' : c;
  }
}

}  // namespace

void Parameters::begin(Oid type) {
  types_.push_back(type);
  places_.push_back(data_.size());
}

void Parameters::end() {
  lengths_.push_back(static_cast<int>(data_.size() - places_.back()));
}

void Parameters::put32(std::uint32_t value) {
  const std::uint32_t bytes = htobe32(value);
  data_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
}

void Parameters::put64(std::uint64_t value) {
  const std::uint64_t bytes = htobe64(value);
  data_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
}

Parameters& Parameters::text(std::string_view value) {
  begin(kText);
  addText(value, data_);
  end();
  return *this;
}

Parameters& Parameters::bytes(std::string_view value) {
  begin(kBytea);
  data_ += value;
  end();
  return *this;
}

Parameters& Parameters::number(std::int64_t value) {
  begin(kInt8);
  put64(static_cast<std::uint64_t>(value));
  end();
  return *this;
}

Parameters& Parameters::truth(bool value) {
  begin(kBool);
  data_.push_back(value ? '\1' : '\0');
  end();
  return *this;
}

Parameters& Parameters::nothing() {
  types_.push_back(0);
  places_.push_back(kNull);
  lengths_.push_back(0);
  return *this;
}

void Parameters::arrayHeader(Oid element, std::size_t count, bool nulls) {
  put32(count == 0 ? 0 : 1);
  put32(nulls ? 1 : 0);
  put32(element);
  if (count == 0) return;
  put32(static_cast<std::uint32_t>(count));
  put32(1);
}

Parameters& Parameters::texts(std::span<const std::optional<std::string_view>> values) {
  begin(kTextArray);
  arrayHeader(kText, values.size(), std::ranges::any_of(values, [](const auto& value) { return !value; }));
  for (const auto& value : values) {
    put32(value ? static_cast<std::uint32_t>(value->size()) : 0xFFFFFFFF);
    if (value) addText(*value, data_);
  }
  end();
  return *this;
}

Parameters& Parameters::texts(std::span<const std::string> values) {
  const std::vector<std::optional<std::string_view>> views(values.begin(), values.end());
  return texts(views);
}

Parameters& Parameters::byteTexts(std::span<const std::string_view> values) {
  begin(kByteaArray);
  arrayHeader(kBytea, values.size(), false);
  for (const std::string_view value : values) {
    put32(static_cast<std::uint32_t>(value.size()));
    data_ += value;
  }
  end();
  return *this;
}

Parameters& Parameters::numbers(std::span<const std::int64_t> values) {
  begin(kInt8Array);
  arrayHeader(kInt8, values.size(), false);
  for (const std::int64_t value : values) {
    put32(8);
    put64(static_cast<std::uint64_t>(value));
  }
  end();
  return *this;
}

std::vector<const char*> Parameters::pointers() const {
  std::vector<const char*> pointers;
  pointers.reserve(places_.size());
  for (const std::size_t place : places_) pointers.push_back(place == kNull ? nullptr : data_.data() + place);
  return pointers;
}

void Rows::Clear::operator()(PGresult* result) const {
  libpq().PQclear(result);
}

Rows::Rows(PGresult* result) : result_(result) {}

int Rows::size() const {
  return result_ ? libpq().PQntuples(result_.get()) : 0;
}

int Rows::columns() const {
  return result_ ? libpq().PQnfields(result_.get()) : 0;
}

bool Rows::isNull(int row, int column) const {
  return libpq().PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Rows::text(int row, int column) const {
  return {libpq().PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(libpq().PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::number(int row, int column) const {
  return signedNumber(text(row, column));
}

std::vector<std::int64_t> Rows::numbers(int row, int column) const {
  std::vector<std::int64_t> found;
  forEachElement(text(row, column), [&](std::string_view bytes) { found.push_back(signedNumber(bytes)); });
  return found;
}

std::vector<std::string> Rows::texts(int row, int column) const {
  std::vector<std::string> found;
  forEachElement(text(row, column), [&](std::string_view bytes) { found.emplace_back(bytes); });
  return found;
}

std::uint64_t Rows::changed() const {
  const std::string_view digits = result_ ? libpq().PQcmdTuples(result_.get()) : "";
  std::uint64_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return count;
}

}  // namespace bough::postgres
