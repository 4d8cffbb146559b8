// What the index alone says of a session, and ids by their beginning.

#include <algorithm>
#include <array>
#include <optional>

#include "base/file_io.h"
#include "log/session_log.h"

namespace bough {

Result<SessionOutline> SessionLog::outline() {
  static_assert(SessionOutline::kNone == kNoOrdinal && SessionOutline::kElsewhere == kElsewhere);
  const std::lock_guard lock(mutex_);
  return withIndex([&]() -> Result<SessionOutline> {
    SessionOutline outline;
    outline.parents.reserve(index_.summary().count);
    outline.kinds.reserve(index_.summary().count);
    bool forward = false;  // no index of ours has a parent behind its child
    index_.forEachRecord([&](std::span<const IndexRecord> records) {
      constexpr std::size_t kPart = 128;
      std::array<Ordinal, kPart> parents;
      std::array<EntryKind, kPart> kinds;
      for (std::size_t from = 0; from < records.size(); from += kPart) {
        const std::size_t count = std::min(kPart, records.size() - from);
        const auto first = static_cast<Ordinal>(outline.parents.size());
        for (std::size_t i = 0; i < count; ++i) {
          const IndexRecord& record = records[from + i];
          forward |= (record.parent >= first + i) & (record.parent < kElsewhere);
          parents[i] = record.parent;
          kinds[i] = record.kind;
        }
        outline.parents.insert(outline.parents.end(), parents.begin(), parents.begin() + count);
        outline.kinds.insert(outline.kinds.end(), kinds.begin(), kinds.begin() + count);
      }
    });
    readMismatch_ = readMismatch_ || forward || outline.parents.size() != index_.summary().count;
    outline.head = index_.summary().head;
    return outline;
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
Result<std::vector<std::string>> SessionLog::findIds(std::string_view prefix, std::size_t limit) {
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
