// Settings of a whole store are visible to every process and survive a rebuild of derived files.
#include "store_support.h"

namespace bough {
namespace {

class SettingsTest : public StoreTest {};

TEST_F(SettingsTest, AreEmptyUntilTheyAreSaved) {
  EXPECT_FALSE(must(store->settings()).timeToLiveMs.has_value());
  EXPECT_FALSE(std::filesystem::exists(folder / "settings.json"));
  must(store->saveSettings({.timeToLiveMs = 5000}));
  EXPECT_EQ(must(store->settings()).timeToLiveMs, 5000u);
  EXPECT_EQ(must(open()->settings()).timeToLiveMs, 5000u);
  must(store->saveSettings({}));
  EXPECT_FALSE(must(open()->settings()).timeToLiveMs.has_value());
}

TEST_F(SettingsTest, AreKeptByAStoreInMemory) {
  store = must(SessionStore::open("memory:"));
  must(store->saveSettings({.timeToLiveMs = 7}));
  EXPECT_EQ(must(store->settings()).timeToLiveMs, 7u);
}

TEST_F(SettingsTest, ThatCannotBeUnderstoodAreRefusedAndLeftAlone) {
  for (const char* text : {"nonsense", R"({"timeToLiveMs":5})", R"({"schema":1,"timeToLiveMs":"soon"})", "\0\0\0"}) {
    spill(folder / "settings.json", text[0] == '\0' ? std::string(3, '\0') : text);
    EXPECT_EQ(refused(store->settings()).code, ErrorCode::Damaged) << text;
  }
  spill(folder / "settings.json", R"({"schema":2,"timeToLiveMs":{}})");
  EXPECT_EQ(refused(store->settings()).code, ErrorCode::NewerFormat);
  EXPECT_EQ(slurp(folder / "settings.json"), R"({"schema":2,"timeToLiveMs":{}})");
  must(store->createSession({.sessionId = "a"}));
}

TEST_F(SettingsTest, WhatADeadProcessLeftGoesWithTheNextSaving) {
  const std::string old = folder / "settings.0123456789abcdef.tmp";
  const std::string young = folder / "settings.fedcba9876543210.tmp";
  spill(old, "{");
  spill(young, "{");
  std::filesystem::last_write_time(old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  must(store->saveSettings({.timeToLiveMs = 1}));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(young)) << "its process may be about to rename it";
  EXPECT_EQ(must(store->settings()).timeToLiveMs, 1u);
}

TEST_F(SettingsTest, LeaveNoOtherFilesBehind) {
  for (int i = 1; i < 5; ++i) must(store->saveSettings({.timeToLiveMs = i}));
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_FALSE(file.path().string().ends_with(".tmp")) << file.path();
  }
}

TEST_F(SettingsTest, AFileThatCannotBeOpenedIsNotOneThatIsMissing) {
  std::filesystem::create_symlink("settings.json", folder / "settings.json");
  EXPECT_TRUE(refused(store->settings()).message.contains("settings.json"));
}

}  // namespace
}  // namespace bough
