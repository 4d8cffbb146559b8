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

  void add(std::string key);
  /// What a URL says before its host: `http://NAME:PASSWORD@host`.
  void addFromUrl(std::string_view url);

  /// `text` with every key, and every beginning of one that is long enough to be of use, replaced by "[key]".
  [[nodiscard]] std::string redact(std::string_view text) const;

  /// The names of the environment variables that hold keys: tools do not get them.
  static const std::vector<std::string>& variables();

 private:
  std::vector<std::string> keys_;
};

}  // namespace bough::agent
