// Sessions like those of coding agents: mostly short messages, tool results of a few kilobytes, and some large ones,
// with code, JSON and Chinese in them. The same seed gives the same session.
#pragma once

#include <cstdint>
#include <string>

#include "bough/entry.h"

namespace bough::bench {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed * 2 + 1) {}

  /// Returns a message entry whose payload has about the given size; without a size, one from the mix (5 KB on
  /// average).
  Entry message(std::size_t payloadBytes = 0);

 private:
  std::uint64_t next();
  std::size_t mixedSize();
  std::uint64_t state_;
};

struct GeneratedLog {
  std::string lastId;
  std::uint64_t entries = 0;
  std::uint64_t payloadBytes = 0;
};

/// Writes a session of about `bytes` into the store at `folder`, as one chain of entries. `payloadBytes`: the size of
/// each payload; 0: sizes from the mix.
GeneratedLog writeSession(const std::string& folder, const std::string& sessionId, std::uint64_t bytes,
                          std::uint64_t maxEntries = UINT64_MAX, std::size_t payloadBytes = 0);

}  // namespace bough::bench
