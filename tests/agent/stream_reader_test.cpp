#include <bough/message.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "agent/loopback.h"
#include "agent/providers/stream_reader.h"
#include "base/json/json_scan.h"

namespace bough::agent {
namespace {

struct Read {
  Answer answer;
  std::string text;
  std::string thinking;
  std::vector<std::string> calls;
  std::optional<Error> error;
  bool complete = false;
};

Read read(std::unique_ptr<StreamReader> reader, std::string_view stream, std::size_t pieceBytes, bool aborted = false) {
  Read out;
  SseParser parser;
  const auto onDelta = [&](const Delta& delta) {
    if (delta.kind == DeltaKind::Text) out.text += delta.text;
    if (delta.kind == DeltaKind::Thinking) out.thinking += delta.text;
    if (delta.kind == DeltaKind::ToolCall && !delta.text.empty()) out.calls.emplace_back(delta.text);
  };
  const auto onEvent = [&](const SseEvent& event) {
    auto taken = reader->take(event, onDelta);
    if (!taken) out.error = taken.error();
    return taken.has_value();
  };
  for (std::size_t at = 0; at < stream.size(); at += pieceBytes) {
    EXPECT_TRUE(parser.feed(stream.substr(at, pieceBytes), onEvent).has_value());
  }
  EXPECT_TRUE(parser.end(onEvent).has_value());
  out.complete = reader->isComplete();
  out.answer = reader->answer(aborted);
  return out;
}

struct Sample {
  std::string file;
  Dialect dialect;
  std::unique_ptr<StreamReader> (*make)();
  std::string text;
  std::string message;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = {
      {"anthropic.sse", Dialect::Anthropic, makeAnthropicReader, "Checking żółć 🧑🏽‍💻.",
       R"({"id":"msg_01XYZ","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[)"
       R"({"type":"thinking","thinking":"Need both cities.","signature":"EqQBCkYIBxgC"},)"
       R"({"type":"text","text":"Checking żółć 🧑🏽‍💻."},)"
       R"({"type":"tool_use","id":"toolu_01A","name":"get_weather","input":{"city": "Paris"}},)"
       R"({"type":"tool_use","id":"toolu_01B","name":"noargs","input":{}}],)"
       R"("stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,)"
       R"("cache_read_input_tokens":0,"output_tokens":89,"service_tier":"standard"}})"},
      {"openai-chat.sse", Dialect::OpenaiChat, makeOpenaiChatReader, "Checking both.",
       R"({"id":"chatcmpl-123","created":1700000000,"model":"gpt-4o","system_fingerprint":"fp_1",)"
       R"("usage":{"prompt_tokens":20,"completion_tokens":30,"total_tokens":50},"object":"chat.completion",)"
       R"("choices":[{"index":0,"message":{"role":"assistant","content":"Checking both.","tool_calls":[)"
       R"({"id":"call_A","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}},)"
       R"({"id":"call_B","type":"function","function":{"name":"noargs","arguments":"{}"}}]},)"
       R"("finish_reason":"tool_calls"}]})"},
      {"openai-responses.sse", Dialect::OpenaiResponses, makeOpenaiResponsesReader, "Checking both.",
       R"({"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"gpt-5","output":[)"
       R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Need both"}],)"
       R"("encrypted_content":"gAAAAABo"},{"id":"msg_1","type":"message","role":"assistant","status":"completed",)"
       R"("content":[{"type":"output_text","text":"Checking both.","annotations":[]}]},)"
       R"({"id":"fc_1","type":"function_call","status":"completed","call_id":"call_A","name":"get_weather",)"
       R"("arguments":"{\"city\":\"Paris\"}"}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},)"
       R"("output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":30}})"},
      {"gemini.sse", Dialect::Gemini, makeGeminiReader, "Checking both.",
       R"({"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15},)"
       R"("modelVersion":"gemini-3-pro","responseId":"r1","candidates":[{"index":0,"finishReason":"STOP",)"
       R"("content":{"role":"model","parts":[{"text":"Need both","thought":true},{"text":"Checking both."},)"
       R"({"functionCall":{"name":"get_weather","args":{"city":"Paris"},"id":"fc-a"},"thoughtSignature":"CiQBcsja"},)"
       R"({"functionCall":{"name":"noargs","args":{},"id":"fc-b"}}]}}]})"},
  };
  return kSamples;
}

