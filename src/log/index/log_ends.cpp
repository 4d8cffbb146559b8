#include "log/index/log_ends.h"

#include <algorithm>
#include <array>
#include <span>

#include "log/format/line.h"

namespace bough {

IdMatch confirmId(ByteSource& source, const LogEnds& ends, const IndexRecord& record, std::string_view id) {
  const auto match = [](bool same) { return same ? IdMatch::Same : IdMatch::Different; };
  if (record.unreadable != 0) return IdMatch::Same;  // only its hash is known
  if (!ends.tailId.empty() && record.offset == ends.tailOffset) return match(ends.tailId == id);
  std::array<char, 160> head{};
  const std::size_t want = std::min<std::size_t>(head.size(), record.length);
  const auto got = readFully(source, record.offset, std::span(head).first(want));
  if (!got) return IdMatch::Unreadable;
  const std::string_view text(head.data(), *got);
  constexpr std::string_view kBegin = R"({"id":")";
  if (text.starts_with(kBegin)) {
    const std::string_view value = text.substr(kBegin.size());
    if (value.starts_with(id) && value.substr(id.size()).starts_with('"')) return IdMatch::Same;
    // Other tools may write an id with escapes.
    if (!value.substr(0, value.find('"')).contains('\\')) return IdMatch::Different;
  }
  // The members are in another order, or the id contains escapes.
  std::string line(record.length, '\0');
  if (!readFully(source, record.offset, line)) return IdMatch::Unreadable;
  std::string storage;
  std::string_view reason;
  const auto keys = readAnyKeys(bareLine(line), storage, reason);
  return match(keys && keys->id == id);
}

}  // namespace bough
