// What the index alone says of a session, and ids by their beginning.

#include <algorithm>
#include <optional>

#include "base/file_io.h"
#include "log/log_parts.h"

namespace bough {

namespace {

// Adds records to an outline; false when one cannot be what it says: its parent would stand behind it.
bool addRecords(std::span<const IndexRecord> records, SessionOutline& outline) {
  auto ordinal = static_cast<Ordinal>(outline.kinds.size());
  outline.kinds.resize(ordinal + records.size());
  for (const IndexRecord& record : records) {
    outline.kinds[ordinal] = record.kind;
    // Nearly always: the child of the entry before it.
    if (record.parent + 1 != ordinal || ordinal == 0) {
      if (ordinal > 0 || record.parent != kNoOrdinal) outline.jumps.push_back({ordinal, record.parent});
      if (record.parent >= ordinal && record.parent < kElsewhere) return false;
    }
    ++ordinal;
  }
  return true;
}

}  // namespace

// It is kept, and continued when the log has grown: a long session is asked for it with every turn.
Result<SessionOutline> LogParts::outline() {
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<SessionOutline> {
    const Ordinal count = index_.summary().count;
    constexpr Ordinal kFew = 1024;
    bool sound = true;
    if (outlineGeneration_ != generation_ || outline_.kinds.size() + kFew < count) {
      outline_ = {};
      outline_.kinds.reserve(count);
      index_.forEachRecord([&](std::span<const IndexRecord> records) {
        sound = sound && records.size() <= count - outline_.kinds.size() && addRecords(records, outline_);
      });
    }
    while (sound && outline_.kinds.size() < count) {
      const IndexRecord record = index_.record(static_cast<Ordinal>(outline_.kinds.size()));
      sound = !index_.damaged() && addRecords({&record, 1}, outline_);
    }
    readMismatch_ = readMismatch_ || !sound || outline_.kinds.size() != count;
    outlineGeneration_ = readMismatch_ || index_.damaged() ? 0 : generation_.load();
    outline_.head = index_.summary().head;
    return outline_;
  });
}

namespace {

// The id that a line begins with; none when its members stand in another order or the id has escapes.
std::optional<std::string_view> idAtBegin(std::string_view line) {
  constexpr std::string_view kBegin = R"({"id":")";
  if (!line.starts_with(kBegin)) return std::nullopt;
  const std::string_view value = line.substr(kBegin.size());
  const std::size_t end = value.find('"');
  if (end == std::string_view::npos || value.substr(0, end).contains('\\')) return std::nullopt;
  return value.substr(0, end);
}

}  // namespace

// Lines that follow one another are read together while they are short; of a long one only its beginning.
Result<std::vector<std::string>> LogParts::findIds(std::string_view prefix, std::size_t limit) {
  constexpr std::size_t kIdBytes = 160;
  constexpr std::size_t kRoomBytes = std::size_t{64} << 10;
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> found;
    std::string room(kRoomBytes, '\0');
    std::uint64_t roomBegin = 0;
    std::size_t roomUsed = 0;
    std::optional<Error> failure;
    Ordinal next = 0;
    const auto look = [&](Ordinal ordinal, const IndexRecord& record) {
      if (failure || readMismatch_ || found.size() >= limit) return;
      const std::size_t want = std::min<std::size_t>(kIdBytes, record.length);
      if (record.offset < roomBegin || record.offset + want > roomBegin + roomUsed) {
        const bool isLong = record.length > kRoomBytes / 8;
        const auto got = readFully(*log_.source, record.offset, std::span(room).first(isLong ? want : kRoomBytes));
        if (!got) {
          failure = ioError(got.error(), "read");
          return;
        }
        roomBegin = record.offset;
        roomUsed = *got;
      }
      const auto at = static_cast<std::size_t>(record.offset - roomBegin);
      readMismatch_ = readMismatch_ || at + want > roomUsed;
      if (readMismatch_) return;
      if (const auto id = idAtBegin(std::string_view(room).substr(at, want))) {
        if (id->starts_with(prefix)) found.emplace_back(*id);
        return;
      }
      auto id = idOf(ordinal);
      if (!id) failure = id.error();
      if (id && id->starts_with(prefix)) found.push_back(std::move(*id));
    };
    index_.forEachRecord([&](std::span<const IndexRecord> records) {
      for (const IndexRecord& record : records) look(next++, record);
    });
    if (failure) return std::unexpected(*failure);
    return found;
  });
}

}  // namespace bough