TEST(StreamReader, MessageIsWhatTheProviderWouldHaveSentWholeHoweverTheBytesAreCut) {
  for (const Sample& each : samples()) {
    const std::string stream = sample(each.file);
    ASSERT_FALSE(stream.empty());
    for (const std::size_t pieceBytes : {1UL, 2UL, 3UL, 5UL, 7UL, 64UL, 1000UL, 1000000UL}) {
      const Read got = read(each.make(), stream, pieceBytes);
      EXPECT_FALSE(got.error.has_value());
      EXPECT_TRUE(got.complete);
      EXPECT_EQ(got.answer.message, each.message) << each.file << " in pieces of " << pieceBytes;
      EXPECT_EQ(got.text, each.text);
      EXPECT_FALSE(got.thinking.empty() && each.dialect != Dialect::OpenaiChat);
      EXPECT_EQ(got.calls.front(), "get_weather");
    }
    const auto message = normalize(each.message, each.dialect);
    ASSERT_TRUE(message.has_value()) << each.file << ": " << message.error().message;
    EXPECT_EQ(message->role, Role::Assistant);
    EXPECT_GT(message->usage.value_or(Usage{}).outputTokens, 0U);
  }
}

// Wherever the stream is cut off, the result is a message without calls that the provider accepts, or no message.
TEST(StreamReader, CutOffAnywhereKeepsWhatCameAndNoCall) {
  for (const Sample& each : samples()) {
    const std::string stream = sample(each.file);
    std::string longest;
    for (std::size_t length = 0; length < stream.size(); length += 11) {
      const Read got = read(each.make(), std::string_view(stream).substr(0, length), 4'096, true);
      if (got.error) continue;  // the cut was inside the JSON of an event
      if (got.answer.message.empty()) {
        EXPECT_EQ(got.text, "") << each.file << " cut at " << length;
        continue;
      }
      const auto message = normalize(got.answer.message, each.dialect);
      ASSERT_TRUE(message.has_value()) << got.answer.message;
      std::string text;
      for (const Block& block : message->blocks) {
        EXPECT_NE(block.kind, BlockKind::ToolCall) << got.answer.message;
        EXPECT_NE(block.kind, BlockKind::Unknown) << got.answer.message;
        if (block.kind == BlockKind::Text) text += block.text.decode();
      }
      EXPECT_EQ(text, got.text) << each.file << " cut at " << length;
      EXPECT_EQ(message->blocks.back().kind, BlockKind::Text);
      EXPECT_TRUE(got.answer.partial.empty() || json::check(got.answer.partial).has_value()) << got.answer.partial;
      longest = std::max(longest, text, [](const auto& a, const auto& b) { return a.size() < b.size(); });
    }
    EXPECT_EQ(longest, each.text);
  }
}

TEST(StreamReader, ErrorInsideAStreamSaysWhatTheProviderSaid) {
  const Read anthropic = read(makeAnthropicReader(),
                              "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n"
                              "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                              "\"message\":\"Overloaded\"}}\n\n",
                              10);
  ASSERT_TRUE(anthropic.error.has_value());
  EXPECT_EQ(anthropic.error->message, "Overloaded (overloaded_error)");
  EXPECT_TRUE(anthropic.error->retryable);
  const Read chat = read(makeOpenaiChatReader(), "data: {\"error\":{\"message\":\"no\",\"code\":\"bad\"}}\n\n", 10);
  ASSERT_TRUE(chat.error.has_value());
  EXPECT_EQ(chat.error->message, "no (bad)");
  EXPECT_FALSE(chat.error->retryable);
  const Read responses = read(makeOpenaiResponsesReader(),
                              "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\","
                              "\"message\":\"broken\"}}}\n\n",
                              10);
  ASSERT_TRUE(responses.error.has_value());
  EXPECT_EQ(responses.error->message, "broken (server_error)");
  const Read gemini = read(
      makeGeminiReader(), "data: [{\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}]\n\n", 10);
  ASSERT_TRUE(gemini.error.has_value());
  EXPECT_EQ(gemini.error->message, "busy (UNAVAILABLE)");
  EXPECT_TRUE(gemini.error->retryable);
}

TEST(StreamReader, HalfJsonIsAnErrorAndNoCrash) {
  for (const Sample& each : samples()) {
    for (const char* data : {"{", "{\"type\":\"content_block_delta\",\"index\":99999999999}", "null", "[]", "\"x\"",
                             "{\"type\":\"response.output_text.delta\",\"output_index\":-1}", "{\"candidates\":7}",
                             "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":123456789}]}}]}", "<html>"}) {
      const Read got = read(each.make(), std::string("data: ") + data + "\n\n", 4);
      EXPECT_FALSE(got.complete);
      EXPECT_TRUE(got.answer.message.empty() || json::check(got.answer.message).has_value()) << got.answer.message;
    }
  }
}

