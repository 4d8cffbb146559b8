#include "agent/scenario.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "agent/parts/json_parts.h"

namespace bough::agent {
namespace {

// Splits a text in two, so that every text arrives in pieces. The split may be inside an escape, but never inside a
// character.
std::vector<std::string> halves(const std::string& text) {
  std::size_t middle = text.size() / 2;
  while (middle > 0 && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) --middle;
  return {text.substr(0, middle), text.substr(middle)};
}

std::string event(const std::string& name, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

std::string callId(std::size_t number, std::size_t k) {
  return fmt::format("call_{}_{}", number, k + 1);
}

std::string anthropicStream(const ScriptedAnswer& answer, std::size_t number) {
  std::string out =
      event("message_start", fmt::format(R"({{"type":"message_start","message":{{"id":"msg_{}","type":"message",)"
                                         R"("role":"assistant","model":"claude-x","content":[],"stop_reason":null,)"
                                         R"("stop_sequence":null,"usage":{{"input_tokens":25,"output_tokens":1}}}}}})",
                                         number));
  std::size_t index = 0;
  const auto block = [&](const std::string& start, const std::vector<std::string>& deltas) {
    out += event("content_block_start",
                 fmt::format(R"({{"type":"content_block_start","index":{},"content_block":{}}})", index, start));
    out += event("ping", R"({"type":"ping"})");
    for (const std::string& delta : deltas) {
      out += event("content_block_delta",
                   fmt::format(R"({{"type":"content_block_delta","index":{},"delta":{}}})", index, delta));
    }
    out += event("content_block_stop", fmt::format(R"({{"type":"content_block_stop","index":{}}})", index));
    ++index;
  };
  if (!answer.thinking.empty()) {
    std::vector<std::string> deltas;
    for (const std::string& part : halves(answer.thinking)) {
      deltas.push_back(fmt::format(R"({{"type":"thinking_delta","thinking":{}}})", json::quoted(part)));
    }
    deltas.push_back(fmt::format(R"({{"type":"signature_delta","signature":"sig{}"}})", number));
    block(R"({"type":"thinking","thinking":"","signature":""})", deltas);
  }
  if (!answer.text.empty()) {
    std::vector<std::string> deltas;
    for (const std::string& part : halves(answer.text)) {
      deltas.push_back(fmt::format(R"({{"type":"text_delta","text":{}}})", json::quoted(part)));
    }
    block(R"({"type":"text","text":""})", deltas);
  }
  for (std::size_t k = 0; k < answer.calls.size(); ++k) {
    std::vector<std::string> deltas;
    for (const std::string& part : halves(answer.calls[k].arguments)) {
      deltas.push_back(fmt::format(R"({{"type":"input_json_delta","partial_json":{}}})", json::quoted(part)));
    }
    block(fmt::format(R"({{"type":"tool_use","id":"{}","name":"{}","input":{{}}}})", callId(number, k),
                      answer.calls[k].name),
          deltas);
  }
  out += event(
      "message_delta",
      fmt::format(
          R"({{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}},"usage":{{"output_tokens":9}}}})",
          answer.calls.empty() ? "end_turn" : "tool_use"));
  return out + event("message_stop", R"({"type":"message_stop"})");
}

std::string chatStream(const ScriptedAnswer& answer, std::size_t number) {
  std::string out;
  const auto chunk = [&](const std::string& delta, const std::string& reason) {
    out += fmt::format(
        "data: {{\"id\":\"chatcmpl-{}\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
        "\"choices\":[{{\"index\":0,\"delta\":{},\"finish_reason\":{}}}],\"usage\":null}}\n\n",
        number, delta, reason);
  };
  chunk(R"({"role":"assistant","content":"","refusal":null})", "null");
  for (const std::string& part : halves(answer.text))
    chunk(fmt::format(R"({{"content":{}}})", json::quoted(part)), "null");
  for (std::size_t k = 0; k < answer.calls.size(); ++k) {
    chunk(
        fmt::format(
            R"({{"tool_calls":[{{"index":{},"id":"{}","type":"function","function":{{"name":"{}","arguments":""}}}}]}})",
            k, callId(number, k), answer.calls[k].name),
        "null");
    for (const std::string& part : halves(answer.calls[k].arguments)) {
      chunk(fmt::format(R"({{"tool_calls":[{{"index":{},"function":{{"arguments":{}}}}}]}})", k, json::quoted(part)),
            "null");
    }
  }
  chunk("{}", answer.calls.empty() ? "\"stop\"" : "\"tool_calls\"");
  out +=
      "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":20,"
      "\"completion_tokens\":9,\"total_tokens\":29}}\n\n";
  return out + "data: [DONE]\n\n";
}

std::string responsesStream(const ScriptedAnswer& answer, std::size_t number) {
  std::vector<std::string> items;
  std::string deltas;
  const auto add = [&](const std::string& begun, const std::string& done, const std::string& kind,
                       const std::string& text) {
    const std::size_t index = items.size();
    deltas +=
        event("response.output_item.added",
              fmt::format(R"({{"type":"response.output_item.added","output_index":{},"item":{}}})", index, begun));
    for (const std::string& part : halves(text)) {
      deltas +=
          event(kind, fmt::format(R"({{"type":"{}","output_index":{},"delta":{}}})", kind, index, json::quoted(part)));
    }
    deltas += event("response.output_item.done",
                    fmt::format(R"({{"type":"response.output_item.done","output_index":{},"item":{}}})", index, done));
    items.push_back(done);
  };
  if (!answer.thinking.empty()) {
    add(fmt::format(R"({{"id":"rs_{}","type":"reasoning","summary":[],"encrypted_content":""}})", number),
        fmt::format(
            R"({{"id":"rs_{}","type":"reasoning","summary":[{{"type":"summary_text","text":{}}}],"encrypted_content":"enc{}"}})",
            number, json::quoted(answer.thinking), number),
        "response.reasoning_summary_text.delta", answer.thinking);
  }
  if (!answer.text.empty()) {
    add(fmt::format(R"({{"id":"msg_{}","type":"message","role":"assistant","status":"in_progress","content":[]}})",
                    number),
        fmt::format(
            R"({{"id":"msg_{}","type":"message","role":"assistant","status":"completed","content":[{{"type":"output_text","text":{},"annotations":[]}}]}})",
            number, json::quoted(answer.text)),
        "response.output_text.delta", answer.text);
  }
  for (std::size_t k = 0; k < answer.calls.size(); ++k) {
    const auto item = [&](const std::string& status, const std::string& arguments) {
      return fmt::format(
          R"({{"id":"fc_{}_{}","type":"function_call","status":"{}","call_id":"{}","name":"{}","arguments":{}}})",
          number, k + 1, status, callId(number, k), answer.calls[k].name, json::quoted(arguments));
    };
    add(item("in_progress", ""), item("completed", answer.calls[k].arguments), "response.function_call_arguments.delta",
        answer.calls[k].arguments);
  }
  const auto response = [&](const std::string& status, const std::string& output, const std::string& usage) {
    return fmt::format(
        R"({{"id":"resp_{}","object":"response","created_at":1,"status":"{}","model":"m","output":[{}],"usage":{}}})",
        number, status, output, usage);
  };
  std::string all;
  for (const std::string& each : items) all += (all.empty() ? "" : ",") + each;
  return event("response.created",
               R"({"type":"response.created","response":)" + response("in_progress", "", "null") + "}") +
         deltas +
         event("response.completed",
               R"({"type":"response.completed","response":)" +
                   response("completed", all, R"({"input_tokens":20,"output_tokens":9,"total_tokens":29})") + "}");
}

std::string geminiStream(const ScriptedAnswer& answer, std::size_t number) {
  std::string out;
  const auto chunk = [&](const std::string& parts, const std::string& more) {
    out += fmt::format(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{}],\"role\":\"model\"}},\"index\":0{}}}],"
        "\"usageMetadata\":{{\"promptTokenCount\":20,\"candidatesTokenCount\":9,\"totalTokenCount\":29}},"
        "\"modelVersion\":\"gemini-3-x\",\"responseId\":\"r{}\"}}\r\n\r\n",
        parts, more, number);
  };
  if (!answer.thinking.empty()) {
    for (const std::string& part : halves(answer.thinking)) {
      chunk(fmt::format(R"({{"text":{},"thought":true}})", json::quoted(part)), "");
    }
  }
  if (!answer.text.empty()) {
    for (const std::string& part : halves(answer.text)) chunk(fmt::format(R"({{"text":{}}})", json::quoted(part)), "");
  }
  std::string calls;
  for (std::size_t k = 0; k < answer.calls.size(); ++k) {
    calls += fmt::format(R"({}{{"functionCall":{{"name":"{}","args":{},"id":"{}"}}{}}})", k == 0 ? "" : ",",
                         answer.calls[k].name, argumentsObject(answer.calls[k].arguments), callId(number, k),
                         k == 0 ? fmt::format(R"(,"thoughtSignature":"c2ln{}")", 1000 + number) : "");
  }
  if (!calls.empty()) chunk(calls, "");
  chunk(R"({"text":""})", R"(,"finishReason":"STOP")");
  return out;
}

}  // namespace

const std::vector<std::string>& scenarioPrompts() {
  static const std::vector<std::string> kPrompts = {
      "Hello",      "Look around",    "Change a file", "Make mistakes", "用中文写一个文件", "Count in parallel",
      "Just think", "Do it silently", "Make noise",    "Tidy up"};
  return kPrompts;
}

const std::vector<ScriptedAnswer>& scenarioAnswers() {
  static const std::vector<ScriptedAnswer> kAnswers = [] {
    const std::string count = R"({"command":"echo x >> counter.txt"})";
    std::vector<ScriptedAnswer> all = {
        {"", "Hello!", {}},
        {"Let me see.", "Reading", {{"read", R"({"path":"missing.txt"})"}}},
        {"", "Writing", {{"write", R"({"path":"a.txt","content":"one\ntwo\nthree\n"})"}}},
        {"Three at once.",
         "Looking",
         {{"ls", "{}"}, {"grep", R"({"pattern":"tw.","path":"a.txt"})"}, {"read", R"({"path": "a.txt", "limit": 2})"}}},
        {"", "There is one file.", {}},
        {"Now the edit.", "Editing", {{"edit", R"({"path":"a.txt","oldText":"two","newText":"zwei"})"}}},
        {"", "Running", {{"bash", count}}},
        {"", "Failing", {{"bash", R"({"command":"echo oops >&2; exit 3"})"}}},
        {"", "Changed.", {}},
        {"", "Without arguments", {{"ls", ""}}},
        {"", "An unknown tool", {{"teleport", "{}"}}},
        {"", "Half arguments", {{"read", R"({"path": )"}}},
        {"", "Mistakes were made.", {}},
        {"中文思考", "写", {{"write", R"({"path":"中文.txt","content":"你好，🧑🏽‍💻\n"})"}}},
        {"", "读", {{"read", R"({"path":"中文.txt"})"}}},
        {"", "写好了：你好，żółć 🧑🏽‍💻", {}},
        {"",
         "Counting",
         {{"bash", count},
          {"bash", count},
          {"bash", count},
          {"bash", count},
          {"bash", count},
          {"bash", count},
          {"bash", count},
          {"bash", count}}},
        {"", "Counted.", {}},
        {"A long thought.\nWith lines and \"quotes\".", "Thought.", {}},
        {"", "", {{"ls", "{}"}}},
        {"", "", {{"read", R"({"path":"a.txt"})"}, {"read", R"({"path":"中文.txt"})"}}},
        {"", "Done silently.", {}},
        {"", "Much", {{"bash", R"({"command":"seq 1 100000"})"}}},
        {"", "Binary", {{"bash", R"({"command":"head -c 5000 /dev/zero | tr '\\0' '\\377'"})"}}},
        {"", "Outside", {{"read", R"({"path":"../../../../etc/hostname"})"}}},
        {"", "Noise was made.", {}},
        {"", "Folders", {{"write", R"({"path":"deep/er/file.txt","content":"x"})"}}},
        {"", "Listing", {{"ls", R"({"path":"deep/er"})"}}},
        {"", "Searching", {{"grep", R"({"pattern":"nothing at all"})"}}},
        {"", "All done.", {}},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].text.empty()) all[i].text += fmt::format(" [step {}]", i + 1);
    }
    return all;
  }();
  return kAnswers;
}

