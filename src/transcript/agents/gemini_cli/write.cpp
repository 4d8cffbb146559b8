// Writes a branch as a session file that Gemini CLI resumes: a header, and each message with its parts.
//
// Gemini CLI accepts a message that contains its calls as parts, followed by a message of results. It writes this form
// itself when it resumes a session.
#include <algorithm>
#include <unordered_map>

#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "transcript/agents/gemini_cli/read.h"
#include "transcript/model/origin.h"
#include "transcript/model/uuid.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::gemini_cli {
namespace {

class GeminiWriter : public Writer {
 public:
  void begin(const TranscriptFacts& facts, std::string& out) override {
    title_ = facts.title;
    json::Writer writer(out);
    writer.beginObject().member("sessionId", isUuid(facts.sessionId) ? facts.sessionId : uuidFor(facts.sessionId));
    writer.member("projectHash", Sha256::of(facts.cwd)).member("startTime", facts.created);
    writer.member("lastUpdated", facts.created).member("kind", "main").endObject();
    out += '\n';
  }

  void copied(const Item& item, std::string_view line) override {
    lastTime_ = item.entry->timestamp;
    calls_.clear();
    // For an entry from another agent, the line has Gemini CLI's form of the message.
    const auto origin = originOf(*item.entry);
    if (!origin || origin->agent != "gemini-cli") {
      const std::size_t end = line.find_last_not_of("\r\n");
      if (item.isKept && end != std::string_view::npos) {
        lines_[item.entry->id] = {std::string(line.substr(0, end + 1))};
      }
      return;
    }
    const auto message = json::findMember(item.entry->payload, "message");
    if (!message) return;
    std::string own = messageLine(item, contentOf(*message), item.entry->id);  // also notes the calls
    if (item.isKept) lines_[item.entry->id] = {std::move(own)};
  }

  void item(const Item& item, std::string& out) override {
    lastTime_ = item.entry->timestamp;
    const std::string& type = item.entry->type;
    if (type == entry_type::kCompactionSummary) return writeCompaction(item, out);
    if (type == entry_type::kBranchSummary) return write(item, summaryMessage(item), item.entry->id, out);
    addLossyType(item);
    for (std::size_t i = 0; i < item.messages.size(); ++i) {
      write(item, item.messages[i], i == 0 ? item.entry->id : item.entry->id + '/' + std::to_string(i), out);
    }
  }

  void end(const std::string& headId, std::string& out) override {
    writeMissingResults(headId, out);
    json::Writer writer(out);
    writer.beginObject().key("$set").beginObject();
    if (!title_.empty()) writer.member("summary", title_);
    writer.member("lastUpdated", lastTime_).endObject().endObject();
    out += '\n';
  }

 private:
  // An answer may be stored in the form that the API returned.
  static std::string_view contentOf(std::string_view message) {
    const auto candidates = json::findMember(message, "candidates");
    if (!candidates) return message;
    json::ArrayReader list(*candidates);
    const auto first = list.next();
    return first ? json::findMember(*first, "content").value_or(message) : message;
  }

  static std::string summaryMessage(const Item& item) {
    json::Writer writer;
    writer.beginObject().member("role", "user").key("parts").beginArray().beginObject();
    writer.member("text", Members(item.entry->payload).text("summary")).endObject().endArray().endObject();
    return writer.take();
  }

  void write(const Item& item, std::string_view message, const std::string& id, std::string& out) {
    std::string line = messageLine(item, contentOf(message), id);
    out += line;
    out += '\n';
    if (item.isKept) lines_[item.entry->id].push_back(std::move(line));
  }

  std::string messageLine(const Item& item, std::string_view message, std::string_view id) {
    const Members parts(message);
    const bool isAnswer = parts.text("role") == "model";
    json::Writer writer;
    writer.beginObject().member("id", id).member("timestamp", item.entry->timestamp);
    writer.member("type", isAnswer ? "gemini" : "user").key("content");
    const std::string_view content = parts.isArray("parts") ? parts.raw("parts") : "[]";
    noteCalls(content);
    if (isAnswer) {
      writer.raw(content);
      writeFacts(writer, item);
    } else {
      writeUserParts(writer, content);
    }
    return writer.endObject().take();
  }

