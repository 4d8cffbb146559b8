// The normalized view of every block type that each provider writes.
#include <bough/message.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bough::test {
namespace {

std::vector<BlockKind> kinds(const Message& message) {
  std::vector<BlockKind> out;
  for (const Block& block : message.blocks) out.push_back(block.kind);
  return out;
}

using enum BlockKind;

TEST(NormalizeAnthropic, ReadsEveryBlock) {
  const std::string stored =
      R"({"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"thinking","thinking":"hm","signature":"Sig"},{"type":"redacted_thinking","data":"Emw="},{"type":"text","text":"a\nb","citations":[{"type":"char_location","cited_text":"x"}],"cache_control":{"type":"ephemeral"}},{"type":"tool_use","id":"t1","name":"f","input":{"n":1.0}},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":7,"cache_read_input_tokens":3,"cache_creation_input_tokens":2}})";
  const auto message = normalize(stored, Dialect::Anthropic);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->role, Role::Assistant);
  EXPECT_EQ(kinds(*message), (std::vector{Thinking, RedactedThinking, Text, Citation, ToolCall, Unknown}));
  EXPECT_EQ(message->blocks[0].signature.decode(), "Sig");
  EXPECT_EQ(message->blocks[2].text.decode(), "a\nb");
  EXPECT_EQ(message->blocks[2].extras, std::vector<std::string_view>{"cache_control"});
  EXPECT_EQ(message->blocks[4].input, R"({"n":1.0})");
  EXPECT_EQ(message->blocks[5].type.decode(), "server_tool_use");
  EXPECT_TRUE(message->blocks[5].problem.empty());
  EXPECT_EQ(message->model.decode(), "claude");
  EXPECT_EQ(message->stopReason.decode(), "tool_use");
  ASSERT_TRUE(message->usage);
  EXPECT_EQ(message->usage->cacheReadTokens, 3U);
  EXPECT_EQ(message->usage->outputTokens, 7U);
  // A view: the texts point into the stored bytes.
  EXPECT_EQ(message->blocks[2].text.escaped.data() - stored.data(), std::ptrdiff_t(stored.find("a\\nb")));
}

TEST(NormalizeAnthropic, ReadsUserBlocksAndResultsWithTheirContent) {
  const auto message = normalize(
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"url","url":"https://a/b.png"}},{"type":"tool_reference","tool_name":"g"}]},{"type":"tool_result","tool_use_id":"t2"},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"p"},{"type":"text","text":"q"}]},"title":"T"},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]},{"type":"container_upload","file_id":"f"}]})",
      Dialect::Anthropic);
  ASSERT_TRUE(message);
  EXPECT_EQ(kinds(*message), (std::vector{ToolResult, ToolResult, Document, Document, Unknown}));
  EXPECT_TRUE(message->blocks[0].isError);
  ASSERT_EQ(message->blocks[0].content.size(), 3U);
  EXPECT_EQ(message->blocks[0].content[1].source, MediaSource::Url);
  EXPECT_EQ(message->blocks[0].content[2].kind, Unknown);
  EXPECT_TRUE(message->blocks[1].content.empty());
  EXPECT_EQ(message->blocks[2].text.decode(), "p\n\nq");
  EXPECT_EQ(message->blocks[3].text.decode(), "found");
}

TEST(NormalizeGemini, APromptThatWasBlockedIsAnAnswerWithoutWords) {
  const auto message = normalize(
      R"({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3},"modelVersion":"gemini-3"})",
      Dialect::Gemini);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->role, Role::Assistant);
  EXPECT_TRUE(message->blocks.empty());
  EXPECT_EQ(message->stopReason.decode(), "PROHIBITED_CONTENT");
  EXPECT_EQ(message->usage->inputTokens, 3U);
  EXPECT_EQ(message->extras, std::vector<std::string_view>{"promptFeedback"});
}

TEST(NormalizeChat, ReadsAWholeCompletion) {
  const auto message = normalize(
      R"({"id":"chatcmpl-1","model":"gpt-5","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","reasoning_content":"hm","content":"a","refusal":"no","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}},{"id":"c2","type":"custom","custom":{"name":"sql","input":"SELECT 1"}}],"audio":{"id":"au"}}}],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6}}})",
      Dialect::OpenaiChat);
  ASSERT_TRUE(message);
  EXPECT_EQ(kinds(*message), (std::vector{Thinking, Text, Refusal, ToolCall, ToolCall, Unknown}));
  EXPECT_EQ(message->blocks[3].input, R"("{\"n\":1}")");
  EXPECT_TRUE(message->blocks[4].freeform);
  EXPECT_EQ(message->blocks[4].text.decode(), "SELECT 1");
  EXPECT_EQ(message->blocks[5].type.decode(), "audio");
  EXPECT_TRUE(message->extras.empty());
  EXPECT_EQ(message->usage->inputTokens, 4U);
  EXPECT_EQ(message->usage->cacheReadTokens, 6U);
  EXPECT_EQ(message->stopReason.decode(), "tool_calls");
}

