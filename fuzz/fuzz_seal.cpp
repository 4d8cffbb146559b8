// Applies one kind of damage to a valid log. No changed line may be shown as verified, and only the lines that the
// damage touched may be lost.

#include <set>

#include "base/check.h"
#include "fuzz/input.h"

namespace bough {
namespace {

using fuzz::Input;
using fuzz::LogBuilder;
using fuzz::Scan;

LogBuilder makeLog(Input& input) {
  LogBuilder log;
  log.addHeader("s");
  const std::size_t batches = 2 + input.below(6);
  int next = 0;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const auto count = static_cast<std::uint32_t>(1 + input.byte() % 4);
    for (std::uint32_t place = 1; place <= count; ++place, ++next) {
      std::string payload = "{\"n\":" + std::to_string(input.byte()) + ",\"t\":\"";
      payload.append(static_cast<std::size_t>(input.byte()), 'x').append("\"}");
      log.add(LogBuilder::entry("e" + std::to_string(next), next == 0 ? "" : "e" + std::to_string(next - 1), "message",
                                payload),
              place, count);
    }
  }
  return log;
}

struct Damaged {
  std::vector<std::string> lines;
  std::set<std::size_t> touched;  // indexes in the undamaged log
};

// Returns true when the line after a changed line can no longer be checked, because both the changed line and its
// checksum differ.
bool hidesNext(std::string_view before, std::string_view after) {
  if (after.find_first_not_of(" \t\r") == std::string_view::npos) return true;  // as if the line were missing
  const auto seal = findSeal(after);
  if (!seal && after.find_first_of("\r\n") == std::string_view::npos) return false;
  return !seal || (before.substr(before.size() - 10) != after.substr(after.size() - 10) &&
                   before.substr(0, before.size() - 10) != after.substr(0, after.size() - 10));
}

// Damages one line; never the header, which is line 0.
Damaged damage(const LogBuilder& log, Input& input) {
  Damaged result;
  for (const auto& line : log.lines) result.lines.push_back(line.text);
  const std::size_t at = 1 + input.below(log.lines.size() - 1);
  std::string& line = result.lines[at];
  result.touched = {at};
  const auto position = [&](std::size_t i) { return result.lines.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (input.byte() % 7) {
    case 0:
      for (int i = 0; i < 8 && !input.empty(); ++i) {
        line[input.below(line.size())] ^= static_cast<char>(input.byte());
      }
      break;
    case 1: line.replace(input.below(line.size()), input.byte(), input.rest()); break;
    case 2: line = std::string(input.rest()); break;
    case 3: line.resize(input.below(line.size())); break;
    case 4:  // the line after a missing line looks like a changed one
      result.lines.erase(position(at));
      result.touched.insert(at + 1);
      break;
    case 5: {
      const std::string copy = line;
      result.lines.insert(position(at), copy);
      break;
    }
    default:  // swapped: affects both lines and the line after them
      if (at + 1 < result.lines.size()) std::swap(result.lines[at], result.lines[at + 1]);
      result.touched = {at, at + 1, at + 2};
  }
  if (result.lines.size() == log.lines.size() && hidesNext(log.lines[at].text, result.lines[at])) {
    result.touched.insert(at + 1);
  }
  return result;
}

void check(Input& input) {
  const LogBuilder log = makeLog(input);
  const Damaged damaged = damage(log, input);
  std::string bytes;
  for (const std::string& line : damaged.lines) bytes.append(line).append("\n");
  Scan scan;
  scan.run(bytes);

  std::set<std::string_view> originals;
  for (const auto& line : log.lines) originals.insert(line.text);
  std::set<std::string> shown;
  for (const Scan::Line& line : scan.lines) {
    const std::string_view text =
        std::string_view(bytes).substr(static_cast<std::size_t>(line.offset), static_cast<std::size_t>(line.length));
    BOUGH_CHECK(!line.chained || originals.contains(text.ends_with('\r') ? text.substr(0, text.size() - 1) : text));
    shown.emplace(text);
  }
  // Finds the last batch that the damage did not touch; its seals prove that everything before it is complete.
  std::size_t proven = 0;
  for (std::size_t end = log.lines.size(); end > 1 && proven == 0;) {
    const std::size_t begin = end - log.lines[end - 1].place;
    bool whole = true;
    for (std::size_t i = begin; i < end; ++i) whole = whole && !damaged.touched.contains(i);
    if (whole) proven = end;
    end = begin;
  }
  for (std::size_t i = 0; i < proven; ++i) {
    if (!damaged.touched.contains(i)) BOUGH_CHECK(shown.contains(log.lines[i].text));
  }
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::fuzz::Input input(data, size);
  bough::check(input);
  return 0;
}
