// Parses server-sent events from bytes as they arrive, in pieces of any size.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::agent {

struct SseEvent {
  std::string_view name;  ///< Empty when the event has none.
  std::string_view data;  ///< The data lines, joined by line feeds.
};

/// Splits a stream into events. Lines end in LF, CR or CRLF; a line or an event may arrive in any number of pieces.
class SseParser {
 public:
  /// No provider sends a larger event. The limit stops an endless line.
  static constexpr std::size_t kMaxEventBytes = std::size_t{32} << 20;
  /// Ten times the longest answer of any model. The limit stops an endless stream.
  static constexpr std::size_t kMaxStreamBytes = std::size_t{256} << 20;

  /// Returns false to stop the parser: it then gives no further event.
  using OnEvent = std::function<bool(const SseEvent&)>;

  /// Parses the next bytes and passes on every event that they complete. Fails with Damaged when a line, an event or
  /// the whole stream is too long.
  Result<void> feed(std::string_view bytes, const OnEvent& onEvent);
  /// Ends the stream. Passes on the last event if only its blank line is missing.
  Result<void> end(const OnEvent& onEvent);

 private:
  Result<void> takeLine(std::string_view line, const OnEvent& onEvent);
  void dispatch(const OnEvent& onEvent);

  std::size_t streamBytes_ = 0;
  std::string line_;
  std::string name_;
  std::string data_;
  bool hasData_ = false;
  bool afterCr_ = false;
  bool first_ = true;
  bool stopped_ = false;
};

}  // namespace bough::agent
