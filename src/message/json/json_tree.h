// Builds an index of all values of a JSON text in one pass.
//
// json_scan.h reads one level at a time and scans every byte again for each level above it. A conversion visits all
// levels of long histories, so it is worth building an index: 16 bytes per value, in the order of the text. Nothing is
// decoded; a node is a slice. When a text breaks off, everything that was complete before the break is kept, so that
// the rest of a damaged history can still be converted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json/json_scan.h"

namespace bough::json {

class Tree {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xFFFFFFFF;
  /// Limit because offsets have 32 bits.
  static constexpr std::size_t kMaxTextBytes = 0xFFFFFFF0;

  /// Is notified of objects and arrays while a text is indexed, when their bytes are still in the cache. A caller that
  /// needs all bytes of a long text then does not load them from memory twice.
  class Observer {
   public:
    /// Called when an object or array inside `depth` others is complete.
    virtual void completed(const Tree& tree, Index node, std::size_t depth) = 0;

   protected:
    ~Observer() = default;
  };

  /// Indexes one value, which may have white space around it. The text must outlive the tree. After an error the nodes
  /// before the error stay, and the containers around it are broken(). A text with more than `mostValues` values is an
  /// error, because a node takes eight times the bytes of the shortest value.
  std::optional<ScanError> parse(std::string_view text, std::size_t mostValues = kMaxTextBytes,
                                 Observer* observer = nullptr);
  static constexpr std::string_view kTooMany = "it holds too many values";

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] Index size() const { return static_cast<Index>(nodes_.size()); }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] Kind kind(Index node) const { return nodes_[node].kind; }
  [[nodiscard]] bool isObject(Index node) const { return node != kNone && kind(node) == Kind::Object; }
  [[nodiscard]] bool isArray(Index node) const { return node != kNone && kind(node) == Kind::Array; }
  [[nodiscard]] bool isString(Index node) const { return node != kNone && kind(node) == Kind::String; }
  [[nodiscard]] bool broken(Index node) const { return (nodes_[node].flags & kBroken) != 0; }
  [[nodiscard]] bool hasEscapes(Index node) const { return (nodes_[node].flags & kEscapes) != 0; }
  /// Returns whether a string has escapes that no writer needs: \u, \/. Without them equal texts have equal bodies.
  [[nodiscard]] bool hasOddEscapes(Index node) const { return (nodes_[node].flags & kOddEscapes) != 0; }
  [[nodiscard]] bool hasSurrogates(Index node) const { return (nodes_[node].flags & kSurrogates) != 0; }
  /// Returns whether any string has surrogates.
  [[nodiscard]] bool anySurrogates() const { return anySurrogates_; }
  [[nodiscard]] std::uint32_t begin(Index node) const { return nodes_[node].begin; }
  [[nodiscard]] std::uint32_t end(Index node) const { return nodes_[node].end; }
  /// Returns the index after the node and everything inside it.
  [[nodiscard]] Index next(Index node) const { return nodes_[node].next; }
  [[nodiscard]] std::string_view raw(Index node) const {
    return text_.substr(nodes_[node].begin, nodes_[node].end - nodes_[node].begin);
  }
  /// Returns the text between a string's quotes.
  [[nodiscard]] std::string_view body(Index node) const {
    return text_.substr(nodes_[node].begin + 1, nodes_[node].end - nodes_[node].begin - 2);
  }
  [[nodiscard]] bool stringIs(Index node, std::string_view value) const {
    if (!isString(node)) return false;
    return hasEscapes(node) ? decodedIs(node, value) : body(node) == value;
  }

  /// Returns the value of a member, the first one when the name occurs twice (decision 0043). kNone when there is no
  /// such member.
  [[nodiscard]] Index find(Index object, std::string_view name) const;

  struct Member {
    Index key;
    Index value;
  };
  struct MemberRange;
  struct ElementRange;
  [[nodiscard]] MemberRange members(Index object) const;
  [[nodiscard]] ElementRange elements(Index array) const;

 private:
  static constexpr std::uint8_t kBroken = 1;
  static constexpr std::uint8_t kEscapes = 2;
  static constexpr std::uint8_t kSurrogates = 4;
  static constexpr std::uint8_t kOddEscapes = 8;

  struct Node {
    std::uint32_t begin;
    std::uint32_t end;
    Index next;
    Kind kind;
    std::uint8_t flags;
  };

  class Parser;

  [[nodiscard]] bool decodedIs(Index node, std::string_view value) const;

  std::string_view text_;
  std::vector<Node> nodes_;
  bool anySurrogates_ = false;
};

struct Tree::MemberRange {
  const Tree* tree;
  Index first;
  Index last;

  struct Iterator {
    const Tree* tree;
    Index at;
    Member operator*() const { return {.key = at, .value = at + 1}; }
    Iterator& operator++() {
      at = tree->next(at + 1);
      return *this;
    }
    bool operator==(const Iterator& other) const { return at == other.at; }
  };
  [[nodiscard]] Iterator begin() const { return {tree, first}; }
  [[nodiscard]] Iterator end() const { return {tree, last}; }
};

struct Tree::ElementRange {
  const Tree* tree;
  Index first;
  Index last;

  struct Iterator {
    const Tree* tree;
    Index at;
    Index operator*() const { return at; }
    Iterator& operator++() {
      at = tree->next(at);
      return *this;
    }
    bool operator==(const Iterator& other) const { return at == other.at; }
  };
  [[nodiscard]] Iterator begin() const { return {tree, first}; }
  [[nodiscard]] Iterator end() const { return {tree, last}; }
};

inline Tree::MemberRange Tree::members(Index object) const {
  if (!isObject(object)) return {this, 0, 0};
  return {this, object + 1, next(object)};
}

inline Tree::ElementRange Tree::elements(Index array) const {
  if (!isArray(array)) return {this, 0, 0};
  return {this, array + 1, next(array)};
}

}  // namespace bough::json
