// A log in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "log/source/byte_source.h"

namespace bough {

/// Reads from a text that must outlive this object.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}

  SysResult<std::uint64_t> size() override { return text_.size(); }
  SysResult<std::size_t> readAt(std::uint64_t offset, std::span<char> out) override {
    if (offset >= text_.size()) return 0;
    const std::string_view part = text_.substr(static_cast<std::size_t>(offset), out.size());
    std::memcpy(out.data(), part.data(), part.size());
    return part.size();
  }

 private:
  std::string_view text_;
};

}  // namespace bough
