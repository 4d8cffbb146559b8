#include "agent/tools/credentials.h"
#include "bough/agent/tools.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>

#include "base/text/address.h"

namespace bough::agent {
namespace {

// Where a URL's name and password stand: after the scheme, before the `@`. Empty when it has none.
std::string_view credentialsIn(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t at = url.rfind('@');
  return at == std::string_view::npos ? std::string_view() : url.substr(0, at + 1);
}

std::mutex variablesMutex;

std::vector<std::string>& variableNames() {
  static std::vector<std::string> names = {"ANTHROPIC_API_KEY",   "OPENAI_API_KEY",     "GEMINI_API_KEY",
                                           "GOOGLE_API_KEY",      "OPENROUTER_API_KEY", "OLLAMA_API_KEY",
                                           "ANTHROPIC_AUTH_TOKEN"};
  return names;
}

}  // namespace

std::vector<std::string> Secrets::variables() {
  const std::lock_guard lock(variablesMutex);
  return variableNames();
}

void Secrets::addVariable(const std::string& name) {
  const std::lock_guard lock(variablesMutex);
  auto& names = variableNames();
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Secrets Secrets::fromEnvironment() {
  Secrets secrets;
  for (const std::string& name : variables()) {
    if (const char* value = std::getenv(name.c_str())) secrets.add(value);
  }
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "BOUGH_STORE"}) {
    if (const char* value = std::getenv(name)) secrets.addFromUrl(value);
  }
  if (const char* password = std::getenv("PGPASSWORD")) secrets.add(password);
  return secrets;
}

void Secrets::addFromUrl(std::string_view url) {
  for (const std::string_view password : text::passwordsIn(url)) add(std::string(password));
}

void Secrets::add(std::string key) {
  if (key.size() < kShortestKeyBytes) return;
  // The longest first: of a key that begins with another one nothing may be left.
  const auto place = std::ranges::lower_bound(keys_, key.size(), std::ranges::greater(), &std::string::size);
  keys_.insert(place, std::move(key));
}

std::string Secrets::redact(std::string_view text) const {
  std::string out(text);
  for (const std::string& key : keys_) {
    for (std::size_t at = out.find(key); at != std::string::npos; at = out.find(key, at)) {
      out.replace(at, key.size(), "[key]");
    }
  }
  return out;
}

std::size_t Secrets::openBytes(std::string_view text) const {
  std::size_t most = 0;
  for (const std::string& key : keys_) {
    for (std::size_t bytes = std::min(key.size() - 1, text.size()); bytes > most; --bytes) {
      if (text.ends_with(std::string_view(key).substr(0, bytes))) most = bytes;
    }
  }
  return most;
}

std::string withoutCredentials(std::string_view url) {
  const std::string_view credentials = credentialsIn(url);
  std::string out(url);
  if (!credentials.empty()) out.erase(static_cast<std::size_t>(credentials.data() - url.data()), credentials.size());
  return out;
}

}  // namespace bough::agent
