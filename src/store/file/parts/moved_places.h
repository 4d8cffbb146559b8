// The places of lines in a log that is copied with some of them longer or shorter than they were.
//
// An entry that was appended after one that could not be read knows it by its place (`unreadable:<offset>`). In the
// copy that is another place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/model/unreadable.h"
#include "bough/entry.h"
#include "log/format/line.h"

namespace bough {

class MovedPlaces {
 public:
  /// The next line begins at this offset of the file.
  void beginLine(std::uint64_t from) {
    const bool isSame = moves_.empty() ? from == written_ : from - moves_.back().from == written_ - moves_.back().to;
    if (!isSame) moves_.push_back({.from = from, .to = written_});
  }
  /// So many bytes were added to the copy.
  void addWritten(std::size_t bytes) { written_ += bytes; }

  /// The id that an entry has in the copy: another one only when it is the id of a place.
  [[nodiscard]] std::string idInCopy(std::string id) const {
    const auto offset = offsetOfUnreadableId(id);
    const auto after = std::ranges::upper_bound(moves_, offset.value_or(0), {}, &Move::from);
    if (!offset || after == moves_.begin()) return id;
    const Move& move = *std::prev(after);
    return unreadableId(*offset - move.from + move.to);
  }

  /// A line with the places in the copy.
  [[nodiscard]] std::string in(std::string line) const {
    const auto keys = moves_.empty() ? std::nullopt : readCanonicalKeys(line);
    if (!keys) return line;
    const bool hasParent = keys->parentId.has_value();
    const bool namesOne = isControl(entryKind(keys->type));
    if (hasParent) moveAfter(line, R"("parentId":")");
    if (namesOne) moveAfter(line, R"("entryId":")");
    return line;
  }

 private:
  // From each on, lines are moved by the same distance.
  struct Move {
    std::uint64_t from;
    std::uint64_t to;
  };

  void moveAfter(std::string& line, std::string_view name) const {
    const std::size_t at = line.find(name);
    if (at == std::string::npos) return;
    const std::size_t begin = at + name.size();
    const std::size_t size = line.find('"', begin) - begin;
    line.replace(begin, size, idInCopy(line.substr(begin, size)));
  }

  std::uint64_t written_ = 0;
  std::vector<Move> moves_;
};

}  // namespace bough
