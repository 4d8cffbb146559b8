// What a target cannot represent is carried along, written in another form, or reported, but never dropped silently.
#include <bough/convert.h>
#include <bough/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bough::test {
namespace {

constexpr auto kA = Dialect::Anthropic;
constexpr auto kC = Dialect::OpenaiChat;
constexpr auto kR = Dialect::OpenaiResponses;
constexpr auto kG = Dialect::Gemini;

// Converts, and checks that everything comes back.
Conversion convert(const std::string& document, Dialect from, Dialect to, const ConvertOptions& options = {}) {
  auto conversion = convertHistory(document, from, to, options);
  EXPECT_TRUE(conversion) << (conversion ? "" : conversion.error().message);
  if (!conversion) return {};
  const auto back = convertHistory(conversion->document, to, from, {}, &conversion->wayBack);
  EXPECT_EQ(back->document, document);
  return std::move(*conversion);
}

bool isLossy(const Conversion& conversion, std::string_view field) {
  return std::ranges::find(conversion.report.lossyFields, field) != conversion.report.lossyFields.end();
}

std::string fieldsOf(const Conversion& conversion) {
  std::string all;
  for (const std::string& field : conversion.report.lossyFields) all += field + " ";
  return all;
}

std::string geminiResult(const std::string& response) {
  return R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"run","args":{}}}]},)"
         R"({"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run","response":)" +
         response + "}}]}]";
}

TEST(GeminiResponses, AnObjectWithMoreThanOutputIsTheOutputInFull) {
  const auto there = convert(geminiResult(R"({"output":"done","stderr":"warn","exit_code":1})"), kG, kA);
  EXPECT_TRUE(there.document.contains(R"({\"output\":\"done\",\"stderr\":\"warn\",\"exit_code\":1})"))
      << there.document;
  EXPECT_FALSE(there.document.contains("is_error"));
}

std::vector<std::string> pathsOf(const Conversion& conversion, std::string_view field) {
  std::vector<std::string> paths;
  for (const Finding& finding : conversion.report.findings) {
    if (finding.field == field) paths.push_back(finding.path);
  }
  return paths;
}

TEST(Requests, MembersOfASystemInstructionAreNamed) {
  for (const Dialect to : {kA, kC, kR}) {
    const auto there = convert(R"({"systemInstruction":{"role":"user","parts":[{"text":"Be brief."}],"note":{"a":1}},)"
                               R"("contents":[{"role":"user","parts":[{"text":"hi"}]}]})",
                               kG, to);
    EXPECT_EQ(pathsOf(there, "message.note"), std::vector<std::string>{"systemInstruction"}) << fieldsOf(there);
    EXPECT_EQ(there.report.lossyFields.size(), 1U) << fieldsOf(there);
    EXPECT_EQ(there.report.lossyMessages, 0U);
  }
}

TEST(Requests, ToolsAreNamedByTheirPlaceInTheRequest) {
  const auto there = convert(
      R"({"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"a"},{"name":"b","response":{"type":"STRING"}}],)"
      R"("codeExecution":{}},{"function_declarations":[{"name":"c","behavior":"BLOCKING"}]}],)"
      R"("contents":[{"role":"user","parts":[{"text":"hi"}]}]})",
      kG, kA);
  EXPECT_EQ(pathsOf(there, "tool"), (std::vector<std::string>{"tools[0]", "tools[1]"}));
  EXPECT_EQ(pathsOf(there, "tool.response"), std::vector<std::string>{"tools[1].functionDeclarations[1]"});
  EXPECT_EQ(pathsOf(there, "tool.behavior"), std::vector<std::string>{"tools[2].function_declarations[0]"});
  EXPECT_EQ(there.report.messages, 1U);
  EXPECT_EQ(there.report.lossyMessages, 0U);
}

TEST(Requests, AMessageThatLosesSeveralThingsCountsOnce) {
  // The losses of the first message are found before and after those of the second one.
  const auto there = convert(
      R"([{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"note":1},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"b","note":2}]},)"
      R"({"role":"user","content":"c"}])",
      kA, kG);
  EXPECT_GT(there.report.findings.size(), 2U);
  EXPECT_EQ(there.report.messages, 3U);
  EXPECT_EQ(there.report.lossyMessages, 2U);
}

