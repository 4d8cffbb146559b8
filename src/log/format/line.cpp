#include "log/format/line.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "base/bytes/byte_block.h"
#include "base/bytes/put.h"
#include "base/check.h"
#include "base/json/json_scan.h"
#include "base/model/ids.h"

namespace bough {
namespace {

constexpr std::string_view kSealKey = R"(,"seal":")";

// Returns true when the last eight of the sixteen bytes at `p` are lower-case hex digits.
bool endsInLowerHex(const char* p) {
  static constexpr char kFirstEight[17] = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\0";
  const Bytes text = loadBytes(p);
  return all(either(loadBytes(kFirstEight), either(inRange(text, '0', '9'), inRange(text, 'a', 'f'))));
}

std::array<char, 8> toDigits(std::uint32_t value) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::array<char, 8> digits{};
  for (std::size_t i = 0; i < 8; ++i) digits[i] = kHex[value >> (28 - 4 * i) & 15];
  return digits;
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// Returns the offset where the digits that end at `end` begin.
std::size_t digitsBefore(std::string_view text, std::size_t end) {
  while (end > 0 && isDigit(text[end - 1])) --end;
  return end;
}

// Reads digits without a leading zero. Returns 0 when there are none, or more than a place can have.
std::uint32_t readPlace(std::string_view digits) {
  constexpr std::size_t kMostDigits = 7;
  if (digits.empty() || digits.size() > kMostDigits || digits.front() == '0') return 0;
  std::uint32_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint32_t>(c - '0');
  return value;
}

bool takePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Finds the next quote if it is near: most keys end within one block.
std::size_t findNearQuote(std::string_view text) {
  constexpr std::size_t kLongest = 160;
  if (text.size() >= ByteBlock::kSize) {
    const std::uint64_t quotes = ByteBlock(text.data()).where('"');
    if (quotes != 0) return static_cast<std::size_t>(std::countr_zero(quotes));
  }
  return text.substr(0, kLongest).find('"');
}

// Takes the text up to the next quote. The caller checks for escapes.
std::optional<std::string_view> takeUntilQuote(std::string_view& text) {
  const std::size_t end = findNearQuote(text);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(end + 1);
  return value;
}

}  // namespace