  // Results come directly after their calls, all of them or none, so only the last message has calls that wait for
  // results.
  void noteCalls(std::string_view content) {
    calls_.clear();
    json::ArrayReader parts(content);
    while (const auto part = parts.next()) {
      if (const auto call = json::findMember(*part, "functionCall")) calls_.emplace_back(*call);
    }
  }

  // Gemini CLI sends calls at the end without results, which the model's provider refuses.
  void writeMissingResults(const std::string& headId, std::string& out) {
    if (calls_.empty()) return;
    json::Writer writer(out);
    writer.beginObject().member("id", headId + "/results").member("timestamp", lastTime_).member("type", "user");
    writer.key("content").beginArray();
    for (const std::string& call : calls_) {
      writer.beginObject().key("functionResponse").beginObject();
      for (const std::string_view name : {"id", "name"}) {
        if (const auto member = json::findMember(call, name)) writer.key(name).raw(*member);
      }
      writer.key("response").beginObject().member("error", "No result: the call was interrupted.");
      writer.endObject().endObject().endObject();
    }
    writer.endArray().endObject();
    out += '\n';
  }

  // Returns whether Gemini CLI takes the text for a command, or for something that it told the model itself, and does
  // not send it.
  static bool isSkipped(std::string_view text) {
    constexpr std::string_view kBeginnings[] = {"/", "?", "<session_context>", "<hook_context>"};
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
  }

  // A zero-width character before such text makes it ordinary text.
  void writeUserParts(json::Writer& writer, std::string_view parts) {
    json::ArrayReader list(parts);
    const auto first = list.next();
    const std::string text = first ? json::findString(*first, "text").value_or("") : "";
    if (!isSkipped(text)) {
      writer.raw(parts);
      return;
    }
    lossyFields.emplace_back("text.command");
    writer.beginArray().beginObject().member("text", "\u2060" + text).endObject();
    while (const auto part = list.next()) writer.raw(*part);
    writer.endArray();
  }

  void writeFacts(json::Writer& writer, const Item& item) {
    const auto stored = normalizeEntry(*item.entry);
    if (!stored) return;
    if (stored->usage && !item.isMoreOfAnswer) {
      const Usage& usage = *stored->usage;
      const std::uint64_t input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
      if (usage.cacheWriteTokens > 0) lossyFields.emplace_back("assistant.usage.cache_write_tokens");
      writer.key("tokens").beginObject().member("input", input);
      writer.member("output", usage.outputTokens - usage.reasoningTokens);
      writer.member("cached", usage.cacheReadTokens).member("thoughts", usage.reasoningTokens);
      writer.member("tool", 0).member("total", input + usage.outputTokens).endObject();
    }
    if (stored->model.present) writer.member("model", stored->model.decode());
  }

  // Writes a new list of messages: the summary and the messages that were kept.
  void writeCompaction(const Item& item, std::string& out) {
    const std::string summary = messageLine(item, summaryMessage(item), item.entry->id);
    const bool summaryLast = Members(item.entry->payload).isTrue("summaryAfterKept");
    json::Writer writer(out);
    writer.beginObject().key("$set").beginObject().key("messages").beginArray();
    if (!summaryLast) writer.raw(summary);
    for (const std::string& id : item.kept) {
      for (const std::string& line : lines_[id]) writer.raw(line);
    }
    if (summaryLast) writer.raw(summary);
    writer.endArray().member("lastUpdated", item.entry->timestamp).endObject().endObject();
    out += '\n';
    if (item.isKept) lines_[item.entry->id] = {summary};
  }

  std::string title_;
  std::string lastTime_;
  std::vector<std::string> calls_;  // calls of the last message, which have no results yet
  std::unordered_map<std::string, std::vector<std::string>> lines_;  // entry id → what was written for it
};

}  // namespace

std::unique_ptr<Writer> makeWriter() {
  return std::make_unique<GeminiWriter>();
}

}  // namespace bough::transcript::gemini_cli
