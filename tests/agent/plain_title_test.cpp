// Answers of models that were asked for a title, and the title that each means.
#include "agent/chat/plain_title.h"

#include <gtest/gtest.h>

namespace bough::agent {
namespace {

TEST(PlainTitle, MarksAroundATitleAreNotPartOfIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"Fix the flaky test", "Fix the flaky test"},
      {"\"Fix the flaky test\"", "Fix the flaky test"},
      {"**Fix the flaky test**\n", "Fix the flaky test"},
      {"# **Fix the flaky test**\n\nSome more words.", "Fix the flaky test"},
      {"Title: \"Fix it\"", "Fix it"},
      {"“修复测试”", "修复测试"},
      {"标题：《修复测试》", "修复测试"},
      {"\n\n `parse()` is slow", "`parse()` is slow"},
      {"\"Yes\" and \"no\"", "\"Yes\" and \"no\""},
      {"**Bold** and **more**", "**Bold** and **more**"},
      {"*args in C", "*args in C"},
      {"#4711 closed", "#4711 closed"},
      {"Title:", "Title:"},
      {"\"\"", "\"\""},
      {"", ""},
  };
  for (const auto& [answer, title] : cases) EXPECT_EQ(plainTitle(answer), title) << answer;
}

}  // namespace
}  // namespace bough::agent
