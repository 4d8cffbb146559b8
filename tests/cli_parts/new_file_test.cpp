#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/views/transcript_file.h"
#include "support/temp_folder.h"

namespace bough::cli {
namespace {

// Two simultaneous exports to the same name.
TEST(NewFile, TheFirstOfTwoIsThereWholeAndTheSecondIsRefused) {
  const TempFolder folder;
  const std::string path = folder / "out.jsonl";
  const auto first = NewFile::make(path);
  ASSERT_TRUE(first);
  ASSERT_TRUE((*first)->add("all of the first"));
  const auto second = NewFile::make(path);
  ASSERT_TRUE(second);
  ASSERT_TRUE((*second)->add("a part of the sec"));
  ASSERT_TRUE((*first)->save());
  const auto refused = (*second)->save();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::AlreadyExists);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "all of the first");
}

TEST(NewFile, NothingIsLeftOfOneThatIsNotFinished) {
  const TempFolder folder;
  ASSERT_TRUE((*NewFile::make(folder / "out.jsonl"))->add("a part"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace bough::cli
