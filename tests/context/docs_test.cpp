// The example at the beginning of docs/context.md matches what the program does.
#include <fstream>
#include <sstream>

#include "context/session.h"

namespace bough::test {
namespace {

std::string fenced(const std::string& page, const std::string& kind) {
  const std::string mark = "```" + kind + "\n";
  const std::size_t begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("\n```", begin) - begin);
}

class ContextDocs : public ContextTest {};

TEST_F(ContextDocs, TheExampleOfTheContextPageIsTrue) {
  std::ifstream file(std::string(BOUGH_TESTS_DIR).append("/../docs/context.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  std::stringstream payloads(fenced(page, "payloads"));
  for (const char* id : {"u1", "a1", "u2"}) {
    std::string payload;
    ASSERT_TRUE(std::getline(payloads, payload));
    add(entry_type::kMessage, payload, id);
  }
  const Context anthropic = build(Dialect::Anthropic);
  EXPECT_EQ(anthropic.requestJson(), fenced(page, "anthropic"));
  EXPECT_TRUE(reports(anthropic, Change::Synthetic, "a1", "tool_result"));
  const Context gemini = build(Dialect::Gemini);
  EXPECT_EQ(gemini.requestJson(), fenced(page, "gemini"));
  EXPECT_TRUE(reports(gemini, Change::Synthetic, "a1", "tool_result"));
}

}  // namespace
}  // namespace bough::test
