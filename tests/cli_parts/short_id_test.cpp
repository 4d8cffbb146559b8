// The highlighted part of a short id.
#include "cli/names/short_id.h"

#include <gtest/gtest.h>

#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

class PaintedIds : public testing::Test {
 protected:
  void SetUp() override {
    useColors("always");
    store_ = SessionStore::open("memory:").value();
    ASSERT_TRUE(store_->createSession({.sessionId = "s"}));
  }
  void TearDown() override { useColors("auto"); }

  void add(const std::vector<std::string>& ids) {
    std::vector<Entry> entries;
    for (const std::string& id : ids) entries.push_back({.id = id, .type = "message", .payload = "{}"});
    ASSERT_TRUE(store_->appendSessionEntries("s", std::move(entries)));
  }

  // Shows the highlighted part in brackets.
  [[nodiscard]] std::string painted(const std::string& shortId) const {
    std::string out = entryIdPainter(*store_, "s")(shortId);
    for (const auto& [code, shown] : {std::pair{"\033[1m", "["}, {"\033[2m", "("}, {"\033[0m", "|"}}) {
      for (std::size_t at = out.find(code); at != std::string::npos; at = out.find(code)) out.replace(at, 4, shown);
    }
    return out;
  }

  std::unique_ptr<SessionStore> store_;
};

TEST_F(PaintedIds, WhatNoOtherBeginsWithStandsOut) {
  add({"heron-1", "heron-2", "stork"});
  EXPECT_EQ(painted("stork"), "[s|(tork|");
  EXPECT_EQ(painted("heron-2"), "[heron-2|");
}

TEST_F(PaintedIds, WhatNoOtherEndsInStandsOut) {
  add({"1-crane", "2-gane", "3-gane"});
  EXPECT_EQ(painted("crane"), "(c|[rane|");
  EXPECT_EQ(painted("gane"), "[gane|") << "not enough to tell it from another";
}

TEST_F(PaintedIds, AnotherNameStaysAsItIs) {
  add({"stork"});
  EXPECT_EQ(painted("@start"), "@start");
}

TEST_F(PaintedIds, TheWholeIdStandsOutAmongMany) {
  std::vector<std::string> ids = {"stork"};
  for (int i = 0; i < 2'000; ++i) ids.push_back("heron-" + std::to_string(i));
  add(ids);
  EXPECT_EQ(painted("stork"), "[stork|");
}

TEST_F(PaintedIds, NothingIsPaintedWithoutColors) {
  add({"stork"});
  useColors("never");
  EXPECT_FALSE(entryIdPainter(*store_, "s"));
}

}  // namespace
}  // namespace bough::cli
