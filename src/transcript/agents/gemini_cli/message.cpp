#include "transcript/agents/gemini_cli/message.h"

#include <algorithm>
#include <functional>

#include "base/json/json_write.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::gemini_cli {
namespace {

// Content is a text, a part, or a list of both.
std::vector<std::string_view> partsOf(std::string_view content) {
  std::vector<std::string_view> parts;
  if (content.empty() || content == "null") return parts;
  if (json::kindOf(content) != json::Kind::Array) return {content};
  json::ArrayReader list(content);
  while (const auto part = list.next()) parts.push_back(*part);
  return parts;
}

class Assembling {
 public:
  explicit Assembling(std::string_view record) : line_(record) {
    out_.id = line_.text("id");
    out_.timestamp = line_.text("timestamp");
    out_.model = line_.text("model");
    const std::string type = line_.text("type");
    for (const std::string_view part : partsOf(line_.raw("content"))) {
      if (json::kindOf(part) == json::Kind::String || json::kindOf(part) == json::Kind::Object) parts_.push_back(part);
    }
    setContentHash(type);
    if (type == "gemini") {
      assembleAnswer();
    } else if (type == "user") {
      assembleUser();
    } else {
      out_.kindName = type.empty() ? "unknown" : type;
    }
  }

  ChatMessage take() { return std::move(out_); }

 private:
  static bool isTrue(std::string_view part, std::string_view name) { return json::findMember(part, name) == "true"; }

  static std::string_view textPart(std::string_view part) {
    if (json::kindOf(part) == json::Kind::String) return part;
    const auto text = json::findMember(part, "text");
    return text && json::kindOf(*text) == json::Kind::String ? *text : std::string_view();
  }

  // Hashes the content of the message: texts and calls. Thoughts, times, usage and the form do not count.
  void setContentHash(std::string_view type) {
    std::string said(type);
    for (const std::string_view part : parts_) {
      const bool isObject = json::kindOf(part) == json::Kind::Object;
      if (isObject && isTrue(part, "thought")) continue;
      if (const std::string_view text = textPart(part); !text.empty() && text != "\"\"") {
        said += '\n';
        said += json::decodeString(text).value_or("");
      }
      for (const std::string_view name : {"functionCall", "functionResponse", "inlineData", "fileData"}) {
        const auto value = isObject ? json::findMember(part, name) : std::nullopt;
        if (value && name == "functionCall") noteCall(*value);
        if (value && name != "functionCall") said += *value;
      }
    }
    if (line_.isArray("toolCalls") && calls_.empty()) {
      json::ArrayReader list(line_.raw("toolCalls"));
      while (const auto call = list.next()) noteCall(*call);
    }
    said += calls_;
    out_.contentHash = std::hash<std::string>{}(said);
  }

  void noteCall(std::string_view call) {
    calls_ += '\n';
    calls_ += json::findString(call, "name").value_or("");
    calls_ += json::findMember(call, "args").value_or("");
  }

  void addPart(std::string& list, std::string_view part, std::string_view prefix) {
    if (list.size() > 1) list += ',';
    if (json::kindOf(part) == json::Kind::String) {
      list += "{\"text\":";
      list += part;
      list += '}';
      out_.holes.push_back({std::string(prefix) + std::to_string(count_) + "/text", part});
    } else {
      list += part;
      out_.holes.push_back({std::string(prefix) + std::to_string(count_), part});
    }
    ++count_;
  }

  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  }

  // Returns whether a part is text that Gemini CLI itself gives the model in addition to what was said.
  static bool isContext(std::string_view part) {
    const std::string whole = textPart(part).empty() ? "" : json::decodeString(textPart(part)).value_or("");
    const std::string_view text = trimmed(whole);
    for (const std::string_view name : {"session_context>", "hook_context>"}) {
      if (!text.starts_with('<') || !text.substr(1).starts_with(name)) continue;
      const std::size_t end = text.find("</" + std::string(name));
      return end == std::string_view::npos || end + name.size() + 2 == text.size();
    }
    return false;
  }

