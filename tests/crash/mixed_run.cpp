#include "crash/mixed_run.h"

#include <fmt/format.h>

namespace bough {
namespace {

std::vector<Entry> batch(const std::string& name, std::size_t count, std::size_t payloadBytes) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < count; ++i) entries.push_back(message(fmt::format("{}.{}", name, i), payloadBytes));
  return entries;
}

}  // namespace

// Sessions a and b (a fork of a): batches of 1 to 20 entries from a few bytes to several pages, head moves, an
// attachment, a repeated batch, and buffered batches.
MixedRun recordMixedRun(MixedRun::Size size) {
  const std::size_t scale = size == MixedRun::Size::Small ? 1 : 8;
  MixedRun run;
  run.files = std::make_unique<SimFileSystem>();
  run.options.attachmentBytes = 1500 * scale;
  run.options.bufferedMs = 1'000'000;
  run.options.bufferedEntries = 1000;
  World world(*run.files, run.options);
  EXPECT_TRUE(world.isOpen());
  Ledger& ledger = run.ledger;
  EXPECT_TRUE(ledger.create(world, "a"));
  EXPECT_TRUE(ledger.append(world, "a", {message("tiny", 12)}));
  EXPECT_TRUE(ledger.append(world, "a", batch("three", 3, 60 * scale)));
  EXPECT_TRUE(ledger.append(world, "a", {message("page", 1200 * scale)}));
  EXPECT_TRUE(ledger.append(world, "a", batch("twenty", 20, 30 * scale)));
  EXPECT_TRUE(ledger.append(world, "a", {headMove("move", "three.1")}));
  EXPECT_TRUE(ledger.append(world, "a", {message("large", 1800 * scale), message("beside", 20)}));
  EXPECT_TRUE(ledger.fork(world, "a", "three.2", "b"));
  EXPECT_TRUE(ledger.append(world, "b", batch("fork", 2, 40 * scale)));
  EXPECT_TRUE(ledger.append(world, "b", {message("large", 1800 * scale)}));
  EXPECT_TRUE(ledger.appendBuffered(world, "a", {batch("buffer1", 2, 30 * scale), batch("buffer2", 3, 30)}));
  const auto repeated = ledger.append(world, "a", batch("three", 3, 60 * scale));
  EXPECT_TRUE(repeated && repeated->duplicateCount == 3);
  EXPECT_TRUE(ledger.append(world, "a", {headMove("back", "beside"), message("last", 300 * scale)}));
  return run;
}

}  // namespace bough