TEST(StreamReader, ArgumentsThatAreNoJsonStandInAnObject) {
  const Read got = read(makeAnthropicReader(),
                        "data: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\n"
                        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\","
                        "\"id\":\"a\",\"name\":\"read\",\"input\":{}}}\n\n"
                        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
                        "\"partial_json\":\"{\\\"path\\\": \\\"a\"}}\n\n"
                        "data: {\"type\":\"message_stop\"}\n\n",
                        1'000);
  EXPECT_TRUE(got.complete);
  EXPECT_NE(got.answer.message.find(R"("input":{"arguments":"{\"path\": \"a"})"), std::string::npos)
      << got.answer.message;
}

TEST(StreamReader, SurrogatesSplitBetweenDeltasStayWhole) {
  const Read got = read(makeOpenaiChatReader(),
                        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\\ud83d\"}}]}\n\n"
                        "data: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"},\"finish_reason\":\"stop\"}]}\n\n",
                        1'000);
  const auto message = normalize(got.answer.message, Dialect::OpenaiChat);
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->blocks.at(0).text.decode(), "😀");
}

TEST(StreamReader, SurrogatesSplitBetweenDeltasAreShownAndWrittenWhole) {
  PieceDecoder pieces;
  EXPECT_EQ(pieces.decode(R"(a\\ud83d)"), R"(a\ud83d)");  // an escaped backslash, then letters
  EXPECT_EQ(pieces.decode(R"(b\uD83D)"), "b");
  EXPECT_EQ(pieces.decode(R"(\uDE00c)"), "😀c");
  EXPECT_EQ(pieces.decode(R"(\ud83d)"), "");
  EXPECT_EQ(pieces.decode("d"), "\uFFFDd");
  const std::string delta =
      R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":)";
  const Read got = read(makeAnthropicReader(),
                        R"(data: {"type":"message_start","message":{"role":"assistant","content":[]}})"
                        "\n\n"
                        R"(data: {"type":"content_block_start","index":0,)"
                        R"("content_block":{"type":"tool_use","id":"a","name":"write","input":{}}})"
                        "\n\n" +
                            delta + R"("{\"content\":\"\ud83d"}})" + "\n\n" + delta + R"("\ude00\"}"}})" +
                            "\n\ndata: {\"type\":\"message_stop\"}\n\n",
                        1'000);
  EXPECT_TRUE(got.answer.message.contains(R"("input":{"content":"😀"})")) << got.answer.message;
}

