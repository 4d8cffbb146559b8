// Writes a JSON value and, where that is wanted, hashes what it means in the same stroke, so that converted text is
// never parsed again.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "message/json/content_hash.h"

namespace bough::message {

/// Whether somebody will compare what was written with what comes back.
enum class Hashing : std::uint8_t { No, Yes };

/// Whether values that were stored may have halves of characters in them.
enum class Surrogates : std::uint8_t { None, Perhaps };

class NodeWriter {
 public:
  NodeWriter(std::string& out, Hashing hashing, Surrogates inStored = Surrogates::Perhaps)
      : out_(out), hashing_(hashing), inStored_(inStored) {}

  NodeWriter& beginObject() { return open('{', true); }
  NodeWriter& endObject() { return close('}'); }
  NodeWriter& beginArray() { return open('[', false); }
  NodeWriter& endArray() { return close(']'); }
  /// A name that needs no escapes.
  NodeWriter& key(std::string_view name);
  /// A stored text. One with odd escapes is spelled again; a lone surrogate, which no server takes, becomes U+FFFD.
  NodeWriter& text(const TextView& text) { return texts({&text, 1}); }
  /// Several stored texts as one string.
  NodeWriter& texts(std::span<const TextView> parts);
  /// Text that is not escaped yet.
  NodeWriter& plain(std::string_view text);
  NodeWriter& boolean(bool value);
  NodeWriter& null();
  NodeWriter& number(std::uint64_t value);
  /// A value that is JSON already, spliced; only lone surrogates are replaced. `stored`: nobody looks for them where no
  /// stored value has some.
  NodeWriter& raw(std::string_view json, bool stored = false);

  NodeWriter& member(std::string_view name, const TextView& value) { return key(name).text(value); }
  NodeWriter& member(std::string_view name, std::string_view value) { return key(name).plain(value); }

  /// The hash of the value that was completed last; 0 without hashing.
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
  // Whether a string of the value at hand has half of a character in it.
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
