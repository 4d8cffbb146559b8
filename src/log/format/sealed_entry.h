// Reads an entry from a line and checks the line's seal in one pass over its bytes: what most reads of a log are made
// of.
#pragma once

#include <string_view>

#include "bough/entry.h"
#include "log/format/line.h"

namespace bough {

enum class SealedRead : std::uint8_t {
  Good,       ///< The seal holds, and the entry was read.
  WrongSeal,  ///< The line is not what was sealed.
  Other,      ///< The line has another form than format 1 gives it: check and decode it the long way.
};

/// Reads a line whose members are where format 1 puts them. Since the seal vouches for the grammar, payload and meta
/// are only looked through for their ends; see json_brackets.h. `entry` must be empty, and is to be thrown away unless
/// the result is Good.
SealedRead readSealedEntry(std::string_view line, const SealDigits& previous, Entry& entry);

/// What a line is known to have before its seal.
enum class LineTail : std::uint8_t { Unknown, Payload };

/// The same for a line whose seal was found to hold before.
SealedRead readKnownEntry(std::string_view line, LineTail tail, Entry& entry);

}  // namespace bough
