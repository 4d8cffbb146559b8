// The member `transcript` of a payload: which line of whose file an entry came from, and how to rebuild it.
#pragma once

#include <bough/entry.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough::transcript {

/// A part of a stored message that is in the line byte for byte, so that it need not be stored twice.
struct Hole {
  std::string path;        ///< In the payload: "message", "message/content/0/text", "summary".
  std::string_view slice;  ///< Of the record's text.
};

/// Which entries a line carries (carried.h). They are stored as entries; the line without them is kept here.
struct CarriedIds {
  static constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::string> ids;
  std::size_t own = kNone;  ///< The entry that the line was written for.
};

/// Origin::what of a line that says once more what one before it says. A clean copy does without it.
inline constexpr std::string_view kRepeated = "repeated";

/// What an entry says of its line.
struct Origin {
  std::string agent;
  std::uint64_t at = 0;         ///< The line's offset.
  std::uint64_t sizeBytes = 0;  ///< How many bytes of the file it stands for.
  std::string what;             ///< The agent's word for a line that is not part of the conversation.
  bool hasLine = false;         ///< False for all but the first entry of a line, and for a line that was skipped.
  bool fixed = false;           ///< Its id or its parent is not the one in the line, which could not be used.
  bool torn = false;            ///< The end of a file that was being written: a later entry may take its place.
  std::optional<CarriedIds> carries{};
};

/// Appends `,"transcript":{…}` to a payload that lacks only its closing brace. `raw`: the line; empty for none.
void appendOrigin(std::string& payload, const Origin& origin, std::string_view raw, std::vector<Hole> holes);

/// None when the entry did not come from a transcript.
std::optional<Origin> originOf(const Entry& entry);

/// The bytes of the line; none when the entry has none, or when it was changed so that they cannot be rebuilt.
std::optional<std::string> lineOf(const Entry& entry);

/// The value at a path (see Hole) in a JSON value; empty when there is none.
std::string_view valueAt(std::string_view json, std::string_view path);

}  // namespace bough::transcript
