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
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    if (const char* value = std::getenv(name)) secrets.addFromUrl(value);
  }
  return secrets;
}

void Secrets::addFromUrl(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t at = url.rfind('@');
  if (at == std::string_view::npos || at == 0) return;
  const std::string_view who = url.substr(0, at);
  add(std::string(who) + "@");
  const std::size_t colon = who.find(':');
  // A short password would be found in words that have nothing to do with it.
  if (colon != std::string_view::npos && who.size() - colon - 1 >= kShortest) add(std::string(who.substr(colon + 1)));
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
