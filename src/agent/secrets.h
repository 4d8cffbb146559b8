// Keys, and how they are kept out of everything that is printed or stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bough::agent {

/// The keys this process knows of.
class Secrets {
 public:
  /// All that the usual environment variables hold, those of proxies among them.
  static Secrets fromEnvironment();

  /// Shorter ones are words (`test`, `ollama`), not keys: to hide them would damage texts and files.
  static constexpr std::size_t kShortestKeyBytes = 16;

  /// Remembers a key; one that is too short is left out.
  void add(std::string key);
  /// The password that a URL may hold before its host: `http://NAME:PASSWORD@host`.
  void addFromUrl(std::string_view url);

  /// `text` with every whole key replaced by "[key]". A part of a key, as `sk-proj-`, stays what it is.
  [[nodiscard]] std::string redact(std::string_view text) const;

  /// The names of the environment variables that hold keys: tools do not get them.
  static const std::vector<std::string>& variables();

 private:
  std::vector<std::string> keys_;
};

/// A URL without the name and password before its host: for messages.
std::string withoutCredentials(std::string_view url);

}  // namespace bough::agent
