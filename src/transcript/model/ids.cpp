#include "transcript/model/ids.h"

#include <fmt/format.h>

#include "base/bytes/sha256.h"
#include "base/model/ids.h"
#include "base/model/unreadable.h"

namespace bough::transcript {
namespace {

constexpr std::string_view kEscaped = "esc:";
constexpr std::string_view kHashed = "sha:";
constexpr std::string_view kPlaced = "at:";
constexpr std::string_view kHex = "0123456789abcdef";

bool isOurs(std::string_view id) {
  return id.starts_with(kEscaped) || id.starts_with(kHashed) || id.starts_with(kPlaced) || id.starts_with(kFactsId) ||
         offsetOfUnreadableId(id);
}

bool isKept(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (isKept(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '.';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

}  // namespace

std::string entryIdOf(std::string_view foreignId) {
  if (isEntryId(foreignId) && !isOurs(foreignId)) return std::string(foreignId);
  constexpr std::size_t kMostEscaped = 128;
  if (foreignId.size() < kMostEscaped) {
    std::string escaped = std::string(kEscaped) + escape(foreignId);
    if (isEntryId(escaped)) return escaped;
  }
  return std::string(kHashed) + Sha256::of(foreignId);
}

std::string foreignIdOf(std::string_view entryId) {
  if (!entryId.starts_with(kEscaped)) return std::string(entryId);
  std::string out;
  for (std::size_t at = kEscaped.size(); at < entryId.size(); ++at) {
    if (entryId[at] != '.' || at + 2 >= entryId.size()) {
      out += entryId[at];
      continue;
    }
    const std::size_t high = kHex.find(entryId[at + 1]);
    const std::size_t low = kHex.find(entryId[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::string(entryId);
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return out;
}

bool isForeignId(std::string_view entryId) {
  return entryIdOf(foreignIdOf(entryId)) == entryId;
}

std::string entryIdAt(std::string_view scope, std::uint64_t offset, std::uint32_t part) {
  const std::string place = part == 0 ? fmt::format("{}", offset) : fmt::format("{}.{}", offset, part);
  if (scope.empty()) return fmt::format("{}{}", kPlaced, place);
  std::string scoped = fmt::format("{}{}:{}", kPlaced, scope, place);
  if (isEntryId(scoped)) return scoped;
  constexpr std::size_t kShort = 32;
  return fmt::format("{}{}:{}", kPlaced, Sha256::of(scope).substr(0, kShort), place);
}

std::string sessionIdOf(std::string_view agent, std::string_view foreignId) {
  if (isSessionId(foreignId)) return std::string(foreignId);
  constexpr std::size_t kShort = 32;
  return fmt::format("{}-{}", agent, Sha256::of(foreignId).substr(0, kShort));
}

}  // namespace bough::transcript
