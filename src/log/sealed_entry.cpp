#include "log/sealed_entry.h"

#include <bit>

#include "base/byte_block.h"
#include "base/json_brackets.h"

namespace bough {
namespace {

// Where the first quote or backslash stands.
std::size_t findQuote(std::string_view text) {
  if (text.size() >= ByteBlock::kSize) {
    const ByteBlock block(text.data());
    const std::uint64_t found = block.where('"') | block.where('\\');
    if (found != 0) return static_cast<std::size_t>(std::countr_zero(found));
  }
  return text.find_first_of("\"\\");
}

// Takes `prefix` and the text up to the next quote from the front; false when it holds escapes.
bool takeText(std::string_view& text, std::string_view prefix, std::string& value) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const std::size_t end = findQuote(text);
  if (end >= text.size() || text[end] != '"') return false;
  value.assign(text, 0, end);
  text.remove_prefix(end + 1);
  return true;
}

// Everything before the payload; false when something stands there that format 1 does not put there.
bool takeKeys(std::string_view& text, Entry& entry) {
  if (!takeText(text, R"({"id":")", entry.id)) return false;
  constexpr std::string_view kRoot = R"(,"parentId":null)";
  entry.parentId.emplace();
  if (text.starts_with(kRoot)) {
    text.remove_prefix(kRoot.size());
  } else if (!takeText(text, R"(,"parentId":")", *entry.parentId)) {
    return false;
  }
  if (!takeText(text, R"(,"type":")", entry.type) || !takeText(text, R"(,"timestamp":")", entry.timestamp))
    return false;
  constexpr std::string_view kRunId = R"(,"runId":")";
  return !text.starts_with(kRunId) || takeText(text, kRunId, entry.runId);
}

}  // namespace

SealedRead readSealedEntry(std::string_view line, const SealDigits& previous, Entry& entry) {
  const auto seal = findSeal(line);
  if (!seal) return SealedRead::Other;
  const std::string_view body = line.substr(0, seal->bodyLength);
  std::string_view rest = body;
  constexpr std::string_view kPayload = R"(,"payload":)";
  if (!takeKeys(rest, entry) || !rest.starts_with(kPayload)) return SealedRead::Other;
  rest.remove_prefix(kPayload.size());

  Crc32c crc = beginSeal(previous);
  crc.add(body.substr(0, body.size() - rest.size()));
  std::optional<std::size_t> end;
  // With room behind it that parsers ask for, so that they need no copy of their own.
  constexpr std::size_t kPaddingBytes = 64;
  entry.payload.reserve(rest.size() + kPaddingBytes);
  entry.payload.resize_and_overwrite(rest.size(), [&](char* out, std::size_t size) {
    end = json::copyBrackets(rest, out, crc);
    return end.value_or(size);
  });
  if (endSeal(crc, {}, seal->placeText) != seal->digits) return SealedRead::WrongSeal;
  if (!end || !rest.starts_with('{')) return SealedRead::Other;
  rest.remove_prefix(*end);
  if (rest.empty()) return SealedRead::Good;

  constexpr std::string_view kMeta = R"(,"meta":)";
  if (!rest.starts_with(kMeta)) return SealedRead::Other;
  rest.remove_prefix(kMeta.size());
  if (!rest.starts_with('{') || json::skipBrackets(rest) != rest.size()) return SealedRead::Other;
  entry.meta = rest;
  return SealedRead::Good;
}

}  // namespace bough
