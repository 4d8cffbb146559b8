// The control entries of a log, read from its index while the log grows and changes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/system/environment.h"
#include "log/log_outline.h"
#include "log_support.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

using Sequences = std::vector<Sequence>;

class LogControlsTest : public testing::Test {
 protected:
  // Appends a batch with one entry for each type to the file.
  void append(const std::vector<std::string_view>& types) {
    std::ofstream file(folder_.path() / "s.jsonl", std::ios::app | std::ios::binary);
    for (std::size_t i = 0; i < types.size(); ++i) {
      Entry entry;
      entry.id = "e" + std::to_string(count_++);
      entry.type = types[i];
      entry.timestamp = "2026-11-14T23:47:00.862Z";
      entry.payload = "{}";
      std::string body;
      std::string line;
      EXPECT_TRUE(jsonEntrySerializer().encode(entry, body).has_value());
      seal_ = appendSealedLine(line, body, seal_, static_cast<std::uint32_t>(i + 1),
                               static_cast<std::uint32_t>(types.size()));
      file << line;
    }
  }
  // Starts a new file with the same name.
  void startOver() {
    std::filesystem::remove(folder_.path() / "s.jsonl");
    seal_ = {};
    count_ = 0;
  }
  Sequences get(std::vector<EntryKind> kinds) {
    if (!index_) {
      index_.emplace(file_, jsonEntrySerializer(), systemEnvironment(), LogIndexOptions{.writeFile = false});
      EXPECT_TRUE(index_->reopen().has_value());
    }
    EXPECT_TRUE(index_->refresh().has_value());
    const auto found = controls_.get(*index_, kinds);
    EXPECT_TRUE(found.has_value());
    return found.value_or(Sequences());
  }

  TempFolder folder_;
  SealDigits seal_{};
  int count_ = 0;
  LogFile file_{{.sessions = systemEnvironment().files.openRoot(folder_.path().string(), false).value(), .archive = {}},
                "s",
                1'000};
  std::optional<LogIndex> index_;
  LogControls controls_;
};

constexpr std::string_view kMessageType = entry_type::kMessage;

TEST_F(LogControlsTest, AreFoundByKindInTheOrderOfTheLog) {
  append({kMessageType, entry_type::kLabel, entry_type::kHead, kMessageType, entry_type::kRedaction,
          entry_type::kSessionInfo, entry_type::kLabel});
  EXPECT_EQ(get({EntryKind::Label}), (Sequences{1, 6}));
  EXPECT_EQ(get({EntryKind::Redaction}), Sequences{4});
  EXPECT_EQ(get({EntryKind::Label, EntryKind::Redaction, EntryKind::Head}), (Sequences{1, 2, 4, 6}));
  EXPECT_EQ(get({}), Sequences{});
}

TEST_F(LogControlsTest, AreContinuedWhenTheLogGrows) {
  append({kMessageType});
  EXPECT_EQ(get({EntryKind::Label}), Sequences{});
  append({entry_type::kLabel});
  EXPECT_EQ(get({EntryKind::Label}), Sequences{1});
  append({kMessageType, kMessageType});
  EXPECT_EQ(get({EntryKind::Label}), Sequences{1});
  append({entry_type::kRedaction, entry_type::kLabel});
  EXPECT_EQ(get({EntryKind::Label}), (Sequences{1, 5}));
  EXPECT_EQ(get({EntryKind::Redaction}), Sequences{4});
}

TEST_F(LogControlsTest, AreReadAgainWhenTheFileIsAnother) {
  append({kMessageType, entry_type::kLabel, entry_type::kLabel, entry_type::kRedaction});
  EXPECT_EQ(get({EntryKind::Label}), (Sequences{1, 2}));
  startOver();
  append({kMessageType, kMessageType, entry_type::kLabel});
  ASSERT_TRUE(index_->reopen().has_value());
  EXPECT_EQ(get({EntryKind::Label}), Sequences{2});
  EXPECT_EQ(get({EntryKind::Redaction}), Sequences{});
  startOver();
  append({kMessageType});
  ASSERT_TRUE(index_->reopen().has_value());
  EXPECT_EQ(get({EntryKind::Label, EntryKind::Redaction, EntryKind::Head, EntryKind::SessionInfo}), Sequences{});
}

}  // namespace
}  // namespace bough