TEST(GeminiResponses, AnErrorThatIsNullIsNotAnError) {
  for (const char* response : {R"({"result":42,"error":null})", R"({"error":null})", R"({"output":"x","error":null})",
                               R"({"result":1,"error":false})", R"({"result":1,"error":""})"}) {
    const auto there = convert(geminiResult(response), kG, kA);
    EXPECT_FALSE(there.document.contains("is_error")) << response << there.document;
    EXPECT_FALSE(there.document.contains(R"("content":"null")")) << there.document;
  }
}

TEST(GeminiResponses, AnErrorBesideOtherMembersKeepsThem) {
  const auto there = convert(geminiResult(R"({"error":"boom","exit_code":2})"), kG, kA);
  EXPECT_TRUE(there.document.contains("\"is_error\":true"));
  EXPECT_TRUE(there.document.contains(R"(\"exit_code\":2)")) << there.document;
}

TEST(GeminiResponses, OutputOrErrorAloneIsTheText) {
  EXPECT_TRUE(convert(geminiResult(R"({"output":"done"})"), kG, kA).document.contains(R"("content":"done")"));
  const auto failed = convert(geminiResult(R"({"error":"boom"})"), kG, kA);
  EXPECT_TRUE(failed.document.contains(R"("content":"boom","is_error":true)")) << failed.document;
}

TEST(GeminiResponses, AnErrorWithoutWordsIsAnError) {
  const auto failed = convert(geminiResult(R"({"error":""})"), kG, kA);
  EXPECT_TRUE(failed.document.contains(R"("is_error":true)")) << failed.document;
  const auto back = convert(failed.document, kA, kG);
  EXPECT_TRUE(back.document.contains(R"("response":{"error":""})")) << back.document;
}

TEST(Losses, SecondChoicesAndCandidatesAreNamed) {
  const auto chat = convert(
      R"([{"role":"user","content":"x"},{"choices":[{"message":{"role":"assistant","content":"a"},"logprobs":{"k":1}},{"message":{"role":"assistant","content":"b"}}]}])",
      kC, kA);
  EXPECT_TRUE(isLossy(chat, "message.choices")) << fieldsOf(chat);
  EXPECT_TRUE(isLossy(chat, "message.logprobs")) << fieldsOf(chat);
  const auto gemini = convert(
      R"([{"role":"user","parts":[{"text":"x"}]},{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"groundingMetadata":{"k":1}},{"content":{"role":"model","parts":[{"text":"b"}]}}],"promptFeedback":{"k":1}}])",
      kG, kA);
  for (const char* field : {"message.candidates", "message.groundingMetadata", "message.promptFeedback"}) {
    EXPECT_TRUE(isLossy(gemini, field)) << field << " in " << fieldsOf(gemini);
  }
}

TEST(EmptyAnswers, OfChatWithoutAChoiceAreCountedAndLeftOut) {
  const std::string filtered =
      R"({"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[],"prompt_filter_results":[{"prompt_index":0}],"usage":{"prompt_tokens":5,"completion_tokens":2}})";
  const auto message = normalize(filtered, kC);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->role, Role::Assistant);
  EXPECT_TRUE(message->blocks.empty());
  EXPECT_EQ(message->usage.value_or(Usage{}).inputTokens, 5U);
  const std::string document =
      R"([{"role":"user","content":"hi"},)" + filtered + R"(,{"role":"user","content":"go on"}])";
  for (const Dialect target : {kA, kR, kG}) {
    const auto there = convert(document, kC, target);
    EXPECT_TRUE(isLossy(there, "message.prompt_filter_results")) << fieldsOf(there);
    for (const Finding& finding : there.report.findings) EXPECT_NE(finding.change, Change::Invalid) << finding.reason;
    EXPECT_TRUE(
        std::ranges::any_of(there.report.findings, [](const Finding& each) { return each.change == Change::LeftOut; }));
  }
  EXPECT_FALSE(normalize(R"({"choices":[{"index":0,"text":"old"}]})", kC));
  EXPECT_FALSE(normalize(R"({"choices":{}})", kC));
}

