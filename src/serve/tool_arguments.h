// The arguments of a tool's call: read by name and checked, because a model wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

namespace bough::serve {

class ToolArguments {
 public:
  /// `object` must outlive this.
  explicit ToolArguments(std::string_view object) : object_(object) {}

  /// InvalidArgument when the argument is missing, is not a text, or is empty.
  [[nodiscard]] Result<std::string> text(std::string_view name) const;
  /// The same; `otherwise` when it is missing or null.
  [[nodiscard]] Result<std::string> text(std::string_view name, std::string_view otherwise) const;
  /// InvalidArgument when the argument is not a whole number from 0 to `most`; `otherwise` when it is missing.
  [[nodiscard]] Result<std::uint64_t> number(std::string_view name, std::uint64_t otherwise, std::uint64_t most) const;
  /// The same from 1: how many of something a page has.
  [[nodiscard]] Result<std::uint64_t> count(std::string_view name, std::uint64_t otherwise, std::uint64_t most) const;
  /// A time: RFC 3339, or a date. None when it is missing.
  [[nodiscard]] Result<std::optional<std::uint64_t>> time(std::string_view name) const;

 private:
  [[nodiscard]] Result<std::uint64_t> numberFrom(std::uint64_t least, std::string_view name, std::uint64_t otherwise,
                                                 std::uint64_t most) const;
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

  std::string_view object_;
};

}  // namespace bough::serve
