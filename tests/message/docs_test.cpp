// The example at the beginning of docs/messages.md matches what the program does.
#include <bough/convert.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace bough::test {
namespace {

// Returns the text of the first fenced block of this kind.
std::string fenced(const std::string& page, const std::string& kind) {
  const std::string mark = "```" + kind + "\n";
  const std::size_t begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("\n```", begin) - begin);
}

TEST(Docs, TheExampleOfTheMessagesPageIsTrue) {
  std::ifstream file(std::string(BOUGH_TESTS_DIR).append("/../docs/messages.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::string anthropic = fenced(page, "anthropic");
  const auto there = convertHistory(anthropic, Dialect::Anthropic, Dialect::Gemini);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->document, fenced(page, "gemini"));
  std::string report;
  for (const Finding& finding : there->report.findings) {
    if (!report.empty()) report += '\n';
    report.append(toString(finding.change)).append(" ").append(finding.path).append(" ");
    report.append(finding.field).append(": ").append(finding.reason);
  }
  EXPECT_EQ(report, fenced(page, "report"));
  std::string longer = there->document;
  longer.insert(longer.size() - 1, std::string(",").append(fenced(page, "gemini-turn")));
  const auto back = convertHistory(longer, Dialect::Gemini, Dialect::Anthropic, {}, &there->wayBack);
  EXPECT_EQ(back->document, fenced(page, "anthropic-back"));
}

}  // namespace
}  // namespace bough::test
