// Tracks the places of lines in a log that is copied with some lines made longer or shorter.
//
// An entry that was written after an unreadable one may name that entry by its place (`unreadable:<offset>`). In the
// copy, the place is different: names in the log itself are changed, and for names elsewhere the log records where the
// places are now (store/rules/renamed_places.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough {

/// The most places that are kept in memory: more than a store should ever need.
inline constexpr std::size_t kMostNamedPlaces = 1'000'000;
/// Adds the places, in any log, that a line names, until there are more than kMostNamedPlaces.
void addNamedPlaces(std::set<std::uint64_t>& places, std::string_view line);
/// Fails when there are more than kMostNamedPlaces, because it would be unknown where each of them is in a rewritten
/// log. `path` is the file that names the last of them.
Result<void> checkNamedPlaces(const std::set<std::uint64_t>& places, std::string_view path);

class MovedPlaces {
 public:
  /// `named`: the places to track.
  explicit MovedPlaces(const std::set<std::uint64_t>& named) : named_(named) {}

  /// Records that the copy continues with the line at this offset of the file. `bytes` is more than 1 for a line that
  /// may contain several entries.
  void begin(std::uint64_t offset, std::uint64_t bytes = 1);
  /// Records that this many bytes were added to the copy.
  void addWritten(std::size_t bytes) { written_ += bytes; }

  /// Returns an entry's id in the copy. It differs only when the id names a place in the file.
  [[nodiscard]] std::string idInCopy(std::string id) const;
  /// Returns a line with the places of the copy.
  [[nodiscard]] std::string withNewPlaces(std::string line) const;
  /// Returns the new names of places that have moved, by their old names.
  [[nodiscard]] std::map<std::string, std::string> renamed() const;

 private:
  void moveAfter(std::string& line, std::string_view name) const;

  const std::set<std::uint64_t>& named_;
  std::uint64_t written_ = 0;
  std::map<std::uint64_t, std::uint64_t> places_;
};

}  // namespace bough
