#include "agent/providers/offline.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "agent/parts/json_parts.h"
#include "agent/parts/prompts.h"
#include "base/text/counted.h"
#include "base/text/text.h"

namespace bough::agent {
namespace {

constexpr std::chrono::milliseconds kCountPause{50};
constexpr std::size_t kQuotedBytes = 400;

std::string cut(std::string_view text) {
  if (text.size() <= kQuotedBytes) return std::string(text);
  std::size_t end = kQuotedBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

// What to answer: the last thing the user said, and what happened since.
struct Situation {
  std::string prompt;
  std::size_t stepsDone = 0;
  std::vector<std::string> calls;              // the ids of the last step's calls
  std::map<std::string, std::string> results;  // the results of these calls
  std::size_t messages = 0;
};

void readBlocks(std::string_view message, Situation& out) {
  const std::string role = json::findString(message, "role").value_or("");
  const std::string_view content = memberOr(message, "content", "[]");
  if (role == "user" && json::kindOf(content) == json::Kind::String) {
    out = {.prompt = decoded(stringBody(content)), .messages = out.messages};
    return;
  }
  if (json::kindOf(content) != json::Kind::Array) return;
  std::vector<std::string> calls;
  std::string said;
  json::ArrayReader blocks(content);
  while (const auto block = blocks.next()) {
    const std::string type = json::findString(*block, "type").value_or("");
    if (type == "text") said += json::findString(*block, "text").value_or("") + "\n";
    if (type == "tool_call") calls.push_back(json::findString(*block, "id").value_or(""));
    if (type == "tool_result") {
      std::string text = json::findString(*block, "content").value_or("");
      json::ArrayReader parts(memberOr(*block, "content", "[]"));
      while (const auto part = parts.next()) text += json::findString(*part, "text").value_or("");
      out.results[json::findString(*block, "id").value_or("")] =
          fmt::format("{}: {}", json::findString(*block, "name").value_or("tool"), text::trimmed(text));
    }
  }
  if (role == "user" && !text::trimmed(said).empty()) {
    out = {.prompt = said, .messages = out.messages};
  } else if (!calls.empty()) {
    ++out.stepsDone;
    out.calls = std::move(calls);
    out.results.clear();
  }
}

struct Line {
  std::string_view word;
  std::string_view rest;
};

Line splitLine(std::string_view line) {
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return {line, {}};
  return {line.substr(0, blank), text::trimmed(line.substr(blank))};
}

// Splits `LEFT separator RIGHT`. Returns std::nullopt when there is no separator.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(text::trimmed(text.substr(0, at)), text::trimmed(text.substr(at + separator.size())));
}

struct PlannedCall {
  std::string name;
  std::string input;
};

std::string inputOf(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  json::Writer writer;
  writer.beginObject();
  for (const auto& [name, value] : members) writer.member(name, value);
  return writer.endObject().take();
}

std::optional<PlannedCall> callOf(const Line& line) {
  const auto [word, rest] = line;
  if (word == "ls") return PlannedCall{"ls", rest.empty() ? "{}" : inputOf({{"path", rest}})};
  if (rest.empty()) return std::nullopt;
  if (word == "read") return PlannedCall{"read", inputOf({{"path", rest}})};
  if (word == "bash" || word == "run") return PlannedCall{"bash", inputOf({{"command", rest}})};
  if (word == "grep") {
    const auto parts = split(rest, " in ");
    return PlannedCall{
        "grep", parts ? inputOf({{"pattern", parts->first}, {"path", parts->second}}) : inputOf({{"pattern", rest}})};
  }
  const auto file = split(rest, ":");
  if (!file) return std::nullopt;
  if (word == "write") {
    return PlannedCall{"write", inputOf({{"path", file->first}, {"content", std::string(file->second) + "\n"}})};
  }
  const auto change = split(file->second, "=>");
  if (word != "edit" || !change) return std::nullopt;
  return PlannedCall{"edit", inputOf({{"path", file->first}, {"oldText", change->first}, {"newText", change->second}})};
}

// What to do in the current step.
struct Plan {
  std::vector<PlannedCall> calls;
  std::string thinking;
  std::size_t countTo = 0;
};

Plan planOf(std::string_view prompt, std::size_t step) {
  Plan plan;
  std::size_t at = 0;
  while (!prompt.empty()) {
    const std::size_t end = prompt.find('\n');
    Line line = splitLine(text::trimmed(prompt.substr(0, end)));
    prompt.remove_prefix(end == std::string_view::npos ? prompt.size() : end + 1);
    if (line.word == "then") {
      ++at;
      line = splitLine(line.rest);
    }
    if (at != step) continue;
    if (auto call = callOf(line)) {
      plan.calls.push_back(std::move(*call));
    } else if (line.word == "think") {
      plan.thinking = line.rest;
    } else if (line.word == "count" && line.rest.starts_with("to ")) {
      (void)std::from_chars(line.rest.data() + 3, line.rest.data() + line.rest.size(), plan.countTo);
    }
  }
  return plan;
}

std::string resultsText(const Situation& situation) {
  std::string out = fmt::format("Done: {}.\n", counted(situation.results.size(), "result"));
  for (const std::string& call : situation.calls) {
    if (const auto result = situation.results.find(call); result != situation.results.end()) {
      out += "\n" + cut(result->second) + "\n";
    }
  }
  return out;
}

std::string answerText(const Situation& situation, const Plan& plan) {
  if (situation.prompt.starts_with(kSummaryPrompt)) {
    const std::string_view rest = std::string_view(situation.prompt).substr(kSummaryPrompt.size());
    return fmt::format("The offline model cannot summarize; the conversation begins: {}", cut(text::trimmed(rest)));
  }
  if (situation.prompt.starts_with(kTitlePrompt)) {
    const std::string_view rest = text::trimmed(std::string_view(situation.prompt).substr(kTitlePrompt.size()));
    return "About: " + cut(rest.substr(0, rest.find('\n')));
  }
  if (!plan.calls.empty()) {
    return fmt::format("I use {}.", counted(plan.calls.size(), "tool"));
  }
  if (!situation.results.empty()) return resultsText(situation);
  return fmt::format(
      "I am bough's offline model: no key, no network, no thoughts of my own. You said: {}\n\n"
      "Ask me to use a tool, one per line: `read FILE`, `write FILE: TEXT`, `edit FILE: OLD => NEW`, `ls`, "
      "`grep PATTERN`, `bash COMMAND`. For a real model set a key, such as ANTHROPIC_API_KEY.",
      cut(text::trimmed(situation.prompt)));
}

class OfflineProvider final : public Provider {
 public:
  [[nodiscard]] std::string name() const override { return std::string(kOfflineModel); }
  [[nodiscard]] Dialect dialect() const override { return Dialect::Bough; }
  [[nodiscard]] ModelLimits limits() const override { return {.window = 200'000, .maxOutput = 8'192}; }

