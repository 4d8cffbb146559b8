// Entries about to be appended.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bough {

/// An entry about to be appended: its keys and its text without a seal.
struct NewLine {
  std::string id;
  std::optional<std::string> parentId;
  std::string type;
  std::string text;
};

/// Finds one of a growing list of lines by its id. Most batches are short, and looked through faster than hashed.
class NewLineFinder {
 public:
  /// The place of the line in `lines`, which must be the same list each time, only longer.
  std::optional<std::size_t> find(const std::vector<NewLine>& lines, std::string_view id) {
    constexpr std::size_t kFew = 16;
    if (lines.size() <= kFew) {
      const auto found = std::ranges::find(lines, id, &NewLine::id);
      if (found == lines.end()) return std::nullopt;
      return static_cast<std::size_t>(found - lines.begin());
    }
    for (; known_ < lines.size(); ++known_) places_.emplace(lines[known_].id, known_);
    const auto found = places_.find(std::string(id));
    if (found == places_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::size_t known_ = 0;
};

}  // namespace bough
