#include "agent/secrets.h"

#include <algorithm>
#include <cstdlib>

namespace bough::agent {
namespace {

constexpr std::size_t kShortest = 8;  // a shorter beginning is a prefix that all keys of a provider share

std::size_t commonPrefix(std::string_view left, std::string_view right) {
  const auto [end, other] = std::ranges::mismatch(left, right);
  return static_cast<std::size_t>(end - left.begin());
}

}  // namespace

const std::vector<std::string>& Secrets::variables() {
  static const std::vector<std::string> kNames = {"ANTHROPIC_API_KEY",   "OPENAI_API_KEY",     "GEMINI_API_KEY",
                                                  "GOOGLE_API_KEY",      "OPENROUTER_API_KEY", "OLLAMA_API_KEY",
                                                  "ANTHROPIC_AUTH_TOKEN"};
  return kNames;
}

Secrets Secrets::fromEnvironment() {
  Secrets secrets;
  for (const std::string& name : variables()) {
    if (const char* value = std::getenv(name.c_str())) secrets.add(value);
  }
  return secrets;
}

void Secrets::add(std::string key) {
  if (!key.empty()) keys_.push_back(std::move(key));
}

std::string Secrets::redact(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t longest = 0;
    for (const std::string& key : keys_) {
      const std::size_t length = commonPrefix(text, key);
      if (length >= std::min(kShortest, key.size())) longest = std::max(longest, length);
    }
    if (longest > 0) {
      out += "[key]";
      text.remove_prefix(longest);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace bough::agent
