// Entries that are about to be appended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "bough/entry.h"
#include "log/format/serializer_contract.h"

namespace bough {

/// Encoded lines without seals, stored one after the other in one buffer, with the positions of each line's keys. All
/// lines share the buffer, so a batch of many entries needs no more allocations than a batch of one.
class BatchLines {
 public:
  /// One line. Valid until the list changes.
  class Line {
   public:
    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] std::string_view id() const { return text_.substr(kIdAt, idLength_); }
    /// Empty for a root.
    [[nodiscard]] std::string_view parentId() const { return text_.substr(parentAt_, parentLength_); }
    /// The type exactly as the text has it: a type that another program wrote may contain escapes.
    [[nodiscard]] std::string_view type() const { return text_.substr(typeAt_, typeLength_); }

   private:
    friend class BatchLines;
    std::string_view text_;
    std::uint32_t idLength_ = 0;
    std::uint32_t parentAt_ = 0;
    std::uint32_t parentLength_ = 0;
    std::uint32_t typeAt_ = 0;
    std::uint32_t typeLength_ = 0;
  };

  [[nodiscard]] std::size_t size() const { return places_.size(); }
  [[nodiscard]] bool empty() const { return places_.empty(); }
  [[nodiscard]] std::size_t totalBytes() const { return text_.size(); }
  [[nodiscard]] Line operator[](std::size_t i) const {
    Line line = places_[i].keys;
    line.text_ = std::string_view(text_).substr(places_[i].begin, places_[i].length);
    return line;
  }
  [[nodiscard]] Line back() const { return (*this)[size() - 1]; }

  /// Returns the head after these lines, or std::nullopt when they do not move it. The result may refer to `storage`.
  std::optional<std::string_view> headAfter(std::string& storage) const {
    for (std::size_t i = size(); i-- > 0;) {
      const Line line = (*this)[i];
      const EntryKind kind = entryKind(line.type());
      const auto payload = kind == EntryKind::Head ? json::findMember(line.text(), "payload") : std::nullopt;
      if (const auto head = bough::headAfter(kind, line.id(), payload.value_or(""), storage)) return head;
    }
    return std::nullopt;
  }

  /// Reserves room for `lines` more lines with `bytes` bytes in total.
  void reserve(std::size_t lines, std::size_t bytes) {
    if (size() + lines > places_.capacity()) places_.reserve(std::max(size() + lines, 2 * places_.capacity()));
    text_.reserve(text_.size() + bytes);
  }

  /// Encodes `entry` with `serializer` and adds the line. Adds nothing when that fails or when the text breaks the
  /// serializer's contract.
  Result<void> add(const Entry& entry, const EntrySerializer& serializer, const EntryDefaults& defaults = {}) {
    const std::size_t begin = text_.size();
    auto encoded = serializer.encodeWith(entry, defaults, text_);
    if (encoded) encoded = checkEncoded(serializer, entry, defaults, std::string_view(text_).substr(begin));
    if (!encoded) {
      text_.resize(begin);
      return encoded;
    }
    const std::size_t idBytes = entry.id.empty() ? defaults.id.size() : entry.id.size();
    const std::size_t parentBytes = entry.parentId ? entry.parentId->size() : defaults.parentId.size();
    places_.push_back({.begin = begin, .length = text_.size() - begin, .keys = findKeys(begin, idBytes, parentBytes)});
    return {};
  }

  /// Returns the index of the line with that id. Most batches are short, and a linear search of a short batch is faster
  /// than hashing.
  std::optional<std::size_t> find(std::string_view id) {
    constexpr std::size_t kFew = 16;
    if (size() <= kFew) {
      for (std::size_t i = 0; i < size(); ++i) {
        if ((*this)[i].id() == id) return i;
      }
      return std::nullopt;
    }
    const std::hash<std::string_view> hash;
    while (byId_.size() < size()) byId_.emplace(hash((*this)[byId_.size()].id()), byId_.size());
    const auto [first, last] = byId_.equal_range(hash(id));
    const auto found = std::find_if(first, last, [&](const auto& item) { return (*this)[item.second].id() == id; });
    if (found == last) return std::nullopt;
    return found->second;
  }

  /// Removes all lines after the first `count`.
  void shrinkTo(std::size_t count) {
    if (count == size()) return;
    text_.resize(places_[count].begin);
    places_.resize(count);
    byId_.clear();
  }

  /// Removes all lines. Keeps the memory for the next batch, unless it is large.
  void clear() {
    constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
    if (text_.capacity() > kKeptBytes || places_.capacity() > kKeptBytes / sizeof(Place)) *this = {};
    text_.clear();
    places_.clear();
    byId_.clear();
  }

 private:
  struct Place {
    std::size_t begin;
    std::size_t length;
    Line keys;
  };

  static constexpr std::size_t kIdAt = std::string_view(R"({"id":")").size();

  [[nodiscard]] Line findKeys(std::size_t begin, std::size_t idBytes, std::size_t parentBytes) const {
    constexpr std::size_t kParentKeyBytes = std::string_view(R"(","parentId":)").size();
    constexpr std::size_t kTypeKeyBytes = std::string_view(R"(,"type":")").size();
    const std::string_view text = std::string_view(text_).substr(begin);
    Line line;
    line.idLength_ = narrow(idBytes);
    std::size_t at = kIdAt + line.idLength_ + kParentKeyBytes;
    if (parentBytes > 0) {
      line.parentAt_ = narrow(at + 1);
      line.parentLength_ = narrow(parentBytes);
      at += parentBytes + 2;
    } else {
      at += 4;  // null
    }
    line.typeAt_ = narrow(at + kTypeKeyBytes);
    const std::size_t typeEnd = text.find('"', line.typeAt_);
    BOUGH_CHECK(typeEnd != std::string_view::npos);
    line.typeLength_ = narrow(typeEnd - line.typeAt_);
    return line;
  }

  static std::uint32_t narrow(std::size_t size) { return static_cast<std::uint32_t>(size); }

  std::string text_;
  std::vector<Place> places_;
  std::unordered_multimap<std::size_t, std::size_t> byId_;  // for find(): hash and index of the first lines
};

}  // namespace bough
