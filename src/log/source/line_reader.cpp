#include "log/source/line_reader.h"

#include "base/try.h"

#include <algorithm>
#include <cstring>

namespace bough {

LineReader::LineReader(ByteSource& source, std::uint64_t offset) : source_(source), bufferOffset_(offset) {
  // A short rest, as after each append of another process, does not need a large buffer.
  const auto size = source.size();
  const std::uint64_t rest = size && *size > offset ? *size - offset + 1 : kSmallestBytes;
  capacity_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(rest, kSmallestBytes, kChunkBytes));
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
}

// Makes room in the buffer and reads more. Returns false at the end of the source.
SysResult<bool> LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) {
    const std::size_t wider = std::min(capacity_ * 2, kMaxLineBytes + kChunkBytes);
    auto grown = std::make_unique_for_overwrite<char[]>(wider);
    std::memcpy(grown.get(), buffer_.get(), end_);
    buffer_ = std::move(grown);
    capacity_ = wider;
  }
  // Fill the whole buffer, so that a long line is swept a few times, and not once for each piece that a compressed
  // source returns.
  BOUGH_TRY(const auto got, readFully(source_, bufferOffset_ + end_, {buffer_.get() + end_, capacity_ - end_}));
  end_ += got;
  atEnd_ = got == 0;
  return !atEnd_;
}

// Skips a line that is too long to hold. Its beginning stays in the buffer; the rest is only searched for the line end.
SysResult<LineReader::Line> LineReader::skipLongLine() {
  Line line{
      .offset = bufferOffset_, .length = end_ - begin_, .text = {}, .hasEnd = false, .tooLong = true, .sweep = {}};
  char* const scratch = buffer_.get() + begin_ + kKeptBytes;
  const std::size_t room = capacity_ - begin_ - kKeptBytes;
  for (;;) {
    BOUGH_TRY(const auto got, source_.readAt(line.offset + line.length, {scratch, room}));
    if (got == 0) break;
    const void* found = std::memchr(scratch, '\n', got);
    if (found != nullptr) {
      line.length += static_cast<std::size_t>(static_cast<const char*>(found) - scratch);
      line.hasEnd = true;
      break;
    }
    line.length += got;
  }
  line.text = {buffer_.get() + begin_, kKeptBytes};
  bufferOffset_ = line.offset + line.length + (line.hasEnd ? 1 : 0);
  begin_ = end_ = 0;
  return line;
}

SysResult<std::optional<LineReader::Line>> LineReader::next(Crc32c begin) {
  for (;;) {
    const std::string_view rest(buffer_.get() + begin_, end_ - begin_);
    const LineSweep sweep = rest.empty() ? LineSweep{} : LineSweep::run(rest, begin);
    const bool ended = sweep.length != std::string_view::npos;
    if (ended || (atEnd_ && !rest.empty())) {
      const std::size_t length = ended ? sweep.length : rest.size();
      const bool tooLong = length > kMaxLineBytes;
      Line line{.offset = bufferOffset_,
                .length = length,
                .text = rest.substr(0, tooLong ? kKeptBytes : length),
                .hasEnd = ended,
                .tooLong = tooLong,
                .sweep = sweep};
      const std::size_t step = length + (ended ? 1 : 0);
      begin_ += step;
      bufferOffset_ += step;
      return std::optional(line);
    }
    if (atEnd_) return std::optional<Line>();
    if (rest.size() > kMaxLineBytes) {
      BOUGH_TRY(auto line, skipLongLine());
      return std::optional(line);
    }
    BOUGH_TRY(fill());
  }
}

}  // namespace bough
