// SHA-256, which names an attachment.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bough {

/// A running SHA-256.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  /// Returns 64 lower-case hex digits. May be called only once.
  std::string hex();

  static std::string of(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bough
