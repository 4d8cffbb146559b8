// A buffer for scanning a file piece by piece: the unprocessed rest of the earlier pieces, then the next piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace bough {

/// Not thread-safe.
class ChunkBuffer {
 public:
  /// Returns space for the next piece, which is at `offset` in the file, after the bytes already held. Invalidates
  /// views of the bytes held.
  std::span<char> room(std::uint64_t offset, std::size_t sizeBytes) {
    const std::size_t held = end_ - begin_;
    if (capacity_ < kLine + held + sizeBytes) {
      grow(2 * (kLine + held + sizeBytes));
    }
    // Give the piece the same position within a cache line as within its page of the file: the kernel copies to such an
    // address about a tenth faster. A long rest is not moved.
    const std::size_t begin = (offset - held - reinterpret_cast<std::uintptr_t>(bytes_.get())) % kLine;
    if (held <= sizeBytes || end_ + sizeBytes > capacity_) {
      std::memmove(bytes_.get() + begin, bytes_.get() + begin_, held);
      begin_ = begin;
      end_ = begin + held;
    }
    return {bytes_.get() + end_, sizeBytes};
  }
  /// Adds the next `sizeBytes` of the space to the bytes held, after the caller has read them.
  void add(std::size_t sizeBytes) { end_ += sizeBytes; }
  [[nodiscard]] std::string_view held() const { return {bytes_.get() + begin_, end_ - begin_}; }
  /// Discards the first `sizeBytes` of the bytes held.
  void drop(std::size_t sizeBytes) { begin_ += sizeBytes; }
  void clear() { begin_ = end_ = 0; }
  /// Releases memory beyond `sizeBytes`, which only a long line needed.
  void shrinkTo(std::size_t sizeBytes) {
    if (capacity_ > sizeBytes) *this = ChunkBuffer();
  }

 private:
  static constexpr std::size_t kLine = 64;

  void grow(std::size_t sizeBytes) {
    auto larger = std::make_unique_for_overwrite<char[]>(sizeBytes);
    if (end_ > begin_) std::memcpy(larger.get() + begin_, bytes_.get() + begin_, end_ - begin_);
    bytes_ = std::move(larger);
    capacity_ = sizeBytes;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // start of the bytes held
  std::size_t end_ = 0;
};

}  // namespace bough
