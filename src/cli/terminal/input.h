// What comes on stdin, by lines or whole. A read that fails is an error that says so, never the end of the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::cli {

class Input {
 public:
  struct Line {
    std::string_view text;     ///< Without its end; valid until the next call.
    std::uint64_t number = 0;  ///< From 1.
    std::uint64_t offset = 0;  ///< Where it begins in the input.
  };

  /// More than `maxBytes` are refused while they are read. `stopped` is asked when a signal has come: true ends the
  /// input.
  explicit Input(std::uint64_t maxBytes = UINT64_MAX, std::function<bool()> stopped = {});

  /// The next line; none at the end. One that is longer than a log's lines may be is refused while it is read.
  Result<std::optional<Line>> nextLine();

  /// Skips what is left of a line that nextLine refused. False at the end of the input.
  Result<bool> skipLine();

  /// All that is left.
  Result<std::string> rest();

 private:
  Result<bool> fill();
  [[nodiscard]] std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::unexpected<Error> failed(int number) const;
  [[nodiscard]] std::string place() const;

  std::uint64_t maxBytes_;
  std::function<bool()> stopped_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // of what is unread in the buffer
  std::size_t end_ = 0;
  std::uint64_t readBytes_ = 0;
  std::uint64_t lineCount_ = 0;
  std::string line_;
};

/// "line 3 of the input (byte 120)".
std::string inputPlace(std::uint64_t line, std::uint64_t offset);

}  // namespace bough::cli