std::string_view bareLine(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<Seal> findSeal(std::string_view line) {
  // From the end: `"}`, eight digits, a blank, `i/n`, the key.
  constexpr std::size_t kShortest = kSealKey.size() + 3 + 1 + 8 + 2;
  if (line.size() < kShortest || !line.ends_with("\"}")) return std::nullopt;
  const std::size_t digitsAt = line.size() - 10;
  if (!endsInLowerHex(line.data() + digitsAt - 8)) return std::nullopt;
  Seal seal;
  line.copy(seal.digits.data(), 8, digitsAt);
  const std::size_t countEnd = digitsAt - 1;
  const std::size_t countAt = digitsBefore(line, countEnd);
  if (line[countEnd] != ' ' || countAt == 0 || line[countAt - 1] != '/') return std::nullopt;
  const std::size_t placeAt = digitsBefore(line, countAt - 1);
  if (!line.substr(0, placeAt).ends_with(kSealKey)) return std::nullopt;
  seal.bodyLength = placeAt - kSealKey.size();
  seal.placeText = line.substr(placeAt, countEnd - placeAt);
  seal.place = readPlace(line.substr(placeAt, countAt - 1 - placeAt));
  seal.count = readPlace(line.substr(countAt, countEnd - countAt));
  if (seal.place == 0 || seal.count < seal.place || seal.count > kMaxBatchEntries) return std::nullopt;
  return seal;
}

SealDigits sealBefore(std::string_view before) {
  if (!before.ends_with('\n')) return std::nullopt;
  before.remove_suffix(1);
  const auto seal = findSeal(bareLine(before));
  return seal ? SealDigits(seal->digits) : std::nullopt;
}

bool hadSeal(std::string_view line) {
  const auto isSealText = [](std::string_view text) {
    return findSeal(fmt::format("{{{}{}\"}}", kSealKey, text)).has_value();
  };
  if (const auto seal = json::findMember(line, "seal")) return !isSealText(json::findString(line, "seal").value_or(""));
  // The last member may be the seal under a damaged name.
  if (!line.ends_with("\"}")) return false;
  line.remove_suffix(2);
  return isSealText(line.substr(line.rfind('"') + 1));
}

std::optional<LineKeys> readCanonicalKeys(std::string_view line) {
  LineKeys keys;
  if (!takePrefix(line, R"({"id":")")) return std::nullopt;
  const auto id = takeUntilQuote(line);
  if (!id || !isEntryId(*id) || !takePrefix(line, R"(,"parentId":)")) return std::nullopt;
  keys.id = *id;
  if (!takePrefix(line, "null")) {
    if (!takePrefix(line, "\"")) return std::nullopt;
    const auto parent = takeUntilQuote(line);
    if (!parent || !isEntryId(*parent)) return std::nullopt;
    keys.parentId = *parent;
  }
  if (!takePrefix(line, R"(,"type":")")) return std::nullopt;
  const auto type = takeUntilQuote(line);
  if (!type || type->empty() || type->contains('\\')) return std::nullopt;
  keys.type = *type;
  return keys;
}

std::string_view peekId(std::string_view text) {
  if (!takePrefix(text, R"({"id":")")) return {};
  return takeUntilQuote(text).value_or("");
}

std::optional<LineKeys> readAnyKeys(std::string_view line, std::string& storage, std::string_view& reason) {
  if (const auto whole = json::check(line); !whole) {
    reason = whole.error().reason;
    return std::nullopt;
  }
  const std::string id = json::findString(line, "id").value_or("");
  const std::string type = json::findString(line, "type").value_or("");
  std::optional<std::string> parent = json::findString(line, "parentId");
  if (parent && parent->empty()) parent.reset();
  if (line[line.find_first_not_of(" \t\r\n")] != '{') {
    reason = "the line is not a JSON object";
  } else if (!isEntryId(id)) {
    reason = "the entry has no valid id";
  } else if (type.empty()) {
    reason = "the entry has no type";
  } else if (parent && !isEntryId(*parent)) {
    reason = "parentId is not a valid id";
  }
  if (!reason.empty()) return std::nullopt;
  storage = id + type + parent.value_or("");
  const std::string_view all = storage;
  LineKeys keys{.id = all.substr(0, id.size()),
                .parentId = std::nullopt,
                .type = all.substr(id.size(), type.size()),
                .canonical = false};
  if (parent) keys.parentId = all.substr(id.size() + type.size());
  return keys;
}

Crc32c beginSeal(const SealDigits& previous) {
  Crc32c crc;
  if (previous) crc.add({previous->data(), previous->size()});
  return crc;
}

std::array<char, 8> endSeal(Crc32c crc, std::string_view restOfBody, std::string_view placeText) {
  crc.add(restOfBody);
  crc.add(placeText);
  return toDigits(crc.value());
}

std::array<char, 8> sealDigits(const SealDigits& previous, std::string_view body, std::string_view placeText) {
  return endSeal(beginSeal(previous), body, placeText);
}

std::array<char, 8> appendSealedLine(std::string& out, std::string_view body, const SealDigits& previous,
                                     std::uint32_t place, std::uint32_t count) {
  BOUGH_CHECK(body.ends_with('}') && place >= 1 && place <= count && count <= kMaxBatchEntries);
  body.remove_suffix(1);
  constexpr std::size_t kMostPlaceBytes = 24;
  constexpr std::size_t kMostSealBytes = kSealKey.size() + kMostPlaceBytes + 16;
  std::array<char, 8> digits;
  out.resize_and_overwrite(out.size() + body.size() + kMostSealBytes, [&, begin = out.size()](char* text, std::size_t) {
    char* const placeAt = Put(text + begin)(body)(kSealKey).end();
    char* at = std::to_chars(placeAt, placeAt + kMostPlaceBytes, place).ptr;
    *at++ = '/';
    at = std::to_chars(at, placeAt + kMostPlaceBytes, count).ptr;
    digits = sealDigits(previous, body, {placeAt, at});
    return static_cast<std::size_t>(Put(at)(" ")({digits.data(), digits.size()})("\"}\n").end() - text);
  });
  return digits;
}

}  // namespace bough
