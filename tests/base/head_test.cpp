#include "base/model/head.h"

#include <gtest/gtest.h>

namespace bough {
namespace {

std::optional<std::string> after(std::string_view type, std::string_view payload = "{}") {
  std::string storage;
  const auto head = headAfter(entryKind(type), "me", payload, storage);
  return head ? std::optional<std::string>(*head) : std::nullopt;
}

TEST(Head, EntriesOfTheConversationBecomeIt) {
  for (const std::string_view type : {entry_type::kMessage, entry_type::kCustom, entry_type::kCompactionSummary,
                                      entry_type::kToolStart, std::string_view("of.another.program")}) {
    EXPECT_EQ(after(type), "me") << type;
  }
}

TEST(Head, HeadersAndControlEntriesLeaveIt) {
  for (const std::string_view type :
       {entry_type::kSessionHeader, entry_type::kLabel, entry_type::kSessionInfo, entry_type::kRedaction}) {
    EXPECT_EQ(after(type, R"({"entryId":"other"})"), std::nullopt) << type;
  }
}

TEST(Head, AHeadEntryNamesIt) {
  for (const std::string id : {"other", ""}) {
    EXPECT_EQ(after(entry_type::kHead, headPayload(id)), id);
    EXPECT_EQ(headNamedBy(headPayload(id)), id);
  }
  EXPECT_EQ(headPayload(""), R"({"entryId":null})");
  EXPECT_EQ(headNamedBy("{}"), "");
}

}  // namespace
}  // namespace bough
