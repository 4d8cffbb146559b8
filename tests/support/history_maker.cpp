#include "support/history_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace bough::test {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",") {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(separator)) + part;
  return out;
}

}  // namespace

std::uint64_t rounds(std::uint64_t usual) {
  const char* factor = std::getenv("BOUGH_PROPERTY_FACTOR");
  return factor == nullptr ? usual : usual * std::strtoull(factor, nullptr, 10);
}

std::string HistoryMaker::text() {
  static const std::vector<std::string> kTexts = {R"("Hello")",
                                                  R"("line one\nline two")",
                                                  R"("żółć 🧑🏽‍💻")",
                                                  R"("\u00e9\ud83d\ude00")",
                                                  R"("a \"quoted\" word")",
                                                  R"("C:\\path\/x")",
                                                  R"("日本語")",
                                                  R"("tab\there")",
                                                  R"("{\"looks\":\"like json\"}")",
                                                  R"("Error: no")"};
  return chance(70) ? kTexts[below(kTexts.size())] : fmt::format("\"text {}\"", below(1'000'000));
}

std::string HistoryMaker::object() {
  return pick({"{}", R"({"path":"a.txt"})", R"({"n":1.0,"big":12345678901234567890123,"e":1e3})", R"({"a":1,"a":2})",
               R"({ "deep" : {"x":[1,{"y":null}]} , "z":-0.0})", R"({"text":"ä\u0041\n"})",
               fmt::format(R"({{"k":{}}})", below(1000))});
}

std::string HistoryMaker::extra() {
  return chance(20) ? pick({R"(,"x_new":{"b":1.0,"a":[1e3,12345678901234567890],"b":2})", R"(,"future":"ü")",
                            R"(, "empty" : "")"})
                    : "";
}

std::string HistoryMaker::cache() {
  return chance(15) ? R"(,"cache_control":{"type":"ephemeral","ttl":"1h"})" : "";
}

std::string HistoryMaker::base64() {
  return pick({"iVBORw0KGgo=", "AAAA", "JVBERi0xLjQK", "R0lGODlhAQABAAAAACw="});
}

std::string HistoryMaker::id(std::string_view prefix) {
  return fmt::format("{}{}_{}", prefix, ++made_, below(100000));
}

std::string HistoryMaker::toolName(Dialect dialect) {
  if (dialect == Dialect::Gemini) return pick({"bash", "read_file", "mcp.server:tool", "_x-y"});
  return pick({"bash", "read_file", "9lives", "a-b_c", "Grep"});
}