  [[nodiscard]] bool takesThinking(std::string_view level) const override { return level == "off"; }

  Result<Answer> stream(const ModelRequest& request, const StreamEvents& events, const CancelToken& cancel) override {
    Situation situation;
    json::ArrayReader messages(memberOr(request.context, "messages", "[]"));
    while (const auto message = messages.next()) {
      ++situation.messages;
      readBlocks(*message, situation);
    }
    const bool ours = situation.prompt.starts_with(kSummaryPrompt) || situation.prompt.starts_with(kTitlePrompt);
    const Plan plan = ours ? Plan{} : planOf(situation.prompt, situation.stepsDone);
    std::string text;
    bool cancelled = false;
    if (!plan.thinking.empty()) emit(events, DeltaKind::Thinking, plan.thinking);
    if (plan.countTo > 0) {
      cancelled = !count(plan.countTo, text, events, cancel);
    } else {
      text = answerText(situation, plan);
      for (std::string_view rest = text; !rest.empty() && !cancelled; cancelled = cancel.requested()) {
        const std::size_t end = std::min(rest.find(' '), rest.size() - 1) + 1;
        emit(events, DeltaKind::Text, rest.substr(0, end));
        rest.remove_prefix(end);
      }
    }
    Answer answer;
    answer.aborted = cancelled;
    answer.message = write(request, situation, plan, text, cancelled);
    for (const PlannedCall& call : plan.calls) {
      if (!cancelled) emit(events, DeltaKind::ToolCall, call.name);
    }
    return answer;
  }

 private:
  static void emit(const StreamEvents& events, DeltaKind kind, std::string_view text) {
    if (events.onDelta) events.onDelta({.kind = kind, .text = text});
  }

  static bool count(std::size_t last, std::string& text, const StreamEvents& events, const CancelToken& cancel) {
    for (std::size_t number = 1; number <= last; ++number) {
      const std::string word = fmt::format("{}{}", number, number == last ? "." : " ");
      text += word;
      emit(events, DeltaKind::Text, word);
      if (!cancel.sleepFor(kCountPause)) return false;
    }
    return true;
  }

  static std::string write(const ModelRequest& request, const Situation& situation, const Plan& plan,
                           std::string_view text, bool cancelled) {
    json::Writer writer;
    writer.beginObject().member("role", "assistant").member("model", kOfflineModel).key("content").beginArray();
    if (!plan.thinking.empty()) {
      writer.beginObject().member("type", "thinking").member("text", plan.thinking).endObject();
    }
    writer.beginObject().member("type", "text").member("text", text).endObject();
    std::size_t number = 0;
    for (const PlannedCall& call : plan.calls) {
      if (cancelled) break;
      // The same conversation always gives the same ids, and each call in it has a different id.
      writer.beginObject().member("type", "tool_call");
      writer.member("id", fmt::format("call_{}_{}", situation.messages, ++number)).member("name", call.name);
      writer.key("input").raw(call.input).endObject();
    }
    writer.endArray().member("stopReason", cancelled ? "aborted" : plan.calls.empty() ? "stop" : "tool_use");
    writer.key("usage").beginObject().member("inputTokens", request.context.size() / 4);
    return writer.member("outputTokens", text.size() / 4 + 1).endObject().endObject().take();
  }
};

}  // namespace

std::unique_ptr<Provider> makeOfflineProvider() {
  return std::make_unique<OfflineProvider>();
}

}  // namespace bough::agent
