#include "log/format/sealed_entry.h"

#include <bit>

#include "base/bytes/byte_block.h"
#include "base/json/json_brackets.h"

namespace bough {
namespace {

// Returns the offset of the first quote or backslash.
std::size_t findQuoteOrBackslash(std::string_view text) {
  if (text.size() >= ByteBlock::kSize) {
    const ByteBlock block(text.data());
    const std::uint64_t found = block.where('"') | block.where('\\');
    if (found != 0) return static_cast<std::size_t>(std::countr_zero(found));
  }
  return text.find_first_of("\"\\");
}

// Takes `prefix` and the text up to the next quote from the front. Returns false when the text contains escapes.
bool takeText(std::string_view& text, std::string_view prefix, std::string& value) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const std::size_t end = findQuoteOrBackslash(text);
  if (end >= text.size() || text[end] != '"') return false;
  value.assign(text, 0, end);
  text.remove_prefix(end + 1);
  return true;
}

// Takes everything before the payload. Returns false when the members are not those of format 1.
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

struct Body {
  std::string_view text;     // the line before its seal
  std::string_view payload;  // the line before its seal, starting with the payload
};

// Takes the keys of a line and finds where its payload begins. Returns std::nullopt when the line has another form.
std::optional<Body> takeBody(std::string_view line, std::size_t length, Entry& entry) {
  constexpr std::string_view kPayload = R"(,"payload":)";
  Body body{.text = line.substr(0, length), .payload = line.substr(0, length)};
  if (!takeKeys(body.payload, entry) || !body.payload.starts_with(kPayload)) return std::nullopt;
  body.payload.remove_prefix(kPayload.size());
  return body;
}

// Sets the payload with `copy`, which copies all of `text` and returns where the payload ends.
template <typename Copy>
std::optional<std::size_t> takePayload(std::string_view text, Entry& entry, Copy copy) {
  std::optional<std::size_t> end;
  entry.payload.reserve(text.size() + kParserPaddingBytes);
  entry.payload.resize_and_overwrite(text.size(), [&](char* out, std::size_t size) {
    end = copy(out);
    return end.value_or(size);
  });
  return text.starts_with('{') ? end : std::nullopt;
}

// Takes what follows the payload: nothing, or meta.
SealedRead takeRest(std::string_view rest, Entry& entry) {
  if (rest.empty()) return SealedRead::Good;
  constexpr std::string_view kMeta = R"(,"meta":)";
  if (!rest.starts_with(kMeta)) return SealedRead::Other;
  rest.remove_prefix(kMeta.size());
  if (!rest.starts_with('{') || json::skipBrackets(rest) != rest.size()) return SealedRead::Other;
  entry.meta = rest;
  return SealedRead::Good;
}

}  // namespace

SealedRead readSealedEntry(std::string_view line, const SealDigits& previous, Entry& entry) {
  const auto seal = findSeal(line);
  const auto body = seal ? takeBody(line, seal->bodyLength, entry) : std::nullopt;
  if (!body) return SealedRead::Other;
  Crc32c crc = beginSeal(previous);
  crc.add(body->text.substr(0, body->text.size() - body->payload.size()));
  const auto end =
      takePayload(body->payload, entry, [&](char* out) { return json::copyBrackets(body->payload, out, crc); });
  if (endSeal(crc, {}, seal->placeText) != seal->digits) return SealedRead::WrongSeal;
  return end ? takeRest(body->payload.substr(*end), entry) : SealedRead::Other;
}

SealedRead readVerifiedEntry(std::string_view line, LineTail tail, Entry& entry) {
  const auto seal = findSeal(line);
  const auto body = seal ? takeBody(line, seal->bodyLength, entry) : std::nullopt;
  if (!body) return SealedRead::Other;
  if (tail == LineTail::Payload) {
    (void)takePayload(body->payload, entry, [&](char* out) { return body->payload.copy(out, body->payload.size()); });
    return SealedRead::Good;
  }
  const auto end = takePayload(body->payload, entry, [&](char* out) { return json::copyBrackets(body->payload, out); });
  return end ? takeRest(body->payload.substr(*end), entry) : SealedRead::Other;
}

}  // namespace bough
