// A file's bytes while they are looked through piece by piece: what is left of the pieces before, then the next piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace bough {

/// One thread at a time.
class ChunkBuffer {
 public:
  /// Room for the next piece, which is at `offset` in its file, after what is held. Views of what is held end here.
  std::span<char> room(std::uint64_t offset, std::size_t sizeBytes) {
    const std::size_t held = end_ - begin_;
    if (capacity_ < kLine + held + sizeBytes) {
      grow(2 * (kLine + held + sizeBytes));
    }
    // A piece has the same place in a line of the cache as in its page of the file: the system copies it a tenth faster
    // than to any other place. What is long stays where it is.
    const std::size_t begin = (offset - held - reinterpret_cast<std::uintptr_t>(bytes_.get())) % kLine;
    if (held <= sizeBytes || end_ + sizeBytes > capacity_) {
      std::memmove(bytes_.get() + begin, bytes_.get() + begin_, held);
      begin_ = begin;
      end_ = begin + held;
    }
    return {bytes_.get() + end_, sizeBytes};
  }
  /// So many bytes of the room were read.
  void add(std::size_t sizeBytes) { end_ += sizeBytes; }
  [[nodiscard]] std::string_view held() const { return {bytes_.get() + begin_, end_ - begin_}; }
  /// Forgets the first bytes of what is held.
  void drop(std::size_t sizeBytes) { begin_ += sizeBytes; }
  void clear() { begin_ = end_ = 0; }
  /// Gives back memory that only a long line needed.
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
  std::size_t begin_ = 0;  // of what is held
  std::size_t end_ = 0;
};

}  // namespace bough