std::string HistoryMaker::arguments() {
  return pick({R"("{}")", R"("{\"cmd\": \"ls\"}")", R"("{\"cmd\": \"l")", R"("")", R"("[1,2]")",
               R"("{\"n\":1.0,\"n\":2}")", R"("not json")", R"("{\"t\":\"\\u00e9\\n\"}")"});
}

std::string HistoryMaker::anthropicMedia() {
  return pick(
      {fmt::format(R"({{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}{}}})",
                   base64(), cache()),
       R"({"type":"image","source":{"type":"url","url":"https://example.com/a.jpg"}})",
       R"({"type":"image","source":{"type":"file","file_id":"file_1"}})",
       R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQK"},"title":"T"})",
       R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"},"citations":{"enabled":true}})",
       R"({"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]})"});
}

std::vector<std::string> HistoryMaker::anthropicTurn() {
  std::vector<std::string> out;
  std::vector<std::string> parts;
  if (chance(30)) parts.push_back(anthropicMedia());
  if (chance(10)) parts.push_back(R"({"type":"container_upload","file_id":"f"})");
  parts.push_back(fmt::format(R"({{"type":"text","text":{}{}{}}})", text(), cache(), extra()));
  out.push_back(chance(50) ? fmt::format(R"({{"role":"user","content":{}{}}})", text(), extra())
                           : fmt::format(R"({{"content":[{}],"role":"user"}})", joined(parts, " , ")));
  std::vector<std::string> ids;
  parts.clear();
  if (chance(40))
    parts.push_back(fmt::format(R"({{"type":"thinking","thinking":{},"signature":"EqQB{}"}})", text(), below(99)));
  if (chance(10)) parts.push_back(R"({"type":"redacted_thinking","data":"Emw="})");
  if (chance(60)) {
    parts.push_back(fmt::format(
        R"({{"type":"text","text":{}{}}})", text(),
        chance(20)
            ? R"(,"citations":[{"type":"char_location","cited_text":"x","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1}])"
            : ""));
  }
  if (chance(10)) {
    const std::string srv = id("srvtoolu_");
    parts.push_back(
        fmt::format(R"({{"type":"server_tool_use","id":"{}","name":"web_search","input":{{"query":"q"}}}})", srv));
    parts.push_back(fmt::format(R"({{"type":"web_search_tool_result","tool_use_id":"{}","content":[]}})", srv));
  }
  for (std::uint64_t calls = below(4); calls > 0 && chance(70); --calls) {
    ids.push_back(id("toolu_"));
    parts.push_back(fmt::format(R"({{"type":"tool_use","id":"{}","name":"{}","input":{}{}}})", ids.back(),
                                toolName(Dialect::Anthropic), object(), extra()));
  }
  if (ids.empty()) parts.push_back(R"({"type":"text","text":"done."})");
  out.push_back(fmt::format(R"({{"role":"assistant","content":[{}]{}}})", joined(parts), extra()));
  if (ids.empty()) return out;
  parts.clear();
  std::ranges::shuffle(ids, random_);
  for (const std::string& call : ids) {
    const bool failed = chance(20);
    const std::string content =
        failed ? fmt::format(R"("content":{},"is_error":true)", text())
               : pick({R"("content":"")", "\"content\":" + text(), R"("is_error":false)",
                       fmt::format(R"("content":[{{"type":"text","text":{}}},{}])", text(), anthropicMedia())});
    parts.push_back(fmt::format(R"({{"type":"tool_result","tool_use_id":"{}",{}{}}})", call, content, cache()));
  }
  if (chance(30)) parts.push_back(fmt::format(R"({{"type":"text","text":{}}})", text()));
  out.push_back(fmt::format(R"({{"role":"user","content":[{}]}})", joined(parts)));
  out.push_back(R"({"role":"assistant","content":"ok"})");
  return out;
}

std::vector<std::string> HistoryMaker::chatTurn() {
  std::vector<std::string> out;
  if (chance(10)) out.push_back(fmt::format(R"({{"role":"{}","content":{}}})", pick({"system", "developer"}), text()));
  out.push_back(pick(
      {fmt::format(R"({{"role":"user","content":{}{}}})", text(), extra()),
       fmt::format(
           R"({{"role":"user","name":"alice","content":[{{"type":"text","text":{}}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{}","detail":"high"}}}}]}})",
           text(), base64()),
       R"({"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0xLjQK","filename":"a.pdf"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},{"type":"text","text":"see"}]})",
       R"({"role":"user","content":""})"}));
  std::vector<std::string> ids;
  std::vector<std::string> calls;
  for (std::uint64_t count = below(4); count > 0; --count) {
    ids.push_back(chance(20) ? id("call:odd/") : id("call_"));
    calls.push_back(
        chance(15)
            ? fmt::format(R"({{"id":"{}","type":"custom","custom":{{"name":"sql","input":{}}}}})", ids.back(), text())
            : fmt::format(R"({{"id":"{}","type":"function","function":{{"name":"{}","arguments":{}}}}})", ids.back(),
                          toolName(Dialect::OpenaiChat), arguments()));
  }
  if (calls.empty()) {
    out.push_back(pick({fmt::format(R"({{"role":"assistant","content":{}{}}})", text(), extra()),
                        R"({"role":"assistant","content":""})",
                        R"({"role":"assistant","content":[{"type":"refusal","refusal":"no"}]})",
                        R"({"role":"assistant","content":null,"refusal":"I will not"})",
                        fmt::format(R"({{"role":"assistant","reasoning_content":"hm","content":{}}})", text())}));
    return out;
  }
  out.push_back(fmt::format(R"({{"role":"assistant","content":{},"tool_calls":[{}]}})", pick({"null", "\"\"", text()}),
                            joined(calls)));
  std::ranges::shuffle(ids, random_);
  for (const std::string& call : ids) {
    out.push_back(fmt::format(R"({{"role":"tool","tool_call_id":"{}","content":{}}})", call,
                              pick({text(), "\"\"", fmt::format(R"([{{"type":"text","text":{}}}])", text())})));
  }
  out.push_back(fmt::format(R"({{"role":"assistant","content":{}}})", text()));
  return out;
}

