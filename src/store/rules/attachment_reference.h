// How an entry stands for a payload that is kept as an attachment.
//
// The stored payload is then exactly `{"$attachment":{"sha256":"<64 hex digits>","bytes":<n>}}`. A payload that begins
// like that by itself is always kept as an attachment too, so the two can never be mixed up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough {

/// 64 lower-case hex digits.
bool isSha256(std::string_view text);

/// Whether the payload must not be stored as it is, whatever its size.
bool looksLikeAttachmentReference(std::string_view payload);

/// False when no payload in this text stands for an attachment: quicker than to look for the payload.
bool mayHoldAttachmentReference(std::string_view line);

std::string makeAttachmentReference(std::string_view sha256, std::size_t bytes);

/// The SHA-256 of the attachment that holds the payload; none when the payload stands for itself.
std::optional<std::string> readAttachmentReference(std::string_view payload);

/// The size of the payload that is shown: that of the attachment, where the payload is a reference to one.
std::size_t shownBytes(std::string_view payload);

inline constexpr std::uint64_t kMaxAttachmentBytes = std::uint64_t{2} << 30;

/// InvalidArgument when there are more.
Result<void> checkAttachmentSize(std::string_view bytes);

}  // namespace bough
