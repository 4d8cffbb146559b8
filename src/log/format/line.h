// One line of a session file: the members every reader needs, and the seal that closes it.
//
//   {"id":"…","parentId":"…","type":"…", … ,"seal":"i/n crc"}
//
// A seal holds the entry's place in its batch and a CRC-32C over, in this order: the eight digits of the seal before it
// in the file (nothing for the first), the line's bytes before `,"seal":`, and the text `i/n`. docs/format.md is the
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

/// The eight hex digits of a seal; empty before the first one of a file.
using SealDigits = std::optional<std::array<char, 8>>;

struct Seal {
  std::uint32_t place = 0;  ///< From 1.
  std::uint32_t count = 0;
  std::array<char, 8> digits{};
  std::size_t bodyLength = 0;  ///< Bytes of the line before `,"seal":`.
  std::string_view placeText;  ///< The text `i/n`.
};

/// `,"seal":"1000000/1000000 xxxxxxxx"}` and a line end: what must be read before a line to check its seal.
inline constexpr std::size_t kSealTailBytes = 48;

/// A line without what may stand around it in a file that another tool wrote.
std::string_view bareLine(std::string_view line);

/// Finds the seal at the end of a line; none when there is none in its canonical place.
std::optional<Seal> findSeal(std::string_view line);

/// Whether a line that is an entry, but has no seal in its canonical place, had one that was changed: its text or its
/// name is not what a writer of seals writes. False for a line that another tool wrote in its own way.
bool hadSeal(std::string_view line);

/// The members a log needs to place an entry. Views into the line, or into `storage` when they had escapes.
struct LineKeys {
  std::string_view id;
  std::optional<std::string_view> parentId;  ///< None: null or absent.
  std::string_view type;
  bool canonical = true;  ///< The members are where format 1 puts them.
};

/// Reads the keys of a line that begins as format 1 says, without looking at the rest; none otherwise.
std::optional<LineKeys> readCanonicalKeys(std::string_view line);

/// The id with which a line seems to begin; empty when that cannot be seen from here.
std::string_view peekId(std::string_view text);

/// Reads the keys of any JSON object, in any order, and checks all of it. `reason` says why there are none.
std::optional<LineKeys> readAnyKeys(std::string_view line, std::string& storage, std::string_view& reason);

/// The sum of a seal, digits as text.
std::array<char, 8> sealDigits(const SealDigits& previous, std::string_view body, std::string_view placeText);

/// The sum with which a sweep over the next line begins.
Crc32c beginSeal(const SealDigits& previous);

/// Closes a sum that was begun with beginSeal: the rest of the body and the place.
std::array<char, 8> endSeal(Crc32c crc, std::string_view restOfBody, std::string_view placeText);

/// Appends `body`, an encoded entry that ends in `}`, as one sealed line. Returns the new seal's digits.
std::array<char, 8> appendSealedLine(std::string& out, std::string_view body, const SealDigits& previous,
                                     std::uint32_t place, std::uint32_t count);

}  // namespace bough
