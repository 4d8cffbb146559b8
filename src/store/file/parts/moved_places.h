// The places of lines in a log that is copied with some of them longer or shorter than they were.
//
// An entry that was written after one that could not be read may know it by its place (`unreadable:<offset>`). In the
// copy that is another place: what the log itself says is changed, and what others say is told where it is now
// (store/rules/renamed_places.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough {

/// So many are kept in memory: more than a store can have use for.
inline constexpr std::size_t kMostNamedPlaces = 1'000'000;
/// Adds the places that a line names, whichever log they are in, until they are more than that.
void addNamedPlaces(std::set<std::uint64_t>& places, std::string_view line);
/// Fails when they are more: where each of them is in a log that is written again could not be told. `path` names the
/// last of them.
Result<void> checkNamedPlaces(const std::set<std::uint64_t>& places, std::string_view path);

class MovedPlaces {
 public:
  /// `named`: the places that matter.
  explicit MovedPlaces(const std::set<std::uint64_t>& named) : named_(named) {}

  /// What began at this offset of the file comes next. Of a line that may hold several entries, `bytes` of it.
  void begin(std::uint64_t offset, std::uint64_t bytes = 1);
  /// So many bytes were added to the copy.
  void addWritten(std::size_t bytes) { written_ += bytes; }

  /// The id that an entry has in the copy: another one only when it is the id of a place in the file.
  [[nodiscard]] std::string idInCopy(std::string id) const;
  /// A line with the places in the copy.
  [[nodiscard]] std::string in(std::string line) const;
  /// Where the places are that are others now, by the names that they had.
  [[nodiscard]] std::map<std::string, std::string> renamed() const;

 private:
  void moveAfter(std::string& line, std::string_view name) const;

  const std::set<std::uint64_t>& named_;
  std::uint64_t written_ = 0;
  std::map<std::uint64_t, std::uint64_t> places_;
};

}  // namespace bough
