// Server-sent events, read from bytes as they arrive, however they are cut.
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

/// Cuts a stream into events. Lines end in LF, CR or CRLF; a line or an event may come in any number of pieces.
class SseParser {
 public:
  /// No provider sends more in one event; an endless line ends here.
  static constexpr std::size_t kMaxEventBytes = std::size_t{32} << 20;
  /// The longest answers of any model need a tenth of it; an endless stream ends here.
  static constexpr std::size_t kMaxStreamBytes = std::size_t{256} << 20;

  /// Returns false to stop: no further event is given.
  using OnEvent = std::function<bool(const SseEvent&)>;

  /// Takes the next bytes and gives every event they complete. Fails with Damaged when a line, an event or
  /// all of the stream is too long.
  Result<void> feed(std::string_view bytes, const OnEvent& onEvent);
  /// The stream is over: gives the last event when only its blank line is missing.
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
