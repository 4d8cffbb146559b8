#include "store/rules/attachment_reference.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json/json_scan.h"

namespace bough {

bool isSha256(std::string_view text) {
  const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 64 && std::ranges::all_of(text, isHex);
}
namespace {
constexpr std::string_view kBegin = R"({"$attachment":)";
}

bool looksLikeAttachmentReference(std::string_view payload) {
  return payload.starts_with(kBegin);
}

bool mayHoldAttachmentReference(std::string_view line) {
  return line.contains(kBegin);
}

std::string makeAttachmentReference(std::string_view sha256, std::size_t bytes) {
  return fmt::format(R"({{"$attachment":{{"sha256":"{}","bytes":{}}}}})", sha256, bytes);
}

std::optional<std::string> readAttachmentReference(std::string_view payload) {
  if (!payload.starts_with(kBegin)) return std::nullopt;
  const auto reference = json::findMember(payload, "$attachment");
  auto sha256 = reference ? json::findString(*reference, "sha256") : std::nullopt;
  if (!sha256 || !isSha256(*sha256)) return std::nullopt;
  return sha256;
}

std::size_t shownBytes(std::string_view payload) {
  if (!readAttachmentReference(payload)) return payload.size();
  const auto bytes = json::findMember(*json::findMember(payload, "$attachment"), "bytes").value_or("");
  std::size_t size = 0;
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
  return std::max(size, payload.size());
}

Result<void> checkAttachmentSize(std::string_view bytes) {
  if (bytes.size() <= kMaxAttachmentBytes) return {};
  return fail(ErrorCode::InvalidArgument, "an attachment of more than 2 GiB", "split it");
}

}  // namespace bough
