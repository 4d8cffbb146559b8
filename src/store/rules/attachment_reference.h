// How an entry refers to a payload that is stored as an attachment.
//
// The stored payload is exactly `{"$attachment":{"sha256":"<64 hex digits>","bytes":<n>}}`. A payload from a caller
// that begins like this is always stored as an attachment as well, so that the two cannot be confused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough {

/// Returns true for 64 lower-case hex digits.
bool isSha256(std::string_view text);

/// Returns true when a payload must become an attachment whatever its size, because it looks like a reference.
bool looksLikeAttachmentReference(std::string_view payload);

/// Returns false when no payload in this line is a reference. Faster than finding the payload.
bool mayHoldAttachmentReference(std::string_view line);

std::string makeAttachmentReference(std::string_view sha256, std::size_t bytes);

/// Returns the SHA-256 of the attachment that a payload refers to; std::nullopt when the payload is not a reference.
std::optional<std::string> readAttachmentReference(std::string_view payload);

/// Returns the size of the payload that callers see: the attachment's size if the payload is a reference.
std::size_t shownBytes(std::string_view payload);

inline constexpr std::uint64_t kMaxAttachmentBytes = std::uint64_t{2} << 30;

/// Returns InvalidArgument when `bytes` is larger than kMaxAttachmentBytes.
Result<void> checkAttachmentSize(std::string_view bytes);

}  // namespace bough