TEST(NormalizeChat, ReadsPartsAndToolMessages) {
  const auto user = normalize(
      R"({"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image\/png;base64,AA\/A"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}},{"type":"file","file":{"file_id":"file-1"}},{"type":"new_part"}]})",
      Dialect::OpenaiChat);
  ASSERT_TRUE(user);
  EXPECT_EQ(kinds(*user), (std::vector{Text, Image, Document, Document, Unknown}));
  EXPECT_EQ(user->blocks[1].type.decode(), "image/png");
  EXPECT_EQ(user->blocks[1].text.decode(), "AA/A");
  EXPECT_EQ(user->blocks[2].type.decode(), "audio/mp3");
  EXPECT_EQ(user->blocks[3].source, MediaSource::FileId);
  const auto tool = normalize(R"({"role":"tool","tool_call_id":"c1","content":""})", Dialect::OpenaiChat);
  ASSERT_TRUE(tool);
  EXPECT_EQ(tool->role, Role::Tool);
  EXPECT_EQ(tool->blocks[0].id.decode(), "c1");
  EXPECT_TRUE(tool->blocks[0].content[0].text.present);
  EXPECT_TRUE(tool->blocks[0].content[0].text.empty());
  EXPECT_EQ(normalize(R"({"role":"developer","content":"x"})", Dialect::OpenaiChat)->role, Role::System);
}

TEST(NormalizeResponses, ReadsItemsAndWholeResponses) {
  const auto response = normalize(
      R"({"id":"resp_1","model":"gpt-5","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"gAAA"},{"type":"web_search_call","id":"ws_1","status":"completed"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"x","annotations":[{"type":"url_citation","title":"t"}]},{"type":"refusal","refusal":"no"}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{"}],"usage":{"input_tokens":9,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}})",
      Dialect::OpenaiResponses);
  ASSERT_TRUE(response);
  EXPECT_EQ(kinds(*response), (std::vector{Thinking, Unknown, Text, Citation, Refusal, ToolCall}));
  EXPECT_EQ(response->blocks[0].signature.decode(), "gAAA");
  EXPECT_EQ(response->usage->reasoningTokens, 2U);
  const auto output = normalize(
      R"({"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_file","file_url":"https://x/a.pdf"}]})",
      Dialect::OpenaiResponses);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->role, Role::Tool);
  EXPECT_EQ(output->blocks[0].content[1].kind, Document);
  for (const std::string type : {"computer_call", "mcp_list_tools", "compaction", "item_reference", "something_new"}) {
    const std::string item = R"({"type":")" + type + R"(","id":"x"})";
    const auto unknown = normalize(item, Dialect::OpenaiResponses);
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->blocks.at(0).raw, item);
    EXPECT_EQ(unknown->blocks.at(0).kind, Unknown);
  }
}

TEST(NormalizeGemini, ReadsPartsWithAndWithoutIds) {
  const auto model = normalize(
      R"({"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"a","thoughtSignature":"CiQ="},{"functionCall":{"name":"f"}},{"function_call":{"name":"g","args":{},"id":"1"}},{"executableCode":{"language":"PYTHON","code":"1"}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3,"thoughtsTokenCount":2},"modelVersion":"gemini"})",
      Dialect::Gemini);
  ASSERT_TRUE(model);
  EXPECT_EQ(kinds(*model), (std::vector{Thinking, Text, ToolCall, ToolCall, Unknown, Image}));
  EXPECT_TRUE(model->blocks[2].idMissing);
  EXPECT_EQ(model->blocks[2].input, "{}");
  EXPECT_FALSE(model->blocks[3].idMissing);
  EXPECT_EQ(model->blocks[4].type.decode(), "executableCode");
  EXPECT_EQ(model->usage->outputTokens, 5U);
  EXPECT_EQ(model->stopReason.decode(), "STOP");
  const auto user = normalize(
      R"({"parts":[{"functionResponse":{"name":"f","response":{"error":{"code":1}}}},{"functionResponse":{"name":"f","response":{"a":1}}},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"}}]})",
      Dialect::Gemini);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->role, Role::User);
  EXPECT_TRUE(user->blocks[0].isError);
  EXPECT_EQ(user->blocks[0].content[0].text.decode(), R"({"code":1})");
  EXPECT_FALSE(user->blocks[1].isError);
  EXPECT_EQ(user->blocks[1].content[0].text.decode(), R"({"a":1})");
  EXPECT_EQ(user->blocks[2].source, MediaSource::FileId);
}

TEST(NormalizePlain, AResultThatIsAListOfBlocksIsRead) {
  const auto blocks = normalize(
      R"({"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]})",
      Dialect::Plain);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->blocks.size(), 1U);
  ASSERT_EQ(blocks->blocks[0].content.size(), 2U);
  EXPECT_EQ(blocks->blocks[0].content[0].text.decode(), "seen");
  EXPECT_EQ(blocks->blocks[0].content[1].kind, BlockKind::Image);
  for (const char* data : {"[]", R"([{"type":"file","text":"a"}])", R"([{"type":"text"}])", R"(["a"])", R"({"a":1})"}) {
    const auto result =
        normalize(fmt::format(R"({{"type":"tool_result","id":"c","content":{}}})", data), Dialect::Plain);
    ASSERT_TRUE(result) << data;
    ASSERT_EQ(result->blocks[0].content.size(), 1U) << data;
    EXPECT_EQ(result->blocks[0].content[0].text.decode(), data);
  }
}

