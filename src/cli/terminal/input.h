// Reads stdin, by lines or as a whole. A failed read is an error and never looks like the end of the input.
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
    std::string_view text;     ///< Without its line end; valid until the next call.
    std::uint64_t number = 0;  ///< From 1.
    std::uint64_t offset = 0;  ///< The byte offset of its beginning in the input.
  };

  /// Fails as soon as more than `maxBytes` have been read. Calls `stopped` after a signal; if `stopped` returns true,
  /// the input ends.
  explicit Input(std::uint64_t maxBytes = UINT64_MAX, std::function<bool()> stopped = {});

  /// Returns the next line, or std::nullopt at the end. Fails as soon as a line is longer than a log's line may be.
  Result<std::optional<Line>> nextLine();

  /// Skips the rest of a line that nextLine refused. Returns false at the end of the input.
  Result<bool> skipLine();

  /// Returns the rest of the input.
  Result<std::string> rest();

 private:
  Result<bool> fill();
  [[nodiscard]] std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::unexpected<Error> failed(int number) const;
  [[nodiscard]] std::string place() const;

  std::uint64_t maxBytes_;
  std::function<bool()> stopped_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // where the unread bytes in the buffer begin
  std::size_t end_ = 0;
  std::uint64_t readBytes_ = 0;
  std::uint64_t lineCount_ = 0;
  std::string line_;
};

/// Returns text such as "line 3 of the input (byte 120)".
std::string inputPlace(std::uint64_t line, std::uint64_t offset);

}  // namespace bough::cli
