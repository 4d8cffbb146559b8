// Scans arbitrary bytes as a log. The scan must stay inside the bytes, and stopping anywhere and continuing must give
// the same result.
//
// The first four bytes of the input choose where to stop; the rest is the log. With the top bit set, the lines are
// sealed again first, so that changes of the text get past the checksums.

#include "base/check.h"
#include "fuzz/input.h"

namespace bough {
namespace {

using fuzz::Scan;

// Gives each sealed line that is completely inside `bytes` its correct checksum.
std::string resealed(std::string_view bytes) {
  std::string out;
  SealDigits last;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    std::string line(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (const auto seal = findSeal(line)) {
      const auto digits = sealDigits(last, std::string_view(line).substr(0, seal->bodyLength), seal->placeText);
      line.replace(line.size() - 10, 8, digits.data(), 8);
      last = digits;
    }
    out.append(line);
    if (end != std::string_view::npos) out += '\n';
  }
  return out;
}

void checkInside(const Scan& scan, std::uint64_t trailing, std::size_t size) {
  BOUGH_CHECK(scan.state.offset <= size && scan.state.offset + trailing == size);
  std::uint64_t end = 0;
  for (const Scan::Line& line : scan.lines) {
    BOUGH_CHECK(line.offset >= end && line.offset + line.length <= scan.state.offset);
    BOUGH_CHECK(!line.id.empty() && !line.type.empty());
    end = line.offset + line.length;
  }
  for (const Scan::Region& region : scan.problems) BOUGH_CHECK(region.offset + region.bytes <= scan.state.offset);
}

void check(std::string_view bytes, std::size_t split) {
  Scan whole;
  checkInside(whole, whole.run(bytes), bytes.size());

  Scan parts;
  const std::string_view before = bytes.substr(0, split);
  checkInside(parts, parts.run(before), before.size());
  // A line that counted before its line end arrived must get its line end next: its writer adds one, and no one else
  // may append.
  const std::string_view rest = bytes.substr(static_cast<std::size_t>(parts.state.offset));
  if (parts.state.lacksLineEnd && !rest.empty() && !rest.starts_with('\n')) return;
  const std::uint64_t reached = parts.state.offset;
  checkInside(parts, parts.run(bytes), bytes.size());
  BOUGH_CHECK(parts.state.offset >= reached);
  BOUGH_CHECK(parts.lines == whole.lines && parts.problems == whole.problems);
  BOUGH_CHECK(parts.state.offset == whole.state.offset && parts.state.lastSeal == whole.state.lastSeal);
  BOUGH_CHECK(parts.state.lacksLineEnd == whole.state.lacksLineEnd && parts.state.sealLost == whole.state.sealLost);
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::fuzz::Input input(data, size);
  const std::uint32_t choice = input.number();
  const std::string bytes = choice >> 31 != 0 ? bough::resealed(input.rest()) : std::string(input.rest());
  bough::check(bytes, (choice & 0x7FFFFFFF) % (bytes.size() + 1));
  return 0;
}
