#include "agent/tools/credentials.h"
#include "agent/tools/escaped_key.h"
#include "bough/agent/tools.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "base/text/address.h"

namespace bough::agent {
namespace {

// Returns the name and password of a URL: between the scheme and the `@`. Empty when there are none.
std::string_view credentialsIn(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t at = url.rfind('@');
  return at == std::string_view::npos ? std::string_view() : url.substr(0, at + 1);
}

std::mutex variablesMutex;

std::vector<std::string>& variableNames() {
  static std::vector<std::string> names = {"ANTHROPIC_API_KEY",    "OPENAI_API_KEY",     "GEMINI_API_KEY",
                                           "GOOGLE_API_KEY",       "OPENROUTER_API_KEY", "OLLAMA_API_KEY",
                                           "ANTHROPIC_AUTH_TOKEN", "PGPASSWORD"};
  return names;
}

std::string_view nameOf(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

}  // namespace

std::vector<std::string> Secrets::variables() {
  const std::lock_guard lock(variablesMutex);
  return variableNames();
}

void Secrets::addVariable(const std::string& name) {
  if (name.empty()) return;
  const std::lock_guard lock(variablesMutex);
  auto& names = variableNames();
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Secrets Secrets::fromEnvironment() {
  Secrets secrets;
  for (const std::string& name : variables()) {
    if (const char* value = std::getenv(name.c_str())) secrets.add(value);
  }
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    if (mayHoldPassword(nameOf(entry))) secrets.addFromUrl(entry.substr(std::min(entry.find('=') + 1, entry.size())));
  }
  return secrets;
}

void Secrets::hideFromTools() {
  const std::vector<std::string> keys = variables();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const std::string_view name = nameOf(entry);
    const bool isKey = std::ranges::find(keys, name) != keys.end();
    if (name.size() == entry.size() || !(isKey || mayHoldPassword(name))) continue;
    char* copy = ::strdup(*each);  // never freed, like every environment variable
    if (copy == nullptr) throw std::bad_alloc();
    char* old = std::exchange(*each, copy) + name.size() + 1;
    if (isKey) {
      std::fill_n(old, entry.size() - name.size() - 1, 'x');
    } else {
      text::hidePasswords(old);
    }
  }
  (void)::prctl(PR_SET_DUMPABLE, 0);
}

void Secrets::addFromUrl(std::string_view url) {
  for (const std::string_view password : text::passwordsIn(url)) add(std::string(password));
}

void Secrets::add(std::string key) {
  if (key.size() < kShortestKeyBytes) return;
  // Longest first: if one key begins with another one, nothing of the longer key may be left.
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
  return out.contains('\\') ? redactJson(out) : out;
}

std::string Secrets::redactJson(std::string_view text) const {
  std::string beginnings = "\\";
  for (const std::string& key : keys_) beginnings += key.front();
  std::string out;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of(beginnings), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto isHere = [&](const std::string& key) { return escapedKeyBytes(text, key) > 0; };
    const auto key = std::ranges::find_if(keys_, isHere);
    const std::size_t taken = key == keys_.end() ? characterOrEscapeBytes(text) : escapedKeyBytes(text, *key);
    out += key == keys_.end() ? text.substr(0, taken) : std::string_view("[key]");
    text.remove_prefix(taken);
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

bool mayHoldPassword(std::string_view variable) {
  constexpr std::string_view kAddresses[] = {"BOUGH_STORE",         "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
                                             "OPENROUTER_BASE_URL", "OLLAMA_HOST",        "GOOGLE_GEMINI_BASE_URL",
                                             "BOUGH_LOCAL_BASE_URL"};
  constexpr std::string_view kProxy = "_proxy";
  const auto isSame = [](char left, char right) { return (left >= 'A' && left <= 'Z' ? left + 32 : left) == right; };
  const bool isProxy = variable.size() >= kProxy.size() &&
                       std::ranges::equal(variable.substr(variable.size() - kProxy.size()), kProxy, isSame);
  return isProxy || std::ranges::find(kAddresses, variable) != std::end(kAddresses);
}

std::string withoutCredentials(std::string_view url) {
  const std::string_view credentials = credentialsIn(url);
  std::string out(url);
  if (!credentials.empty()) out.erase(static_cast<std::size_t>(credentials.data() - url.data()), credentials.size());
  return out;
}

}  // namespace bough::agent