TEST(NormalizePlain, ReadsTheBareEntries) {
  EXPECT_EQ(normalize(R"({"type":"user","content":"x"})", Dialect::Plain)->blocks[0].text.decode(), "x");
  const auto call = normalize(R"({"type":"tool_call","id":"a","name":"f","input":{"n":1}})", Dialect::Plain);
  EXPECT_EQ(call->role, Role::Assistant);
  EXPECT_EQ(call->blocks[0].input, R"({"n":1})");
  const auto result =
      normalize(R"({"type":"tool_result","tool_use_id":"a","content":"1","is_error":true})", Dialect::Plain);
  EXPECT_EQ(result->role, Role::Tool);
  EXPECT_TRUE(result->blocks[0].isError);
}

TEST(NormalizeEntry, ReadsMessagesAndBareEntriesAndNamesWhatIsNone) {
  const auto entry = [](std::string type, std::string payload) {
    Entry out;
    out.id = "e1";
    out.type = std::move(type);
    out.payload = std::move(payload);
    return out;
  };
  const Entry said = entry("message", R"({"dialect":"gemini","message":{"role":"user","parts":[{"text":"a"}]}})");
  EXPECT_EQ(normalizeEntry(said)->blocks[0].text.decode(), "a");
  EXPECT_EQ(namedDialect(said).value(), Dialect::Gemini);
  const Entry bare = entry("user", R"({"content":"b"})");
  EXPECT_TRUE(holdsMessage(bare));
  EXPECT_EQ(namedDialect(bare).value(), std::nullopt);
  EXPECT_EQ(normalizeEntry(bare)->role, Role::User);
  EXPECT_EQ(normalizeEntry(bare)->blocks[0].text.decode(), "b");
  const Entry call = entry("tool_use", R"({"id":"a","name":"f","input":{"n":1}})");
  EXPECT_EQ(normalizeEntry(call)->blocks[0].kind, BlockKind::ToolCall);
  EXPECT_FALSE(holdsMessage(entry("custom", "{}")));
  const auto unknown = normalizeEntry(entry("message", R"({"dialect":"nobody","message":{}})"));
  EXPECT_EQ(unknown.error().code, ErrorCode::InvalidArgument);
}

TEST(NormalizeBough, ReadsWhatItWrites) {
  const auto message = normalize(
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S"},{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"f","input":{"n":1.0}},{"type":"advisor","x":1}]})",
      Dialect::Anthropic);
  const auto written = denormalize(*message, Dialect::Bough);
  ASSERT_TRUE(written);
  ASSERT_EQ(written->messages.size(), 1U);
  EXPECT_EQ(
      written->messages[0],
      R"({"role":"assistant","content":[{"type":"thinking","text":"hm","signature":"S"},{"type":"text","text":"a"},{"type":"tool_call","id":"t","name":"f","input":{"n":1.0}},{"type":"unknown","value":{"type":"advisor","x":1}}]})");
  const auto again = normalize(written->messages[0], Dialect::Bough);
  ASSERT_TRUE(again);
  EXPECT_EQ(kinds(*again), (std::vector{Thinking, Text, ToolCall, Unknown}));
}

TEST(Denormalize, SplitsAMessageWhereTheTargetDoesAndNamesWhatItLeavesOut) {
  const auto message = normalize(
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]})",
      Dialect::Anthropic);
  const auto chat = denormalize(*message, Dialect::OpenaiChat);
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->messages, (std::vector<std::string>{R"({"role":"tool","tool_call_id":"a","content":"1"})",
                                                      R"({"role":"tool","tool_call_id":"b","content":"2"})",
                                                      R"({"role":"user","content":"go"})"}));
  ASSERT_EQ(chat->leftOut.size(), 1U);
  EXPECT_EQ(chat->leftOut[0].field, "text.cache_control");
  EXPECT_EQ(chat->leftOut[0].block, 2U);
}

TEST(Denormalize, WritesAChangedMessageAnewInItsOwnDialect) {
  auto message = normalize(R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
                           Dialect::Anthropic);
  message->blocks.pop_back();
  message->raw = {};
  EXPECT_EQ(denormalize(*message, Dialect::Anthropic)->messages,
            std::vector<std::string>{R"({"role":"user","content":"a"})"});
}

TEST(Normalize, SaysWhyAMessageCannotBeRead) {
  const auto truncated = normalize(R"({"role":"user","content":"a)", Dialect::Anthropic);
  ASSERT_FALSE(truncated);
  EXPECT_EQ(truncated.error().message, "this is not a message of anthropic: offset 27: the text ends too early");
  EXPECT_EQ(normalize("[]", Dialect::Gemini).error().message,
            "this is not a message of gemini: a message is an object");
}

}  // namespace
}  // namespace bough::test
