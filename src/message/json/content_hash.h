// Detects whether a JSON value still has the content that it had when we wrote it.
//
// A history comes back from programs that parse it and print it again: with different white space, different escapes,
// or a different order of keys. None of that is an edit. So the hash covers the meaning of the text: strings in one
// normal form, numbers by value (integers of any length exactly), members in any order, and only the first of two
// members with the same name. The hash has 64 bits and is fast, but not cryptographic: it protects against mistakes,
// not against deliberate collisions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "message/json/json_tree.h"

namespace bough::message {

/// Hashes bytes as they are.
std::uint64_t hashBytes(std::string_view bytes);

/// The parts from which the hash of a JSON value is composed. A writer uses them to hash while it writes.
namespace content_hash {
/// `body` must be escaped in our writer's form, in which equal texts have equal bodies.
std::uint64_t string(std::string_view body);
std::uint64_t number(std::string_view literal);
std::uint64_t word(json::Kind kind);
std::uint64_t member(std::uint64_t keyHash, std::uint64_t valueHash);
std::uint64_t object(std::uint64_t sumOfMembers, std::uint64_t count);
std::uint64_t element(std::uint64_t soFar, std::uint64_t valueHash);
std::uint64_t array(std::uint64_t soFar, std::uint64_t count);
}  // namespace content_hash

/// Hashes values of indexed texts. Keeps its buffers between calls.
class ContentHasher {
 public:
  std::uint64_t hash(const json::Tree& tree, json::Tree::Index node);
  /// Hashes a value that is not indexed yet. The value must be valid JSON.
  std::uint64_t hash(std::string_view raw);
  /// Hashes a value that may be invalid JSON; then hashes its bytes.
  std::uint64_t hashIfValid(std::string_view raw);
  /// Hashes an object that has a tree and a node, or only raw bytes, and that may already have its hash.
  template <typename Stored>
  std::uint64_t hashOf(const Stored& stored) {
    if (stored.contentHash) return *stored.contentHash;
    return stored.tree != nullptr ? hash(*stored.tree, stored.node) : hashBytes(stored.raw);
  }

 private:
  struct Open {
    json::Tree::Index end;
    bool object;
    std::uint64_t soFar;
    std::uint64_t count;
    std::size_t firstMember;
    std::uint64_t keyAbove;
  };
  struct MemberHash {
    std::uint64_t key;
    std::uint64_t ordinal;
    std::uint64_t value;
  };

  std::uint64_t leaf(const json::Tree& tree, json::Tree::Index node);
  std::uint64_t hashOf(const Open& open);

  std::string decoded_;
  std::string quoted_;
  std::vector<Open> open_;
  std::vector<MemberHash> members_;
  json::Tree scratch_;
};

/// Returns whether a string body may contain escapes that no writer needs; then equal texts may have different bytes.
bool hasOddEscapes(std::string_view body);

/// 16 lower-case hexadecimal digits.
struct HexText {
  std::array<char, 16> digits;
  [[nodiscard]] std::string_view view() const { return {digits.data(), digits.size()}; }
};
HexText toHex(std::uint64_t hash);
/// Reverses toHex; returns 0 for any other text.
std::uint64_t fromHex(std::string_view hex);

}  // namespace bough::message