TEST(StreamReader, HalfACharacterAtTheEndOfAThoughtIsNotPutBeforeTheAnswer) {
  const std::string chat =
      "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\\ud83d\"}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"\\ude00yes\"},\"finish_reason\":\"stop\"}]}\n\n";
  const std::string gemini =
      "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\\ud83d\",\"thought\":true}]}}]}\n\n"
      "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\\ude00yes\"}]},\"finishReason\":\"STOP\"}]}\n\n";
  const std::string responses =
      "data: {\"type\":\"response.reasoning_summary_text.delta\",\"output_index\":0,\"delta\":\"hm\\ud83d\"}\n\n"
      "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"\\ude00yes\"}\n\n";
  for (const Read& got : {read(makeOpenaiChatReader(), chat, 1'000), read(makeGeminiReader(), gemini, 1'000),
                          read(makeOpenaiResponsesReader(), responses, 1'000)}) {
    EXPECT_EQ(got.thinking, "hm");
    EXPECT_EQ(got.text, "\uFFFDyes");
  }
}

TEST(StreamReader, ArgumentsOfGeminiThatAreNoObjectReachTheCall) {
  const auto inputOf = [](const std::string& arguments) {
    const Read got = read(makeGeminiReader(),
                          R"(data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":)"
                          R"({"id":"a","name":"ls","args":)" +
                              arguments + R"(}}]},"finishReason":"STOP"}]})" + "\n\n",
                          1'000);
    const auto message = normalize(got.answer.message, Dialect::Gemini);
    return message && message->blocks.size() == 1 ? std::string(message->blocks[0].input) : "no call";
  };
  EXPECT_EQ(inputOf(R"(["a"])"), R"({"arguments":"[\"a\"]"})");
  EXPECT_EQ(inputOf(R"("a")"), R"({"arguments":"a"})");
  EXPECT_EQ(inputOf(R"("{\"path\":1}")"), R"({"path":1})");
  EXPECT_EQ(inputOf(R"({"path": 1})"), R"({"path": 1})");
}

TEST(StreamReader, GeminiCallsWithoutIdsGetOne) {
  const Read got = read(makeGeminiReader(),
                        "data: {\"responseId\":\"r\",\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":["
                        "{\"functionCall\":{\"name\":\"ls\",\"args\":{}}},{\"functionCall\":{\"name\":\"ls\","
                        "\"args\":{}}}]},\"finishReason\":\"STOP\"}]}\n\n",
                        1'000);
  const auto message = normalize(got.answer.message, Dialect::Gemini);
  ASSERT_TRUE(message.has_value());
  ASSERT_EQ(message->blocks.size(), 2U);
  EXPECT_FALSE(message->blocks[0].id.empty());
  EXPECT_NE(message->blocks[0].id.decode(), message->blocks[1].id.decode());
}

TEST(StreamReader, WhatCompatibleServersRepeatOrLeaveEmptyDoesNoHarm) {
  const Read got = read(
      makeOpenaiChatReader(),
      R"(data: {"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"role":"assistant","content":"ok"}}]})"
      "\n\n"
      R"(data: {"choices":[{"index":0,"delta":{"role":null,"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\":"}}]}}]})"
      "\n\n"
      R"(data: {"choices":[{"index":0,"delta":{"role":"","tool_calls":[{"index":0,"id":"","function":{"name":"ls","arguments":"\".\"}"}}]},"finish_reason":"tool_calls"}]})"
      "\n\ndata: [DONE]\n\n",
      1'000);
  EXPECT_EQ(got.text, "ok");
  const auto message = normalize(got.answer.message, Dialect::OpenaiChat);
  ASSERT_TRUE(message.has_value()) << message.error().message;
  ASSERT_EQ(message->blocks.size(), 2U);
  EXPECT_EQ(message->blocks[1].id.decode(), "c1");
  EXPECT_EQ(message->blocks[1].name.decode(), "ls");
}