std::vector<std::string> HistoryMaker::responsesTurn() {
  std::vector<std::string> out;
  out.push_back(pick(
      {fmt::format(R"({{"role":"user","content":{}}})", text()),
       fmt::format(
           R"({{"type":"message","role":"user","content":[{{"type":"input_text","text":{}}},{{"type":"input_image","detail":"low","image_url":"https://example.com/a.png"}}]{}}})",
           text(), extra()),
       R"({"type":"message","role":"user","content":[{"type":"input_text","text":""}]})",
       R"({"type":"message","role":"user","content":[{"type":"input_file","file_id":"file-1"},{"type":"input_image","detail":"auto","file_id":"file-2"}]})",
       fmt::format(R"({{"role":"developer","content":{}}})", text())}));
  std::vector<std::string> ids;
  std::vector<char> custom;
  if (chance(50)) {
    out.push_back(fmt::format(R"({{"type":"reasoning","id":"{}","summary":[{}],"encrypted_content":"gAAA"}})",
                              id("rs_"), chance(50) ? R"({"type":"summary_text","text":"s"})" : ""));
  } else if (chance(30)) {
    out.push_back(fmt::format(
        R"({{"type":"web_search_call","id":"{}","status":"completed","action":{{"type":"search","query":"q"}}}})",
        id("ws_")));
  }
  const std::string answer = fmt::format(
      R"({{"type":"message","id":"{}","role":"assistant","status":"completed","phase":"commentary","content":[{{"type":"output_text","text":{},"annotations":[{}]}}]}})",
      id("msg_"), text(),
      chance(30) ? R"({"type":"url_citation","start_index":0,"end_index":1,"title":"t","url":"https://x"})" : "");
  for (std::uint64_t count = below(4); count > 0; --count) {
    ids.push_back(chance(20) ? id("call|fc odd ") + std::string(30, 'x') : id("call_"));
    custom.push_back(chance(20));
    out.push_back(
        custom.back()
            ? fmt::format(R"({{"type":"custom_tool_call","id":"{}","call_id":"{}","name":"sql","input":{}}})",
                          id("ctc_"), ids.back(), text())
            : fmt::format(
                  R"({{"type":"function_call","id":"{}","call_id":"{}","name":"{}","arguments":{},"status":"completed"{}}})",
                  id("fc_"), ids.back(), toolName(Dialect::OpenaiResponses), arguments(), extra()));
  }
  if (ids.empty() || chance(30)) out.push_back(answer);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string output = pick(
        {text(), "\"\"",
         R"([{"type":"input_text","text":"done"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}])"});
    out.push_back(fmt::format(R"({{"type":"{}","call_id":"{}","output":{}}})",
                              custom[i] != 0 ? "custom_tool_call_output" : "function_call_output", ids[i], output));
  }
  if (!ids.empty()) out.push_back(fmt::format(R"({{"role":"assistant","content":{}}})", text()));
  return out;
}

std::string HistoryMaker::geminiMedia() {
  return pick(
      {fmt::format(R"({{"inlineData":{{"mimeType":"image/png","data":"{}"}}}})", base64()),
       R"({"fileData":{"mimeType":"image/jpeg","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc"}})",
       R"({"inlineData":{"mimeType":"audio/wav","data":"AAAA"}})"});
}

