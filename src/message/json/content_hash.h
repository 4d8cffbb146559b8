// Tells whether a JSON value still says what it said when we wrote it.
//
// A history comes back from programs that load and print it again: with other blanks, other escapes, another order of
// keys. None of that is an edit. So the hash is taken over what the text means: strings in one spelling, numbers by
// value (whole numbers of any length exactly), members in any order, the first of two members of one name. It is 64
// bits wide and fast, not cryptographic: it guards against mistakes, not against somebody who wants to fool himself.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "message/json/json_tree.h"

namespace bough::message {

/// Bytes as they are.
std::uint64_t hashBytes(std::string_view bytes);

/// The parts a hash of a JSON value is put together from; a writer uses them to hash while it writes.
namespace content_hash {
/// `body` is escaped as our writer does it: two equal texts have one body.
std::uint64_t string(std::string_view body);
std::uint64_t number(std::string_view literal);
std::uint64_t word(json::Kind kind);
std::uint64_t member(std::uint64_t keyHash, std::uint64_t valueHash);
std::uint64_t object(std::uint64_t sumOfMembers, std::uint64_t count);
std::uint64_t element(std::uint64_t soFar, std::uint64_t valueHash);
std::uint64_t array(std::uint64_t soFar, std::uint64_t count);
}  // namespace content_hash

/// Hashes values of indexed texts; keeps its buffers between calls.
class ContentHasher {
 public:
  std::uint64_t hash(const json::Tree& tree, json::Tree::Index node);
  /// Of a value that is not indexed yet. It must be valid JSON.
  std::uint64_t hash(std::string_view raw);
  /// Of bytes that may be no JSON; then of the bytes.
  std::uint64_t hashIfValid(std::string_view raw);
  /// Of anything that has a tree and a node in it, or only raw bytes, and may know its hash.
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

/// Whether there may be escapes no writer needs, so that equal texts can have other bytes.
bool hasOddEscapes(std::string_view body);

/// 16 lower-case hex digits.
struct HexText {
  std::array<char, 16> digits;
  [[nodiscard]] std::string_view view() const { return {digits.data(), digits.size()}; }
};
HexText toHex(std::uint64_t hash);
/// The reverse; 0 when it is no such text.
std::uint64_t fromHex(std::string_view hex);

}  // namespace bough::message
