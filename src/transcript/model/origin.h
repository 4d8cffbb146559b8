// The member `transcript` of a payload: which line of which agent's file an entry came from, and how to rebuild that
// line.
#pragma once

#include <bough/entry.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough::transcript {

/// A part of a stored message that occurs in the line byte for byte, so that it need not be stored twice.
struct Hole {
  std::string path;        ///< Path in the payload: "message", "message/content/0/text", "summary".
  std::string_view slice;  ///< Part of the record's text.
};

/// The entries that a line carries (carried.h). They are stored as entries of their own; the line is kept without them.
struct CarriedIds {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::string> ids;
  std::size_t own = kNone;  ///< Index of the entry that the line was written for.
};

/// Origin::lineKind of a line that repeats an earlier line. A clean copy leaves it out.
inline constexpr std::string_view kRepeated = "repeated";

/// What an entry says about its line.
struct Origin {
  std::string agent;
  std::uint64_t offset = 0;      ///< Offset of the line.
  std::uint64_t sizeBytes = 0;   ///< Number of bytes of the file that it represents.
  std::string lineKind;          ///< For a line outside the conversation: the agent's word for it.
  bool hasLine = false;          ///< False for all but the first entry of a line, and for a line that was skipped.
  bool differsFromLine = false;  ///< Its id or parent differs from the line, because the line's own could not be used.
  bool torn = false;             ///< End of a file that was still being written; a later entry may replace it.
  std::optional<CarriedIds> carries{};
};

/// Appends `,"transcript":{…}` to a payload that lacks only its closing brace. `raw` is the line; empty when the entry
/// has no line.
void appendOrigin(std::string& payload, const Origin& origin, std::string_view raw, std::vector<Hole> holes);

/// Returns std::nullopt when the entry did not come from a transcript.
std::optional<Origin> originOf(const Entry& entry);

/// Returns the bytes of the line. std::nullopt when the entry has no line, or was changed so that the line cannot be
/// rebuilt.
std::optional<std::string> lineOf(const Entry& entry);

/// Returns the value at a path (see Hole) in a JSON value; empty when there is none.
std::string_view valueAt(std::string_view json, std::string_view path);

}  // namespace bough::transcript
