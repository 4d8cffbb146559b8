// Writes a JSON value and optionally hashes its meaning at the same time, so that converted text never has to be parsed
// again.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "message/json/content_hash.h"

namespace bough::message {

/// Whether the written text will be compared with what comes back.
enum class Hashing : std::uint8_t { No, Yes };

/// Whether stored values may contain lone surrogates.
enum class Surrogates : std::uint8_t { None, Perhaps };

class NodeWriter {
 public:
  NodeWriter(std::string& out, Hashing hashing, Surrogates inStored = Surrogates::Perhaps)
      : out_(out), hashing_(hashing), inStored_(inStored) {}

  NodeWriter& beginObject() { return open('{', true); }
  NodeWriter& endObject() { return close('}'); }
  NodeWriter& beginArray() { return open('[', false); }
  NodeWriter& endArray() { return close(']'); }
  /// Writes a name that needs no escapes.
  NodeWriter& key(std::string_view name);
  /// Writes a stored text. A text with unnecessary escapes is written in normal form; a lone surrogate, which no server
  /// accepts, becomes U+FFFD.
  NodeWriter& text(const TextView& text) { return texts({&text, 1}); }
  /// Writes several stored texts as one string.
  NodeWriter& texts(std::span<const TextView> parts);
  /// Writes text that is not escaped yet.
  NodeWriter& plain(std::string_view text);
  NodeWriter& boolean(bool value);
  NodeWriter& null();
  NodeWriter& number(std::uint64_t value);
  /// Writes a value that is already JSON; only lone surrogates are replaced. `stored`: the search for them is skipped
  /// when no stored value has any.
  NodeWriter& raw(std::string_view json, bool stored = false);

  NodeWriter& member(std::string_view name, const TextView& value) { return key(name).text(value); }
  NodeWriter& member(std::string_view name, std::string_view value) { return key(name).plain(value); }

  /// Returns the hash of the last completed value; 0 without hashing.
  [[nodiscard]] std::uint64_t lastHash() const { return last_; }

 private:
  struct Open {
    bool object;
    std::uint64_t soFar = 0;
    std::uint64_t count = 0;
    std::uint64_t key = 0;
  };

  void separate();
  void done(std::uint64_t hash);
  [[nodiscard]] std::uint64_t hashOfString(std::string_view body) const {
    return hashing_ == Hashing::Yes ? content_hash::string(body) : 0;
  }
  NodeWriter& open(char bracket, bool object);
  NodeWriter& close(char bracket);
  void spliceSanitized(std::string_view json);
  // Returns whether a string of the current value contains a lone surrogate.
  [[nodiscard]] bool isBroken(json::Tree::Index node) const;

  std::string& out_;
  Hashing hashing_;
  Surrogates inStored_;
  bool comma_ = false;
  std::uint64_t last_ = 0;
  std::vector<Open> open_;
  ContentHasher hasher_;
  json::Tree tree_;
};

}  // namespace bough::message
