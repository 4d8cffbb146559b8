#include "message/model/aliases.h"

#include <algorithm>

#include "base/bytes/sha256.h"
#include "message/json/content_hash.h"

namespace bough::message {
namespace {

bool isWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Returns the first 160 bits of the hash as 32 characters.
std::string base32(std::string_view hexDigest) {
  static constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  auto nibble = [&](std::size_t i) {
    const char c = hexDigest[i];
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  std::string out;
  unsigned bits = 0;
  unsigned held = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    bits = bits << 4 | nibble(i);
    held += 4;
    if (held >= 5) {
      held -= 5;
      out += kAlphabet[bits >> held & 31];
      bits &= (1U << held) - 1;
    }
  }
  return out;
}

}  // namespace

void Aliases::learn(std::string alias, std::string original) {
  if (originals_.contains(alias)) return;
  const std::string_view kept = owned_.emplace_front(std::move(alias));
  const std::string_view keptOriginal = owned_.emplace_front(std::move(original));
  originals_.emplace(kept, keptOriginal);
  table_.emplace_back(kept, keptOriginal);
}

TextView Aliases::original(TextView seen) const {
  if (originals_.empty()) return seen;
  const auto found = originals_.find(seen.escaped);
  if (found == originals_.end()) return seen;
  return {.escaped = found->second, .present = true, .oddEscapes = hasOddEscapes(found->second)};
}

bool Aliases::isLegal(Dialect target, std::string_view escaped) const {
  constexpr std::size_t kMaxChatId = 40;
  constexpr std::size_t kMax = 64;
  if (target == Dialect::Bough) return true;
  if (escaped.empty() || escaped.size() > kMax || escaped.contains('\\')) return false;
  if (what_ == Of::CallId) {
    if (target == Dialect::Anthropic) return std::ranges::all_of(escaped, isWordChar);
    return target != Dialect::OpenaiChat || escaped.size() <= kMaxChatId;
  }
  if (target != Dialect::Gemini) return std::ranges::all_of(escaped, isWordChar);
  const bool goodStart =
      isWordChar(escaped.front()) && escaped.front() != '-' && !(escaped.front() >= '0' && escaped.front() <= '9');
  return goodStart && std::ranges::all_of(escaped, [](char c) { return isWordChar(c) || c == '.' || c == ':'; });
}

bool Aliases::isSendable(Dialect dialect, const TextView& own) const {
  constexpr std::size_t kMax = 64;
  const std::string decoded = own.escaped.contains('\\') ? own.decode() : std::string();
  const std::string_view text = decoded.empty() ? own.escaped : std::string_view(decoded);
  if (text.empty()) return false;
  if (what_ == Of::ToolName) return dialect == Dialect::Gemini || std::ranges::all_of(text, isWordChar);
  if (dialect == Dialect::Anthropic) return std::ranges::all_of(text, isWordChar);
  return dialect == Dialect::Gemini || text.size() <= kMax;
}

std::string Aliases::makeAlias(std::string_view original, unsigned occurrence, unsigned attempt) const {
  std::string seed(original);
  if (occurrence > 0) seed += '\0' + std::to_string(occurrence);
  if (attempt > 0) seed += '\1' + std::to_string(attempt);
  const std::string digest = base32(Sha256::of(seed));
  if (what_ == Of::CallId) return "call_" + digest;
  // A name keeps its readable beginning, because the model relies on it.
  constexpr std::size_t kReadable = 29;
  std::string readable(original.substr(0, kReadable));
  for (char& c : readable) {
    if (!isWordChar(c) || c == '-') c = '_';
  }
  return "t_" + readable + "_" + digest;
}

TextView Aliases::inTarget(Dialect target, TextView original, unsigned occurrence) {
  if (occurrence == 0 && isLegal(target, original.escaped)) return original;
  std::string seed(original.escaped);
  seed += '\0' + std::to_string(occurrence);
  const auto known = made_.find(seed);
  if (known != made_.end()) return {.escaped = known->second, .present = true, .oddEscapes = false};
  std::string alias;
  for (unsigned attempt = 0;; ++attempt) {
    alias = makeAlias(original.escaped, occurrence, attempt);
    const auto meaning = originals_.find(alias);
    const bool free = meaning == originals_.end() || meaning->second == original.escaped;
    if (!taken_.contains(alias) && free) break;
  }
  learn(alias, std::string(original.escaped));
  const std::string_view kept = originals_.find(alias)->first;
  made_.emplace(std::move(seed), kept);
  return {.escaped = kept, .present = true, .oddEscapes = false};
}

}  // namespace bough::message
