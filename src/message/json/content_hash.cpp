#include "message/json/content_hash.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/json/json_write.h"

namespace bough::message {
namespace {

constexpr std::uint64_t kSeed = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kFirst = 0xA0761D6478BD642F;
constexpr std::uint64_t kSecond = 0xE7037ED1A0B428DB;
constexpr std::uint64_t kString = 0x8EBC6AF09C88C6E3;
constexpr std::uint64_t kNumber = 0x589965CC75374CC3;
constexpr std::uint64_t kObject = 0x1D8E4E27C47D124F;
constexpr std::uint64_t kArray = 0xEB44ACCAB455D165;

__extension__ using Wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a ^ kFirst) * (b ^ kSecond);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* at, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, size);
  return word;
}

}  // namespace

std::uint64_t hashBytes(std::string_view bytes) {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t a = kSeed ^ bytes.size();
  std::uint64_t b = kSeed + bytes.size();
  // Two independent chains keep the multiplier busy.
  for (; left >= 32; at += 32, left -= 32) {
    a = mix(load(at, 8) ^ a, load(at + 8, 8));
    b = mix(load(at + 16, 8) ^ b, load(at + 24, 8));
  }
  for (; left >= 8; at += 8, left -= 8) a = mix(load(at, 8) ^ a, kSeed);
  if (left > 0) b = mix(load(at, left) ^ b, left);
  return mix(a, b);
}

namespace content_hash {

std::uint64_t string(std::string_view body) {
  return mix(hashBytes(body), kString);
}

std::uint64_t number(std::string_view literal) {
  constexpr double kExactLimit = 9007199254740992.0;
  if (literal == "-0") literal = "0";
  if (literal.find_first_of(".eE") == std::string_view::npos) return mix(hashBytes(literal), kNumber);
  double value = 0;
  std::from_chars(literal.data(), literal.data() + literal.size(), value);
  char digits[64];
  const bool whole = std::trunc(value) == value && std::abs(value) < kExactLimit;
  const auto end = whole ? std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(value)).ptr
                         : std::to_chars(digits, digits + sizeof digits, value).ptr;
  return mix(hashBytes({digits, static_cast<std::size_t>(end - digits)}), kNumber);
}

std::uint64_t word(json::Kind kind) {
  return mix(static_cast<std::uint64_t>(kind) + 1, kSeed);
}
std::uint64_t member(std::uint64_t keyHash, std::uint64_t valueHash) {
  return mix(keyHash, valueHash);
}
std::uint64_t object(std::uint64_t sumOfMembers, std::uint64_t count) {
  return mix(sumOfMembers ^ kObject, count);
}
std::uint64_t element(std::uint64_t soFar, std::uint64_t valueHash) {
  return mix(soFar + kArray, valueHash);
}
std::uint64_t array(std::uint64_t soFar, std::uint64_t count) {
  return mix(soFar ^ kArray, count);
}

}  // namespace content_hash

bool hasOddEscapes(std::string_view body) {
  for (std::size_t at = body.find('\\'); at != std::string_view::npos; at = body.find('\\', at + 2)) {
    if (at + 1 < body.size() && (body[at + 1] == 'u' || body[at + 1] == '/')) return true;
  }
  return false;
}

std::uint64_t ContentHasher::leaf(const json::Tree& tree, json::Tree::Index node) {
  switch (tree.kind(node)) {
    case json::Kind::String:
      if (!tree.hasOddEscapes(node)) return content_hash::string(tree.body(node));
      decoded_.clear();
      quoted_.clear();
      json::appendDecoded(decoded_, tree.body(node));
      json::appendQuoted(quoted_, decoded_);
      return content_hash::string(std::string_view(quoted_).substr(1, quoted_.size() - 2));
    case json::Kind::Number: return content_hash::number(tree.raw(node));
    default: return content_hash::word(tree.kind(node));
  }
}

std::uint64_t ContentHasher::hashOf(const Open& open) {
  if (!open.object) return content_hash::array(open.soFar, open.count);
  const auto first = members_.begin() + static_cast<std::ptrdiff_t>(open.firstMember);
  std::sort(first, members_.end(), [](const MemberHash& a, const MemberHash& b) {
    return a.key != b.key ? a.key < b.key : a.ordinal < b.ordinal;
  });
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  for (auto it = first; it != members_.end(); ++it) {
    if (it != first && (it - 1)->key == it->key) continue;
    sum += content_hash::member(it->key, it->value);
    ++count;
  }
  members_.erase(first, members_.end());
  return content_hash::object(sum, count);
}

std::uint64_t ContentHasher::hash(const json::Tree& tree, json::Tree::Index node) {
  open_.clear();
  members_.clear();
  const json::Tree::Index end = tree.next(node);
  std::uint64_t done = 0;
  json::Tree::Index at = node;
  std::uint64_t pendingKey = 0;
  bool expectKey = false;
  while (at < end) {
    if (expectKey) {
      pendingKey = leaf(tree, at++);
      expectKey = false;
      continue;
    }
    const json::Kind kind = tree.kind(at);
    const bool container = kind == json::Kind::Object || kind == json::Kind::Array;
    if (container) {
      open_.push_back({.end = tree.next(at),
                       .object = kind == json::Kind::Object,
                       .soFar = 0,
                       .count = 0,
                       .firstMember = members_.size(),
                       .keyAbove = pendingKey});
      ++at;
      if (at < open_.back().end) {
        expectKey = open_.back().object;
        continue;
      }
    } else {
      done = leaf(tree, at++);
    }
    bool closing = container;
    for (;;) {
      if (closing) {
        done = hashOf(open_.back());
        pendingKey = open_.back().keyAbove;
        open_.pop_back();
      }
      if (open_.empty()) break;
      Open& parent = open_.back();
      if (parent.object) {
        members_.push_back({.key = pendingKey, .ordinal = parent.count, .value = done});
      } else {
        parent.soFar = content_hash::element(parent.soFar, done);
      }
      ++parent.count;
      if (at < parent.end) {
        expectKey = parent.object;
        break;
      }
      closing = true;
    }
  }
  return done;
}

std::uint64_t ContentHasher::hash(std::string_view raw) {
  const auto error = scratch_.parse(raw);
  BOUGH_CHECK(!error);
  return hash(scratch_, 0);
}

std::uint64_t ContentHasher::hashIfValid(std::string_view raw) {
  return scratch_.parse(raw) ? hashBytes(raw) : hash(scratch_, 0);
}

HexText toHex(std::uint64_t hash) {
  HexText hex;
  for (std::size_t i = 16; i-- > 0; hash >>= 4) hex.digits[i] = "0123456789abcdef"[hash & 15];
  return hex;
}

std::uint64_t fromHex(std::string_view hex) {
  std::uint64_t hash = 0;
  const auto [end, status] = std::from_chars(hex.data(), hex.data() + hex.size(), hash, 16);
  return status == std::errc{} && end == hex.data() + hex.size() ? hash : 0;
}

}  // namespace bough::message
