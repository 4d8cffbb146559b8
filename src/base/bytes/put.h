// Writes texts one after another to a buffer. The caller makes sure that the buffer is large enough.
#pragma once

#include <cstring>
#include <string_view>

namespace bough {

class Put {
 public:
  explicit Put(char* at) : at_(at) {}
  Put& operator()(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }
  /// Returns the position after the last byte written.
  [[nodiscard]] char* end() const { return at_; }

 private:
  char* at_;
};

}  // namespace bough