std::vector<std::string> HistoryMaker::geminiTurn() {
  std::vector<std::string> out;
  std::vector<std::string> parts;
  if (chance(30)) parts.push_back(geminiMedia());
  parts.push_back(fmt::format(R"({{"text":{}{}}})", text(), extra()));
  out.push_back(fmt::format(R"({{"role":"user","parts":[{}]}})", joined(parts)));
  parts.clear();
  if (chance(40)) parts.push_back(fmt::format(R"({{"text":{},"thought":true}})", text()));
  if (chance(50))
    parts.push_back(fmt::format(R"({{"text":{},"thoughtSignature":"CiQB{}=="}})", text(), below(90) + 10));
  if (chance(10)) {
    parts.push_back(R"({"executableCode":{"language":"PYTHON","code":"1"}})");
    parts.push_back(R"({"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}})");
  }
  if (chance(10)) parts.push_back(geminiMedia());
  const bool withIds = chance(40);
  std::vector<std::string> answers;
  for (std::uint64_t count = below(4); count > 0; --count) {
    const std::string name = toolName(Dialect::Gemini);
    const std::string callId = withIds ? fmt::format(R"("id":"{}",)", id("g ")) : "";
    parts.push_back(fmt::format(R"({{"functionCall":{{{}"name":"{}","args":{}}}{}}})", callId, name, object(),
                                answers.empty() ? R"(,"thoughtSignature":"CiQBcsjaf0==")" : ""));
    answers.push_back(
        fmt::format(R"({{"functionResponse":{{{}"name":"{}","response":{}}}}})", callId, name,
                    pick({R"({"output":"done"})", R"({"error":"exit 1"})", object(), R"({"result":{"a":[1,2]}})"})));
  }
  if (parts.empty() || (answers.empty() && chance(50)))
    parts.push_back(R"({"text":"","thoughtSignature":"CiQBcsjaf0=="})");
  out.push_back(fmt::format(R"({{"role":"model","parts":[{}]{}}})", joined(parts), extra()));
  if (answers.empty()) return out;
  out.push_back(fmt::format(R"({{"role":"user","parts":[{}]}})", joined(answers)));
  out.push_back(fmt::format(R"({{"role":"model","parts":[{{"text":{}}}]}})", text()));
  return out;
}

std::vector<std::string> HistoryMaker::turn(Dialect dialect) {
  switch (dialect) {
    case Dialect::Anthropic: return anthropicTurn();
    case Dialect::OpenaiChat: return chatTurn();
    case Dialect::OpenaiResponses: return responsesTurn();
    default: return geminiTurn();
  }
}

std::string HistoryMaker::document(Dialect dialect, int turns) {
  std::vector<std::string> messages;
  for (int i = 0; i < turns; ++i) {
    for (std::string& message : turn(dialect)) messages.push_back(std::move(message));
  }
  const std::string separator = pick({",", ",\n    ", " , ", ",\r\n\t"});
  const std::string list = pick({"[", "[\n    ", "[ "}) + joined(messages, separator) + pick({"]", "\n  ]", " ]"});
  if (chance(40)) return list + pick({"", "\n"});
  const std::string system = pick({R"("Be brief.")", text()});
  switch (dialect) {
    case Dialect::Anthropic:
      return fmt::format(
          "{{\n  \"model\": \"claude\", \"max_tokens\":1024,{} {}\"messages\": {}, \"temperature\":1.0}}\n",
          pick(
              {"", fmt::format("\"system\" : {},", system),
               R"("system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],)"}),
          pick(
              {"",
               R"("tools": [{"name":"bash","description":"run","input_schema":{"type":"object","properties":{"cmd":{"type":"string"}}},"cache_control":{"type":"ephemeral"}} , {"type":"web_search_20250305","name":"web_search"}], )"}),
          list);
    case Dialect::OpenaiChat:
      return fmt::format(
          "{{\"messages\":{},{}\"model\":\"gpt\"}}", list,
          pick(
              {"",
               R"("tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"},"strict":true}},{"type":"custom","custom":{"name":"sql"}}],)"}));
    case Dialect::OpenaiResponses:
      return fmt::format(
          "{{{} \"input\": {} , \"store\":false{}}}",
          pick({"", "\"instructions\":null,", fmt::format("\"instructions\":{},", system)}), list,
          pick(
              {"",
               R"(,"tools":[{"type":"function","name":"bash","parameters":{"type":"object"},"strict":null},{"type":"web_search"}])"}));
    default:
      return fmt::format(
          "{{\"contents\": {}{}{}}}", list,
          pick({"", fmt::format(R"(,"systemInstruction":{{"parts":[{{"text":{}}}]}})", system)}),
          pick(
              {"",
               R"(,"tools":[{"functionDeclarations":[{"name":"bash","parameters":{"type":"OBJECT","properties":{"cmd":{"type":"STRING"}}}}]},{"googleSearch":{}}])"}));
  }
}

}  // namespace bough::test
