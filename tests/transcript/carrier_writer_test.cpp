// Entries carried in the lines of another agent's file.
#include "transcript/model/carrier_writer.h"

#include <gtest/gtest.h>

#include "transcript/model/carried.h"

namespace bough::transcript {
namespace {

// Returns a custom entry that takes `bytes` in a line.
Entry entryOf(std::size_t bytes) {
  Entry entry;
  entry.id = "e1";
  entry.type = entry_type::kCustom;
  entry.timestamp = "2026-11-14T23:47:00.862Z";
  entry.payload = R"({"text":""})";
  entry.payload.insert(entry.payload.size() - 2, bytes - carriedBytes(entry), 'x');
  return entry;
}

std::size_t carriedOf(const Entry& entry) {
  const std::vector<Entry> entries = {entry};
  const EntryList list(entries);
  const EntryTree tree(list);
  CarrierWriter writer(list, tree, /*enabled=*/true);
  writer.setLines("{\"type\":\"line\"}\n", 0);
  const std::string line = writer.takeLines();
  const auto carried = carriedIn(std::string_view(line).substr(0, line.size() - 1));
  EXPECT_EQ(writer.count(), carried ? carried->entries.size() : 0);
  return writer.count();
}

TEST(CarrierWriter, AnEntryThatJustFitsTravels) {
  EXPECT_EQ(carriedOf(entryOf(1000)), 1U);
  EXPECT_EQ(carriedOf(entryOf(kMaxCarriedBytes)), 1U);
  EXPECT_EQ(carriedOf(entryOf(kMaxCarriedBytes + 1)), 0U);
}

TEST(CarrierWriter, EntriesThatFillALineLeaveRoomForTheEntryOfTheLine) {
  constexpr std::size_t kWaiting = 30;
  constexpr std::size_t kLines = 4;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < kWaiting + kLines; ++i) {
    entries.push_back(entryOf(i < kWaiting ? kMaxCarriedBytes / 12 - 2 : 1000));
    entries.back().id = "e" + std::to_string(i + 10);  // ids of the same length
  }
  const EntryList list(entries);
  const EntryTree tree(list);
  CarrierWriter writer(list, tree, /*enabled=*/true);
  for (std::size_t i = 0; i < kWaiting; ++i) writer.addWithoutLine(i);
  for (std::size_t i = kWaiting; i < entries.size(); ++i) {
    writer.setLines("{\"type\":\"line\"}\n", i);
    EXPECT_LE(writer.takeLines().size(), kMaxCarriedBytes + 1000);
  }
  EXPECT_EQ(writer.count(), entries.size());
}

TEST(CarrierWriter, ARedactedEntryDoesNotTravelHoweverSmall) {
  Entry entry = entryOf(1000);
  entry.redacted = true;
  EXPECT_EQ(carriedOf(entry), 0U);
}

}  // namespace
}  // namespace bough::transcript
