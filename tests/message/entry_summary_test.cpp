#include "bough/message.h"

#include <gtest/gtest.h>

namespace bough {
namespace {

Entry entryOf(std::string_view type, std::string payload) {
  Entry entry;
  entry.id = "e";
  entry.type = type;
  entry.payload = std::move(payload);
  return entry;
}

Entry messageOf(const std::string& dialect, const std::string& message) {
  return entryOf("message", R"({"dialect":")" + dialect + R"(","message":)" + message + "}");
}

std::string line(const Entry& entry, std::size_t graphemes = 50) {
  const EntrySummary summary = summarizeEntry(entry, graphemes);
  return summary.speaker + ": " + summary.text;
}

TEST(EntrySummary, SaysWhoSpeaksAndHowItBegins) {
  EXPECT_EQ(line(messageOf("bough", R"({"role":"user","content":"Hello,\n world"})")), "user: Hello, world");
  EXPECT_EQ(
      line(messageOf(
          "anthropic",
          R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Yes"}]})")),
      "assistant: Yes");
  EXPECT_EQ(
      line(messageOf(
          "anthropic",
          R"({"role":"assistant","content":[{"type":"tool_use","id":"t","name":"bash","input":{"command":"ls"}}]})")),
      R"(assistant: bash({"command":"ls"}))");
  EXPECT_EQ(line(messageOf("anthropic",
                           R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a\nb"}]})")),
            "tool: a b");
  EXPECT_EQ(line(messageOf("bough", R"({"role":"user","content":"你好世界你好世界"})"), 4), "user: 你好世…");
  EXPECT_EQ(line(messageOf("bough", R"({"role":"user","content":"\u001b[31mred"})")), "user: ␛[31mred");
}

TEST(EntrySummary, ShowsWhatIsNoMessage) {
  EXPECT_EQ(line(entryOf("model_change", R"({"model":"m-1"})")), "model_change: m-1");
  EXPECT_EQ(line(entryOf("branch_summary", R"({"sourceSessionId":"s","sourceEntryId":"e9","summary":"it failed"})")),
            "branch_summary: of e9: it failed");
  EXPECT_EQ(line(entryOf("custom", R"({"x":1})")), R"(custom: {"x":1})");
  EXPECT_EQ(line(messageOf("anthropic", R"({"role":7})")), R"(message: {"dialect":"anthropic","message":{"role":7}})");
  Entry hidden = entryOf("message", R"({"redacted":{"redactionId":"r","by":"me","reason":"secret"}})");
  hidden.redacted = true;
  EXPECT_EQ(line(hidden), "message: [redacted: secret]");
}

TEST(EntrySummary, LooksAtNoMoreThanALineNeeds) {
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(line(messageOf("bough", R"({"role":"user","content":")" + large + "\"}"), 5), "user: xxxx…");
  std::string escapes;
  for (int i = 0; i < 2000; ++i) escapes += R"(\u4e16)";
  EXPECT_EQ(line(messageOf("bough", R"({"role":"user","content":")" + escapes + "\"}"), 3), "user: 世世…");
}

TEST(FailedResult, IsFoundInEveryDialect) {
  const Entry failed[] = {
      messageOf(
          "anthropic",
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"no"}]})"),
      messageOf("gemini",
                R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"error":"no such file"}}}]})"),
      messageOf("openai-chat", R"({"role":"tool","tool_call_id":"t","content":"Error: no such file"})"),
      messageOf("openai-chat", R"({"role":"tool","tool_call_id":"t","content":"{\"error\":{\"code\":2}}"})"),
      messageOf("openai-responses", R"({"type":"function_call_output","call_id":"c","output":"{\"is_error\":true}"})"),
      messageOf("plain", R"({"type":"tool_result","tool_use_id":"t","is_error":true,"content":"no"})"),
      messageOf("bough",
                R"({"role":"tool","content":[{"type":"tool_result","id":"t","isError":true,"content":"no"}]})"),
  };
  for (const Entry& entry : failed) EXPECT_TRUE(hasFailedResult(entry)) << entry.payload;
  const Entry fine[] = {
      messageOf(
          "anthropic",
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"Error: only a text"}]})"),
      messageOf("gemini", R"({"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"ok"}}}]})"),
      messageOf("openai-chat", R"({"role":"tool","tool_call_id":"t","content":"no errors found"})"),
      messageOf("openai-chat", R"({"role":"tool","tool_call_id":"t","content":"{\"error\":null,\"ok\":1}"})"),
      messageOf("openai-chat", R"({"role":"user","content":"Error: I typed this"})"),
      entryOf("custom", R"({"is_error":true})"),
  };
  for (const Entry& entry : fine) EXPECT_FALSE(hasFailedResult(entry)) << entry.payload;
}

}  // namespace
}  // namespace bough
