#include "cli/terminal/output_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace bough::cli {
namespace {

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A conversion reads its input between checking the output file and writing it.
TEST(OutputFile, AFileThatWasMadeAfterTheLookIsNotReplaced) {
  const TempFolder folder;
  const std::string path = folder / "out.json";
  const auto existing = checkOutputFile(path, false);
  ASSERT_TRUE(existing);
  std::ofstream(path) << "somebody else's";
  const auto written = writeOutputFile(path, "mine", *existing);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(contentOf(path), "somebody else's");
  const auto forced = checkOutputFile(path, true);
  ASSERT_TRUE(forced);
  EXPECT_TRUE(writeOutputFile(path, "mine", *forced));
  EXPECT_EQ(contentOf(path), "mine");
  EXPECT_TRUE(writeOutputFile(folder / "new.json", "new", Existing::Refused));
  EXPECT_EQ(contentOf(folder / "new.json"), "new");
  const auto left = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  EXPECT_EQ(left, 2) << "no temporary file stays";
}

}  // namespace
}  // namespace bough::cli
