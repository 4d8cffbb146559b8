// Uses arbitrary bytes as the index file of a fixed log. The log must give the same answers as without an index.
//
// The first byte of the input selects how the index file is made: the bytes as they are; the correct index with some
// bytes changed; or the changed index with its checksums recomputed, which no crash can cause. Such a forged file may
// give other answers, but must not crash, hang or use excessive memory.

#include <array>

#include "base/bytes/crc32c.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "log/session_log.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

using fuzz::Input;
using fuzz::LogBuilder;

constexpr std::size_t kEntries = 150;  // two blocks of records
constexpr std::string_view kLogPath = "/store/sessions/s.jsonl";
constexpr std::string_view kIndexPath = "/store/sessions/s.idx";

std::string entryId(std::size_t number) {
  return "e" + std::to_string(number);
}

std::string makeLog(std::size_t entries) {
  LogBuilder log;
  log.addHeader("s");
  for (std::size_t i = 0; i < entries; ++i) {
    const std::string parent = i == 0 ? "" : entryId(i % 7 == 0 ? i / 2 : i - 1);
    const bool head = i % 25 == 24;
    log.add(LogBuilder::entry(entryId(i), parent, head ? "head" : "message",
                              head ? "{\"entryId\":\"" + entryId(i - 3) + "\"}" : "{\"n\":" + std::to_string(i) + "}"));
  }
  return log.bytes;
}

std::shared_ptr<SessionLog> open(SimEnvironment& world) {
  auto root = world.environment().files.openRoot("/store", true);
  std::shared_ptr<Directory> sessions = std::move(*(*root)->openDirectory("sessions", true));
  auto log = SessionLog::open({.sessions = sessions, .archive = nullptr}, "s", jsonEntrySerializer(),
                              world.environment(), {.lockTimeoutMs = 0, .writeIndex = true});
  BOUGH_CHECK(log.has_value());
  return std::move(*log);
}

// Returns the answers to every question about a log, as text.
std::string answers(SessionLog& log) {
  std::string all;
  const auto say = [&](const auto& list) {
    for (const auto item : list) all.append(std::to_string(item)).append(" ");
  };
  const auto state = log.state();
  if (!state) return "failed";
  all.append(state->tailId + " " + state->headId + " ");
  say(std::array<std::uint64_t, 4>{state->entryCount, state->bytes, state->trailingBytes, state->problemCount});
  const auto sequences = log.select(0, SIZE_MAX, std::nullopt, false);
  const auto heads = log.select(3, 4, EntryKind::Head, true);
  constexpr EntryKind kKinds[] = {EntryKind::Head, EntryKind::Label, EntryKind::SessionInfo, EntryKind::Redaction};
  const auto controls = log.controls(kKinds);
  if (!sequences || !heads || !controls) return "failed";
  say(*heads);
  say(*controls);
  const auto outline = log.outline();
  const auto ids = log.findIds("e1", 50);
  if (!outline || !ids) return "failed";
  for (const auto& jump : outline->jumps) say(std::array<std::uint32_t, 2>{jump.sequence, jump.parent});
  for (const EntryKind kind : outline->kinds) all.append(std::to_string(static_cast<int>(kind))).append(" ");
  for (const std::string& id : *ids) all.append(id).append(" ");
  const auto lines = log.read(*sequences);
  if (!lines) return "failed";
  for (const std::string& line : *lines) all.append(line).append("\n");
  for (std::size_t i = 0; i < kEntries + 1; i += 11) {
    const auto found = log.find(entryId(i));
    if (!found) return "failed";
    all.append(std::to_string(found->value_or(9999))).append(" ");
    if (!*found) continue;
    const auto path = log.branch(**found, 40);
    if (!path) return "failed";
    say(path->sequences);
    all.append(path->continuesAt).append("\n");
  }
  return all;
}

struct Reference {
  std::string log = makeLog(kEntries);
  std::string index;
  std::string expected;

  Reference() {
    SimFileSystem files;
    files.put(kLogPath, log);
    SimEnvironment world(files);
    const auto open = bough::open(world);
    expected = answers(*open);
    BOUGH_CHECK(open->repair().has_value());
    index = files.contents(kIndexPath).value();
    BOUGH_CHECK(expected == answers(*open) && expected == answers(*bough::open(world)));
  }
};

std::uint32_t sumOf(std::string_view bytes, std::string_view more = {}) {
  Crc32c crc;
  crc.add(bytes);
  crc.add(more);
  return crc.value();
}

void putSum(std::string& bytes, std::size_t at, std::uint32_t sum) {
  if (at + sizeof sum <= bytes.size()) std::memcpy(bytes.data() + at, &sum, sizeof sum);
}

// Recomputes the checksums of an index file, if it has blocks.
void forge(std::string& index) {
  constexpr std::size_t kBlockBytes = 4096;
  constexpr std::size_t kHeaderSumAt = 80;
  putSum(index, kHeaderSumAt, sumOf(std::string_view(index).substr(0, kHeaderSumAt)));
  for (std::size_t at = kBlockBytes, number = 0; at + kBlockBytes <= index.size(); at += kBlockBytes, ++number) {
    const auto number32 = static_cast<std::uint32_t>(number);
    const std::string_view body = std::string_view(index).substr(at, kBlockBytes - 4);
    putSum(index, at + kBlockBytes - 4, sumOf({reinterpret_cast<const char*>(&number32), 4}, body));
  }
}

void check(Input& input) {
  static const Reference reference;
  const std::uint8_t mode = input.byte();
  std::string index = mode % 4 == 0 ? std::string(input.rest()) : reference.index;
  while (!input.empty()) {
    const std::uint32_t change = input.number();
    const std::size_t at = (change >> 8) % (index.size() + 1);
    if ((change & 0xFF) == 0) {
      index.resize(at);
    } else if (at < index.size()) {
      index[at] ^= static_cast<char>(change & 0xFF);
    } else {
      index.append(input.rest());
    }
  }
  if (mode % 4 == 3) forge(index);
  SimFileSystem files;
  files.put(kLogPath, reference.log);
  files.put(kIndexPath, index);
  SimEnvironment world(files);
  const std::string given = answers(*open(world));
  BOUGH_CHECK(mode % 4 == 3 || given == reference.expected);
  BOUGH_CHECK(files.contents(kLogPath) == reference.log);
}

}  // namespace
}  // namespace bough

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::fuzz::Input input(data, size);
  bough::check(input);
  return 0;
}