TEST(Losses, FieldsOfGeminiCallsAndResponsesAreNamed) {
  const auto there = convert(
      R"([{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{},"partialArgs":[{"jsonPath":"$.a"}],"willContinue":true}}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"1"},"scheduling":"SILENT"}}]}])",
      kG, kC);
  for (const char* field : {"tool_call.partialArgs", "tool_call.willContinue", "tool_result.scheduling"}) {
    EXPECT_TRUE(isLossy(there, field)) << field << " in " << fieldsOf(there);
  }
}

TEST(Losses, FieldsOfACandidatesContentAndOfPartsInAResponseAreNamed) {
  const auto there = convert(
      R"([{"role":"user","parts":[{"text":"x"}]},{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{}}}],"tone":1}}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"1"},"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD","layer":2},"mediaResolution":{"level":"LOW"}}]}}]}])",
      kG, kA);
  for (const char* field : {"message.tone", "image.mediaResolution", "image.layer"}) {
    EXPECT_TRUE(isLossy(there, field)) << field << " in " << fieldsOf(there);
  }
}

TEST(Losses, APartWithTwoDataFieldsKeepsItsCallAndNamesTheRest) {
  for (const char* part : {R"({"text":"hi","functionCall":{"id":"c","name":"f","args":{}}})",
                           R"({"functionCall":{"id":"c","name":"f","args":{}},"text":"hi"})"}) {
    const auto there = convert(
        R"([{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[)" + std::string(part) + "]}]", kG, kA);
    EXPECT_TRUE(there.document.contains(R"("type":"tool_use")")) << there.document;
    EXPECT_TRUE(isLossy(there, "tool_call.text")) << fieldsOf(there);
  }
}

TEST(Losses, UnknownFieldsOfResponsesItemsAreNamed) {
  const auto there = convert(
      R"([{"role":"user","content":"x","mood":"good"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}","namespace":"n","hint":1},{"type":"function_call_output","call_id":"c","output":"1","caller":{"t":1},"took":3},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"t","tone":1}],"effort":"high"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}],"phase":"final_answer"}])",
      kR, kA);
  for (const char* field : {"message.mood", "message.namespace", "message.hint", "message.caller", "message.took",
                            "message.effort", "message.tone", "message.phase", "message.status"}) {
    EXPECT_TRUE(isLossy(there, field)) << field << " in " << fieldsOf(there);
  }
}

TEST(Losses, UnknownFieldsOfChatToolCallsAreNamed) {
  const auto there = convert(
      R"([{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}","parsed":{"k":1}},"extra_content":{"google":{"thought_signature":"s"}}}]},{"role":"tool","tool_call_id":"c","content":"1"}])",
      kC, kA);
  EXPECT_TRUE(isLossy(there, "tool_call.extra_content")) << fieldsOf(there);
  EXPECT_EQ(there.report.findings.front().path, "messages[1].tool_calls[0]");
  EXPECT_TRUE(isLossy(there, "tool_call.parsed")) << fieldsOf(there);
}

TEST(Losses, EveryBlockOfAMessageIsNamedByItsPlace) {
  using Paths = std::vector<std::string>;
  const auto chat = convert(
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"odd":1},{"id":"d","type":"function","function":{"name":"f","arguments":"{}"},"odd":1}]},{"role":"tool","tool_call_id":"c","content":"1"},{"role":"tool","tool_call_id":"d","content":"1"},{"role":"assistant","content":null,"tool_calls":[{"id":"e","type":"function","function":{"name":"f","arguments":"{}"},"odd":1}]},{"role":"tool","tool_call_id":"e","content":"1"}])",
      kC, kA);
  EXPECT_EQ(pathsOf(chat, "tool_call.odd"),
            Paths({"messages[1].tool_calls[0]", "messages[1].tool_calls[1]", "messages[4].tool_calls[0]"}));
  const auto blocks = convert(
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"a","odd":1,"citations":[{"type":"y"},{"type":"y"}]},{"type":"text","text":"b","odd":1}]},{"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":"d","odd":1}]}])",
      kA, kC);
  EXPECT_EQ(pathsOf(blocks, "text.odd"),
            Paths({"messages[1].content[0]", "messages[1].content[1]", "messages[2].content[1]"}));
  EXPECT_EQ(pathsOf(blocks, "citation"), Paths({"messages[1].content[0]", "messages[1].content[0]"}))
      << fieldsOf(blocks);
}