  void assembleUser() {
    if (parts_.empty()) out_.kindName = "empty";
    // Text that Gemini CLI adds may come before what a person said.
    const std::size_t said = static_cast<std::size_t>(std::ranges::find_if_not(parts_, isContext) - parts_.begin());
    if (!parts_.empty() && said == parts_.size()) out_.kindName = "context";
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(said));
    std::string first;
    for (const std::string_view part : parts_) {
      if (!textPart(part).empty()) first += json::decodeString(textPart(part)).value_or("");
    }
    const std::string_view text = trimmed(first);
    if (text.starts_with('/') || text.starts_with('?')) out_.kindName = "command";
    if (!out_.kindName.empty()) return;
    out_.speaker = Speaker::User;
    out_.text = first;
    std::string list = "[";
    for (const std::string_view part : parts_) {
      addPart(list, part, "parts/");
      if (json::kindOf(part) != json::Kind::Object) continue;
      if (const auto response = json::findMember(part, "functionResponse")) {
        addResult(json::findString(*response, "id").value_or(""), out_.results.size(), std::string(part));
      } else {
        onlyResults_ = false;
      }
    }
    if (!onlyResults_) out_.results.clear();
    out_.message = "{\"role\":\"user\",\"parts\":" + list + "]}";
  }

  void assembleAnswer() {
    out_.speaker = Speaker::Model;
    bool isWhole = false;
    for (const std::string_view part : parts_) {
      if (json::kindOf(part) != json::Kind::Object) continue;
      isWhole |= json::findMember(part, "functionCall").has_value() || isTrue(part, "thought");
    }
    constexpr std::string_view kPrefix = "candidates/0/content/parts/";
    std::string list = "[";
    if (!isWhole) addThoughts(list);
    for (const std::string_view part : parts_) {
      if (!textPart(part).empty() && textPart(part) == "\"\"") continue;
      addPart(list, part, kPrefix);
    }
    addCalls(list, !isWhole);
    if (list.size() == 1) {
      out_.speaker = Speaker::Nobody;
      out_.kindName = "empty";
      return;
    }
    json::Writer writer(out_.message);
    writer.beginObject().key("candidates").beginArray().beginObject().key("content").beginObject();
    writer.member("role", "model").key("parts").raw(list + "]").endObject().endObject().endArray();
    writeUsage(writer);
    // All versions of the message are one request.
    if (!out_.id.empty()) writer.member("responseId", out_.id);
    if (!out_.model.empty()) writer.member("modelVersion", out_.model);
    writer.endObject();
  }

  void addThoughts(std::string& list) {
    if (!line_.isArray("thoughts")) return;
    json::ArrayReader thoughts(line_.raw("thoughts"));
    while (const auto thought = thoughts.next()) {
      const Members parts(*thought);
      const std::string subject = parts.text("subject");
      const std::string text =
          subject.empty() ? parts.text("description") : "**" + subject + "** " + parts.text("description");
      if (list.size() > 1) list += ',';
      json::Writer(list).beginObject().member("text", text).member("thought", true).endObject();
      ++count_;
    }
  }

  void addCalls(std::string& list, bool addToMessage) {
    if (!line_.isArray("toolCalls")) return;
    json::ArrayReader calls(line_.raw("toolCalls"));
    for (std::size_t place = 0; const auto call = calls.next(); ++place) {
      const Members parts(*call);
      if (addToMessage) {
        if (list.size() > 1) list += ',';
        json::Writer writer(list);
        writer.beginObject().key("functionCall").beginObject().member("id", parts.text("id"));
        writer.member("name", parts.text("name")).key("args").raw(parts.isObject("args") ? parts.raw("args") : "{}");
        writer.endObject().endObject();
        ++count_;
      }
      std::string results;
      for (const std::string_view part : partsOf(parts.raw("result"))) {
        if (json::kindOf(part) != json::Kind::Object) continue;
        if (!results.empty()) results += ',';
        results += part;
      }
      if (!results.empty()) addResult(parts.text("id"), place, std::move(results));
    }
  }

  void addResult(std::string callId, std::size_t place, std::string parts) {
    if (callId.empty()) callId = "#" + std::to_string(place);
    const std::uint64_t contentHash = std::hash<std::string>{}(parts);
    out_.results.push_back({.callId = std::move(callId), .parts = std::move(parts), .contentHash = contentHash});
  }

  // Gemini's own count of prompt tokens includes those of tools.
  void writeUsage(json::Writer& writer) {
    if (!line_.isObject("tokens")) return;
    const std::string_view tokens = line_.raw("tokens");
    const auto count = [&](std::string_view name) { return json::findUnsigned(tokens, name).value_or(0); };
    writer.key("usageMetadata").beginObject().member("promptTokenCount", count("input"));
    writer.member("candidatesTokenCount", count("output")).member("cachedContentTokenCount", count("cached"));
    writer.member("thoughtsTokenCount", count("thoughts")).member("totalTokenCount", count("total")).endObject();
  }

  Members line_;
  ChatMessage out_;
  std::vector<std::string_view> parts_;
  std::string calls_;
  std::size_t count_ = 0;
  bool onlyResults_ = true;
};

}  // namespace

std::string resultsMessage(const std::vector<CallResult>& results) {
  std::string list;
  for (const CallResult& result : results) list += (list.empty() ? "" : ",") + result.parts;
  return "{\"role\":\"user\",\"parts\":[" + list + "]}";
}

ChatMessage parseChatMessage(std::string_view record) {
  return Assembling(record).take();
}

}  // namespace bough::transcript::gemini_cli
