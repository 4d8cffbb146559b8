// The arguments of a tool call. They are read by name and checked, because a model wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::serve {

class ToolArguments {
 public:
  /// `object` must outlive this object.
  explicit ToolArguments(std::string_view object) : object_(object) {}

  /// Returns a text. InvalidArgument when the argument is missing, not a text, or empty, or has half of a surrogate
  /// pair, which UTF-8 cannot hold.
  [[nodiscard]] Result<std::string> text(std::string_view name) const;
  /// Does the same, but returns `fallback` when the argument is missing or null.
  [[nodiscard]] Result<std::string> text(std::string_view name, std::string_view fallback) const;
  /// Returns a number. InvalidArgument when it is not a whole number from 0 to `maximum`; `fallback` when it is
  /// missing.
  [[nodiscard]] Result<std::uint64_t> number(std::string_view name, std::uint64_t fallback,
                                             std::uint64_t maximum) const;
  /// Does the same for a page size, which is at least 1.
  [[nodiscard]] Result<std::uint64_t> count(std::string_view name, std::uint64_t fallback, std::uint64_t maximum) const;
  /// Returns a time, given as RFC 3339 or as a date; std::nullopt when the argument is missing.
  [[nodiscard]] Result<std::optional<std::uint64_t>> time(std::string_view name) const;

 private:
  [[nodiscard]] Result<std::uint64_t> numberInRange(std::uint64_t minimum, std::string_view name,
                                                    std::uint64_t fallback, std::uint64_t maximum) const;
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

  std::string_view object_;
};

}  // namespace bough::serve