TEST(Losses, TitlesOfDocumentsAreNamedWhereTheTargetHasNoPlaceForThem) {
  const std::string text =
      R"([{"role":"user","content":[{"type":"document","title":"Notes","source":{"type":"text","media_type":"text/plain","data":"abc"}}]}])";
  const std::string file =
      R"([{"role":"user","content":[{"type":"document","title":"Notes","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}}]}])";
  for (const Dialect to : {kC, kR, kG}) EXPECT_TRUE(isLossy(convert(text, kA, to), "document.title")) << toString(to);
  EXPECT_TRUE(isLossy(convert(file, kA, kG), "document.title"));
  EXPECT_TRUE(convert(file, kA, kC).document.contains("Notes"));
}

TEST(Documents, WhoseBytesAreBase64AloneAreFilesToo) {
  const std::string chat =
      R"([{"role":"user","content":[{"type":"file","file":{"filename":"notes.pdf","file_data":"QUJD"}}]}])";
  const std::string responses =
      R"([{"role":"user","content":[{"type":"input_file","filename":"notes.pdf","file_data":"QUJD"}]}])";
  for (const auto& [document, from] : {std::pair(chat, kC), std::pair(responses, kR)}) {
    EXPECT_TRUE(convert(document, from, kA)
                    .document.contains(R"("source":{"type":"base64","media_type":"application/pdf","data":"QUJD"})"));
    EXPECT_TRUE(convert(document, from, kG).document.contains(R"({"mimeType":"application/pdf","data":"QUJD"})"));
  }
  EXPECT_TRUE(convert(chat, kC, kR).document.contains("data:application/pdf;base64,QUJD"));
}

TEST(Losses, TheDetailOfAnImageGoesAlongAndItsDefaultIsNotALoss) {
  const auto chat = [](const std::string& detail) {
    return R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.org/a.png","detail":")" +
           detail + R"("}}]}])";
  };
  const auto responses = [](const std::string& detail) {
    return R"([{"role":"user","content":[{"type":"input_image","detail":")" + detail +
           R"(","image_url":"https://x.org/a.png"}]}])";
  };
  for (const char* detail : {"auto", "low", "high"}) {
    const auto there = convert(chat(detail), kC, kR);
    EXPECT_EQ(there.document, responses(detail));
    EXPECT_TRUE(there.report.lossyFields.empty()) << fieldsOf(there);
    const auto back = convert(responses(detail), kR, kC);
    EXPECT_EQ(back.document, chat(detail));
    EXPECT_TRUE(back.report.lossyFields.empty()) << fieldsOf(back);
    const bool isDefault = std::string_view(detail) == "auto";
    for (const Dialect target : {kA, kG}) {
      EXPECT_EQ(isLossy(convert(chat(detail), kC, target), "image.detail"), !isDefault);
      EXPECT_EQ(isLossy(convert(responses(detail), kR, target), "image.detail"), !isDefault);
    }
  }
}

TEST(Losses, AReferenceToAnItemNeedsNoType) {
  const auto there = convert(R"([{"role":"user","content":"x"},{"id":"msg_1"},{"id":"msg_2","type":null}])", kR, kA);
  EXPECT_EQ(fieldsOf(there), "item_reference ");
  EXPECT_EQ(there.report.lossyCounts.front(), 2U);
  EXPECT_TRUE(std::ranges::none_of(there.report.findings,
                                   [](const Finding& finding) { return finding.change == Change::Invalid; }));
}

TEST(Losses, ALoneSurrogateIsNamed) {
  for (const Dialect to : {kC, kR, kG}) {
    const auto there = convert(R"([{"role":"user","content":"a\ud800b"}])", kA, to);
    EXPECT_TRUE(isLossy(there, "message.surrogates")) << fieldsOf(there);
    EXPECT_FALSE(isLossy(convert(R"([{"role":"user","content":"a\ud83d\ude42b"}])", kA, to), "message.surrogates"));
  }
}

