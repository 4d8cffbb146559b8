// The common part of every dialect's fuzz target: reads the bytes as one message and as a document, and converts them
// there and back.
#pragma once

#include <bough/convert.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace bough::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Aborts the process when a promise is broken: the way back is exact, and a message in its own dialect is returned
/// unchanged.
inline void readDialect(Dialect dialect, std::string_view bytes) {
  if (const auto message = normalize(bytes, dialect)) {
    for (const Dialect to :
         {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::Bough}) {
      const auto written = denormalize(*message, to);
      require(written.has_value());
      if (to == dialect) require(written->messages.size() == 1 && written->messages.front() == bytes);
    }
  }
  for (const Dialect to : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini}) {
    const auto there = convertHistory(bytes, dialect, to);
    if (!there) continue;
    if (dialect == Dialect::Plain) {
      require(convertHistory(there->document, to, Dialect::Bough, {}, &there->wayBack).has_value());
      continue;
    }
    const auto back = convertHistory(there->document, to, dialect, {}, &there->wayBack);
    require(back.has_value());
    require(back->document == bytes);
  }
}

}  // namespace bough::fuzz