TEST(StreamReader, TextThatDoesNotComeInPiecesIsShownToo) {
  const Read begun =
      read(makeAnthropicReader(),
           R"(data: {"type":"message_start","message":{"role":"assistant","content":[]}})"
           "\n\n"
           R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"one "}})"
           "\n\n"
           R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"two"}})"
           "\n\ndata: {\"type\":\"message_stop\"}\n\n",
           1'000);
  EXPECT_EQ(begun.text, "one two");
  EXPECT_TRUE(begun.answer.message.contains("one two"));
  const std::string item =
      R"({"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"all"}]})";
  const std::string completed =
      R"(data: {"type":"response.completed","response":{"id":"r","output":[)" + item + "]}}\n\n";
  EXPECT_EQ(read(makeOpenaiResponsesReader(), completed, 1'000).text, "all");
  const std::string delta = R"(data: {"type":"response.output_text.delta","output_index":0,"delta":"all"})";
  EXPECT_EQ(read(makeOpenaiResponsesReader(), delta + "\n\n" + completed, 1'000).text, "all");
}

TEST(StreamReader, ItemsOfResponsesThatComeOnlyInPiecesAreKept) {
  const std::string begin = R"(data: {"type":"response.created","response":{"id":"r","object":"response"}})"
                            "\n\n"
                            R"(data: {"type":"response.output_text.delta","delta":"Hel"})"
                            "\n\n"
                            R"(data: {"type":"response.output_text.delta","output_index":0,"delta":"lo \"you\""})"
                            "\n\n";
  const std::string end =
      R"(data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f","call_id":"c","name":"ls","arguments":""}})"
      "\n\n"
      R"(data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"path\":1}"})"
      "\n\n"
      R"(data: {"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[]}})"
      "\n\n";
  const Read whole = read(makeOpenaiResponsesReader(), begin + end, 7);
  EXPECT_EQ(whole.text, "Hello \"you\"");
  const auto message = normalize(whole.answer.message, Dialect::OpenaiResponses);
  ASSERT_TRUE(message) << message.error().message;
  ASSERT_EQ(message->blocks.size(), 2U) << whole.answer.message;
  EXPECT_EQ(message->blocks[0].text.decode(), "Hello \"you\"");
  EXPECT_EQ(message->blocks[1].name.decode(), "ls");
  EXPECT_TRUE(whole.answer.message.contains(R"("arguments":"{\"path\":1}")")) << whole.answer.message;
  const Read cut = read(makeOpenaiResponsesReader(), begin, 7, true);
  EXPECT_TRUE(cut.answer.message.contains(R"("text":"Hello \"you\"")")) << cut.answer.message;
}

TEST(StreamReader, ItemsOfResponsesWithoutNumbersStayApart) {
  const auto event = [](std::string_view type, std::string_view rest) {
    return fmt::format("data: {{\"type\":\"response.{}\"{}}}\n\n", type, rest);
  };
  const std::string pieces =
      event("created", R"(,"response":{"id":"r","object":"response"})") +
      event("reasoning_text.delta", R"(,"delta":"Hm.")") + event("output_text.delta", R"(,"delta":"one")") +
      event("output_item.done",
            R"(,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one"}]})");
  const std::string call =
      event("output_item.added", R"(,"item":{"type":"function_call","call_id":"c","name":"ls","arguments":""})") +
      event("function_call_arguments.delta", R"(,"delta":"{}")") + event("output_text.delta", R"(,"delta":"two")");
  const std::string end = event("completed", R"(,"response":{"id":"r","object":"response","status":"completed"})");
  const Read whole = read(makeOpenaiResponsesReader(), pieces + call + end, 1'000);
  const auto message = normalize(whole.answer.message, Dialect::OpenaiResponses);
  ASSERT_TRUE(message) << message.error().message;
  ASSERT_EQ(message->blocks.size(), 3U) << whole.answer.message;
  EXPECT_EQ(message->blocks[0].text.decode(), "one");
  EXPECT_EQ(message->blocks[1].name.decode(), "ls");
  EXPECT_EQ(message->blocks[2].text.decode(), "two");
}

TEST(StreamReader, ReasoningOfCompatibleServersIsKept) {
  const Read got = read(makeOpenaiChatReader(),
                        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"Let \"}}]}\n\n"
                        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"me\",\"reasoning_details\":[{\"type\":"
                        "\"reasoning.text\",\"text\":\"Let \",\"index\":0}]}}]}\n\n"
                        "data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":"
                        "\"me\",\"signature\":\"s\",\"index\":0}]}}]}\n\n"
                        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"
                        "data: [DONE]\n\n",
                        9);
  EXPECT_EQ(got.thinking, "Let me");
  EXPECT_NE(got.answer.message.find(R"("reasoning_content":"Let me")"), std::string::npos);
  EXPECT_NE(got.answer.message.find(R"([{"type":"reasoning.text","text":"Let me","index":0,"signature":"s"}])"),
            std::string::npos)
      << got.answer.message;
}

std::string dataLines(const std::vector<std::string>& events) {
  std::string out;
  for (const std::string& event : events) out += "data: " + event + "\n\n";
  return out;
}

TEST(StreamReader, AnthropicTextWithoutItsBeginningOrNumberIsKept) {
  const std::string start = R"({"type":"message_start","message":{"role":"assistant","content":[]}})";
  const std::string delta = R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"words"}})";
  const std::string stop = R"({"type":"message_stop"})";
  const std::string unnumbered = R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"words"}})";
  const std::string block = R"({"type":"content_block_start","content_block":{"type":"text","text":""}})";
  const std::string named =
      "event: content_block_delta\ndata: {\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"words\"}}\n\n"
      "event: message_stop\ndata: {}\n\n";
  for (const std::string& stream : {dataLines({start, delta, stop}), dataLines({delta, stop}),
                                    dataLines({start, block, unnumbered, stop}), named}) {
    const Read got = read(makeAnthropicReader(), stream, 1'000);
    const auto message = normalize(got.answer.message, Dialect::Anthropic);
    ASSERT_TRUE(got.complete && message) << stream;
    ASSERT_EQ(message->blocks.size(), 1U) << got.answer.message;
    EXPECT_EQ(message->blocks[0].text.decode(), got.text);
    EXPECT_EQ(got.text, "words");
  }
}