TEST(Losses, FieldsOfSourcesAndThinkingAreNamed) {
  const auto there = convert(
      R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD","detail":"low"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s","mode":"deep"},{"type":"text","text":"x"}]}])",
      kA, kC);
  EXPECT_TRUE(isLossy(there, "image.detail")) << fieldsOf(there);
  EXPECT_TRUE(isLossy(there, "thinking.mode")) << fieldsOf(there);
}

TEST(Losses, WhatIsBesideTheWordsOfADocumentsPartsIsNamed) {
  const std::string parts =
      R"([{"type":"text","text":"words","x_part":1,"citations":[{"type":"char_location","cited_text":"w"}]},{"type":"image","source":{"type":"url","url":"https://a.example/p.png"},"cache_control":{"type":"ephemeral"}}])";
  const std::string document = R"({"type":"document","source":{"type":"content","content":)" + parts + "}}";
  const std::string found =
      R"({"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"words","x_found":1}]})";
  const std::string user = R"([{"role":"user","content":[)" + document + "," + found + "]}]";
  const std::string result =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[)" +
      document + "," + found + "]}]}]";
  for (const std::string& history : {user, result}) {
    for (const Dialect to : {kC, kR, kG}) {
      const auto there = convert(history, kA, to);
      for (const char* field : {"document.x_part", "document.citations", "document.x_found", "image.cache_control"}) {
        EXPECT_TRUE(isLossy(there, field)) << field << " in " << fieldsOf(there);
      }
    }
  }
}

TEST(Losses, UnknownFieldsOfTheNormalizedFormAreNamed) {
  const auto there = convert(
      R"([{"role":"user","content":[{"type":"text","text":"x","mood":"good"}],"channel":"cli"}])", Dialect::Bough, kA);
  EXPECT_TRUE(isLossy(there, "message.channel")) << fieldsOf(there);
  EXPECT_TRUE(isLossy(there, "text.mood")) << fieldsOf(there);
}

TEST(ToolsOfProviders, TheirCallsReachAnotherProviderAsText) {
  const std::string anthropic =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"weather"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"Sunny","url":"https://example.org","encrypted_content":"SECRET"}]},{"type":"text","text":"sunny"}]}])";
  for (const Dialect to : {kC, kR, kG}) {
    const auto there = convert(anthropic, kA, to);
    EXPECT_TRUE(there.document.contains("weather")) << there.document;
    EXPECT_TRUE(there.document.contains("https://example.org")) << there.document;
    EXPECT_FALSE(there.document.contains("SECRET")) << there.document;
    EXPECT_TRUE(isLossy(there, "server_tool_use"));
  }
  const std::string responses =
      R"([{"role":"user","content":"x"},{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls -l"]},"status":"completed"},{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a.txt","stderr":"","outcome":{"type":"exit","exit_code":0}}]},{"type":"apply_patch_call","id":"ap_1","call_id":"c2","operation":{"type":"update_file","path":"a.txt","diff":"+b"},"status":"completed"},{"type":"apply_patch_call_output","call_id":"c2","status":"completed","output":"patched"},{"type":"computer_call","id":"cu_1","call_id":"c3","action":{"type":"click","x":1,"y":2},"pending_safety_checks":[],"status":"completed"},{"type":"computer_call_output","call_id":"c3","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,QUJD"}},{"role":"user","content":"y"}])";
  for (const Dialect to : {kA, kC, kG}) {
    const auto there = convert(responses, kR, to);
    for (const char* word : {"ls -l", "a.txt", "patched", "click", "+b"}) {
      EXPECT_TRUE(there.document.contains(word)) << word << " in " << there.document;
    }
  }
  const auto code = convert(
      R"x([{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"print(6*7)"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"42"}},{"text":"done"}]}])x",
      kG, kC);
  EXPECT_TRUE(code.document.contains("print(6*7)")) << code.document;
  EXPECT_TRUE(code.document.contains("42"));
}

