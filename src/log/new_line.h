// Entries about to be appended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bough/entry.h"

namespace bough {

/// An entry about to be appended: its text without a seal, and where its keys stand in it. Views into the text stay
/// good when the line is moved.
class NewLine {
 public:
  /// `text` is what a serializer made of `entry`: it begins with id, parentId and type.
  NewLine(std::string text, const Entry& entry) : text_(std::move(text)), idLength_(length(entry.id)) {
    std::size_t at = kIdAt + idLength_ + kParentKey.size();
    if (entry.parentId && !entry.parentId->empty()) {
      parentAt_ = length(at + 1);
      parentLength_ = length(*entry.parentId);
      at += parentLength_ + 2;
    } else {
      at += 4;  // null
    }
    typeAt_ = length(at + kTypeKey.size());
    const std::size_t typeEnd = text_.find('"', typeAt_);
    BOUGH_CHECK(typeEnd != std::string::npos && text_.size() > kShortestBytes);
    typeLength_ = length(typeEnd - typeAt_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string_view id() const { return std::string_view(text_).substr(kIdAt, idLength_); }
  /// Empty for a root.
  [[nodiscard]] std::string_view parentId() const { return std::string_view(text_).substr(parentAt_, parentLength_); }
  /// As it stands in the text: a type of another writer may hold escapes.
  [[nodiscard]] std::string_view type() const { return std::string_view(text_).substr(typeAt_, typeLength_); }

 private:
  static constexpr std::size_t kIdAt = std::string_view(R"({"id":")").size();
  static constexpr std::string_view kParentKey = R"(","parentId":)";
  static constexpr std::string_view kTypeKey = R"(,"type":")";
  static constexpr std::size_t kShortestBytes = 32;  // longer than what a string keeps inside itself

  static std::uint32_t length(std::size_t size) { return static_cast<std::uint32_t>(size); }
  static std::uint32_t length(std::string_view text) { return length(text.size()); }

  std::string text_;
  std::uint32_t idLength_;
  std::uint32_t parentAt_ = 0;
  std::uint32_t parentLength_ = 0;
  std::uint32_t typeAt_ = 0;
  std::uint32_t typeLength_ = 0;
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
    for (; known_ < lines.size(); ++known_) places_.emplace(lines[known_].id(), known_);
    const auto found = places_.find(id);
    if (found == places_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> places_;
  std::size_t known_ = 0;
};

}  // namespace bough