TEST(StreamReader, CallsOfChatServersThatNumberThemWronglyStayApart) {
  const auto calls = [](const std::string& first, const std::string& more, const std::string& second) {
    std::vector<std::string> events;
    for (const std::string& call : {first, more, second}) {
      events.push_back(R"({"choices":[{"index":0,"delta":{"tool_calls":[)" + call + "]}}]}");
    }
    events.emplace_back(R"({"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]})");
    return dataLines(events) + "data:  [DONE] \n\n";
  };
  const std::string half = R"("name":"ls","arguments":"{\"path\":"})";
  const std::string rest = R"("function":{"arguments":"\"a\"}"})";
  const std::string other = R"("name":"ls","arguments":{"path":"b"}})";
  for (const std::string& stream :
       {calls(R"({"index":0,"id":"c1","function":{)" + half + "}", R"({"index":0,)" + rest + "}",
              R"({"index":0,"id":"c2","function":{)" + other + "}"),
        calls(R"({"id":"c1","function":{)" + half + "}", "{" + rest + "}",
              R"({"id":"c2","function":{)" + other + "}")}) {
    const Read got = read(makeOpenaiChatReader(), stream, 1'000);
    const auto message = normalize(got.answer.message, Dialect::OpenaiChat);
    ASSERT_TRUE(got.complete && message) << stream;
    ASSERT_EQ(message->blocks.size(), 2U) << got.answer.message;
    EXPECT_TRUE(got.answer.message.contains(R"("arguments":"{\"path\":\"a\"}")")) << got.answer.message;
    EXPECT_TRUE(got.answer.message.contains(R"("arguments":"{\"path\":\"b\"}")")) << got.answer.message;
    EXPECT_EQ(message->blocks[1].id.decode(), "c2");
  }
}

TEST(StreamReader, ListsOfPartsOfChatServersAreKept) {
  const Read got =
      read(makeOpenaiChatReader(),
           dataLines(
               {R"({"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]}}]})",
                R"({"choices":[{"delta":{"content":[{"type":"text","text":"one "}]}}]})",
                R"({"choices":[{"delta":{"content":"two"},"finish_reason":"stop"}]})"}),
           1'000);
  EXPECT_EQ(got.text, "one two");
  EXPECT_EQ(got.thinking, "Hm");
  EXPECT_TRUE(got.answer.message.contains(R"("content":"one two")")) << got.answer.message;
  EXPECT_TRUE(got.answer.message.contains(R"("reasoning_content":"Hm")")) << got.answer.message;
  const Read whole = read(
      makeOpenaiChatReader(),
      dataLines({R"({"choices":[{"message":{"role":"assistant","content":"all"},"finish_reason":"stop"}]})"}), 1'000);
  EXPECT_EQ(whole.text, "all");
}

TEST(StreamReader, ArgumentsOfResponsesThatComeAtTheirEndAreKept) {
  const std::string item = R"("item":{"type":"function_call","id":"f","call_id":"c","name":"ls","arguments":""})";
  const Read got = read(
      makeOpenaiResponsesReader(),
      dataLines({R"({"type":"response.output_item.added","output_index":0,)" + item + "}",
                 R"({"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"path\":1}"})",
                 R"({"type":"response.completed","response":{"id":"r","object":"response","status":"completed"}})"}),
      1'000);
  EXPECT_TRUE(got.answer.message.contains(R"("arguments":"{\"path\":1}")")) << got.answer.message;
}

TEST(StreamReader, OtherCandidatesOfGeminiAreNotMixedIn) {
  const Read got = read(
      makeGeminiReader(),
      dataLines(
          {R"({"candidates":[{"index":1,"content":{"role":"model","parts":[{"text":"other"}]},"finishReason":"STOP"}]})",
           R"({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"one"}]},"finishReason":"STOP"}]})"}),
      1'000);
  EXPECT_EQ(got.text, "one");
}

}  // namespace
}  // namespace bough::agent