TEST(Betas, WhatAnthropicTakesOnlyWithAHeaderNamesTheHeader) {
  const auto betasOf = [](const std::string& document, Dialect from) {
    const auto there = convertHistory(document, from, Dialect::OpenaiChat);
    return convertHistory(there->document, Dialect::OpenaiChat, from, {}, &there->wayBack)->report.betas;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(
      betasOf(
          R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m","name":"f","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m","content":[]}]}])",
          Dialect::Anthropic),
      Names{"mcp-client-2025-11-20"});
  EXPECT_EQ(
      betasOf(
          R"([{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"f"}}]},{"role":"assistant","content":"a"},{"role":"system","content":"s"},{"role":"user","content":"x"}])",
          Dialect::Anthropic),
      (Names{"files-api-2025-04-14", "mid-conversation-system-2026-04-07"}));
  EXPECT_EQ(
      betasOf(
          R"({"max_tokens":1,"tools":[{"type":"computer_20251124","name":"computer"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}]}]})",
          Dialect::Anthropic),
      (Names{"computer-use-2025-11-24", "files-api-2025-04-14"}));
  EXPECT_EQ(betasOf(R"([{"role":"user","content":"x"}])", Dialect::Anthropic), Names{});
  EXPECT_EQ(
      betasOf(
          R"([{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}])",
          Dialect::Anthropic),
      Names{});
  const auto there = convertHistory(R"([{"role":"user","content":[{"type":"container_upload","file_id":"f"}]}])",
                                    Dialect::Anthropic, Dialect::OpenaiChat);
  const auto back = convertHistory(there->document, Dialect::OpenaiChat, Dialect::Anthropic, {}, &there->wayBack);
  const CompatibilityReport& report = back->report;
  EXPECT_TRUE(report.toJson().contains(R"("betas":["files-api-2025-04-14"])")) << report.toJson();
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().change, Change::Needs);
  EXPECT_TRUE(report.compatible);
}

TEST(Documents, OfPartsBringTheirImagesAlong) {
  const std::string document =
      R"({"type":"document","source":{"type":"content","content":[{"type":"text","text":"words"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}})";
  const std::string said = R"([{"role":"user","content":[)" + document + "]}]";
  const std::string returned =
      R"([{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[)" +
      document + "]}]}]";
  for (const std::string& anthropic : {said, returned}) {
    for (const Dialect to : {kC, kR, kG, Dialect::Bough}) {
      const auto there = convert(anthropic, kA, to);
      EXPECT_TRUE(there.document.contains("words")) << there.document;
      EXPECT_TRUE(there.document.contains("QUJD")) << there.document;
      const auto back = convertHistory(there.document, to, kA, {}, &there.wayBack);
      EXPECT_EQ(back->document, anthropic);
    }
  }
}

TEST(Documents, ThatAreNoPdfAreNotSentAsOne) {
  const std::string film =
      R"([{"role":"user","parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"https://e.example/x"}},{"text":"q"}]}])";
  for (const Dialect to : {kA, kR}) {
    const auto there = convert(film, kG, to);
    EXPECT_TRUE(there.document.contains("[document not included: https://e.example/x]")) << there.document;
    EXPECT_FALSE(there.report.compatible);
  }
  const std::string text =
      R"([{"role":"user","parts":[{"inlineData":{"mimeType":"text/plain","data":"aGk="}},{"text":"q"}]}])";
  EXPECT_TRUE(convert(text, kG, kC).document.contains(R"("filename":"document.txt")"));
}

TEST(Thinking, CanBeCarriedAsTextWhenAskedFor) {
  const std::string anthropic =
      R"([{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"because of rain","signature":"S"},{"type":"redacted_thinking","data":"D"},{"type":"text","text":"no"}]}])";
  for (const Dialect to : {kC, kR, kG}) {
    EXPECT_FALSE(convert(anthropic, kA, to).document.contains("because of rain"));
    const auto there = convert(anthropic, kA, to, {.thinkingAsText = true});
    EXPECT_TRUE(there.document.contains("because of rain")) << there.document;
    EXPECT_TRUE(isLossy(there, "thinking"));
    EXPECT_TRUE(isLossy(there, "redacted_thinking"));
  }
  const auto responses = convert(
      R"([{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"as it rains"}]},{"role":"assistant","content":"no"}])",
      kR, kA, {.thinkingAsText = true});
  EXPECT_TRUE(responses.document.contains("as it rains")) << responses.document;
}

}  // namespace
}  // namespace bough::test
