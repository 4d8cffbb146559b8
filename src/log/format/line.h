// One line of a session file: the members that every reader needs, and the seal at its end.
//
//   {"id":"…","parentId":"…","type":"…", … ,"seal":"i/n crc"}
//
// A seal contains the entry's place in its batch and a CRC-32C over, in this order: the eight digits of the seal before
// it in the file (nothing for the first), the line's bytes before `,"seal":`, and the text `i/n`. docs/format.md is the
// full description.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes/crc32c.h"
#include "base/text/utf8.h"
#include "bough/entry.h"

namespace bough {

/// The eight hex digits of a seal; std::nullopt before the first seal of a file.
using SealDigits = std::optional<std::array<char, 8>>;

struct Seal {
  std::uint32_t place = 0;  ///< From 1.
  std::uint32_t count = 0;
  std::array<char, 8> digits{};
  std::size_t bodyLength = 0;  ///< Bytes of the line before `,"seal":`.
  std::string_view placeText;  ///< The text `i/n`.
};

/// The size of `,"seal":"1000000/1000000 xxxxxxxx"}` and a line end, rounded up: so many bytes before a line must be
/// read to check its seal.
inline constexpr std::size_t kSealTailBytes = 48;

/// The capacity that parsers of JSON require after a text. Reserving it saves them from copying the text.
inline constexpr std::size_t kParserPaddingBytes = 64;

/// Strips what another tool may have written around a line: a byte order mark and a carriage return.
std::string_view bareLine(std::string_view line);

/// Finds the seal at the end of a line. Returns std::nullopt when there is no seal in its canonical place.
std::optional<Seal> findSeal(std::string_view line);

/// Returns the digits of the seal that ends directly before the next line. `before` ends where that line begins; its
/// last kSealTailBytes are enough. Returns std::nullopt when no sealed line ends there.
SealDigits sealBefore(std::string_view before);

/// For a line that is an entry but has no seal in its canonical place: returns true when it had a seal that was
/// damaged, so that its text or its name is not what a writer of seals writes. Returns false for a line that another
/// tool wrote in its own way.
bool hadSeal(std::string_view line);

/// The members that a log needs to place an entry. Views into the line, or into `storage` when the values had escapes.
struct LineKeys {
  std::string_view id;
  std::optional<std::string_view> parentId;  ///< std::nullopt when null or absent.
  std::string_view type;
  bool canonical = true;  ///< The members are in the order of format 1.
};

/// Reads the keys of a line that begins as format 1 requires; does not look at the rest. Returns std::nullopt
/// otherwise.
std::optional<LineKeys> readCanonicalKeys(std::string_view line);

/// Returns the id that the line seems to begin with; empty when it cannot be seen in `text`.
std::string_view peekId(std::string_view text);

/// Reads the keys of any JSON object, in any order, and checks the whole object. On failure, `reason` says what is
/// wrong.
std::optional<LineKeys> readAnyKeys(std::string_view line, std::string& storage, std::string_view& reason);

/// Returns the checksum of a seal as hex digits.
std::array<char, 8> sealDigits(const SealDigits& previous, std::string_view body, std::string_view placeText);

/// Starts the checksum of the next line, for a sweep over its bytes.
Crc32c beginSeal(const SealDigits& previous);

/// Finishes a checksum that beginSeal started: adds the rest of the body and the place.
std::array<char, 8> endSeal(Crc32c crc, std::string_view restOfBody, std::string_view placeText);

/// Appends `body`, an encoded entry that ends in `}`, as one sealed line. Returns the digits of the new seal.
std::array<char, 8> appendSealedLine(std::string& out, std::string_view body, const SealDigits& previous,
                                     std::uint32_t place, std::uint32_t count);

}  // namespace bough