std::string streamOf(Dialect dialect, const ScriptedAnswer& answer, std::size_t number) {
  switch (dialect) {
    case Dialect::OpenaiChat: return chatStream(answer, number);
    case Dialect::OpenaiResponses: return responsesStream(answer, number);
    case Dialect::Gemini: return geminiStream(answer, number);
    default: return anthropicStream(answer, number);
  }
}

std::size_t lastAnswerIn(const std::string& body) {
  static const std::regex kMark(R"(\[step (\d+)\]|call_(\d+)_)");
  std::size_t last = 0;
  for (std::sregex_iterator at(body.begin(), body.end(), kMark), end; at != end; ++at) {
    last = std::max(last, std::stoul((*at)[1].matched ? (*at)[1].str() : (*at)[2].str()));
  }
  return last;
}

Dialect dialectOfPath(const std::string& path) {
  if (path.ends_with("/chat/completions")) return Dialect::OpenaiChat;
  if (path.ends_with("/responses")) return Dialect::OpenaiResponses;
  return path.find("streamGenerateContent") != std::string::npos ? Dialect::Gemini : Dialect::Anthropic;
}

LoopbackServer::Handler playScenario(const std::vector<ScriptedAnswer>& answers) {
  return [&answers](const HttpIn& request, Reply& reply) {
    const std::size_t next = lastAnswerIn(request.body) + 1;
    if (next > answers.size()) {
      reply.answer(400, "application/json",
                   R"({"error":{"message":"the scenario is over","type":"invalid_request_error"}})");
      return;
    }
    constexpr std::size_t kPieces[] = {1, 2, 3, 7, 61, 1'000};
    reply.stream(streamOf(dialectOfPath(request.path), answers[next - 1], next), kPieces[next % std::size(kPieces)]);
  };
}

void dumpRequests(const std::vector<HttpIn>& requests) {
  const char* folder = std::getenv("BOUGH_AGENT_DUMP");
  if (folder == nullptr) return;
  static int number = 0;
  for (const HttpIn& request : requests) {
    const std::string place = std::string(folder) + "/" + std::string(toString(dialectOfPath(request.path)));
    std::filesystem::create_directories(place);
    const std::string name = std::to_string(::getpid()) + "-" + std::to_string(++number) + ".json";
    std::ofstream(place + "/" + name, std::ios::binary) << request.body;
  }
}

Endpoint loopbackEndpoint(const LoopbackServer& server, Dialect dialect) {
  Endpoint endpoint{.provider = std::string(toString(dialect)),
                    .model = "m",
                    .dialect = dialect,
                    .baseUrl = server.url(),
                    .key = "secret-key-0123456789"};
  if (dialect == Dialect::Gemini) endpoint.model = "gemini-3-x";
  return endpoint;
}

}  // namespace bough::agent
