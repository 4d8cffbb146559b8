// Reads an entry from a line and checks the line's seal in one pass over its bytes. Most reads of a log use this.
#pragma once

#include <string_view>

#include "bough/entry.h"
#include "log/format/line.h"

namespace bough {

enum class SealedRead : std::uint8_t {
  Good,       ///< The seal matches, and the entry was read.
  WrongSeal,  ///< The line does not match its seal.
  Other,      ///< The line does not have the form of format 1: check the seal and decode the line separately.
};

/// Reads a line whose members are in the order of format 1. The seal protects the grammar, so payload and meta are only
/// searched for their ends; see json_brackets.h. `entry` must be empty. The caller discards it unless the result is
/// Good.
SealedRead readSealedEntry(std::string_view line, const SealDigits& previous, Entry& entry);

/// What is known to be directly before the seal of a line.
enum class LineTail : std::uint8_t { Unknown, Payload };

/// As readSealedEntry, for a line whose seal was already checked.
SealedRead readVerifiedEntry(std::string_view line, LineTail tail, Entry& entry);

}  // namespace bough
