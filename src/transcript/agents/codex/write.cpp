// Writes a branch as a rollout file that Codex lists and resumes, in the older mode without ordinals, which every
// version reads. Codex shows a conversation from events and sends the response items, so messages are written as both.
#include "base/json/json_write.h"
#include "transcript/agents/codex/items.h"
#include "transcript/agents/codex/read.h"
#include "transcript/model/uuid.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::codex {
namespace {

class CodexWriter : public Writer {
 public:
  void begin(const TranscriptFacts& facts, std::string& out) override {
    const std::string thread = isUuid(facts.sessionId) ? facts.sessionId : uuidFor(facts.sessionId);
    json::Writer writer(out);
    writer.beginObject().member("timestamp", facts.created).member("type", "session_meta").key("payload");
    writer.beginObject().member("session_id", thread).member("id", thread).member("timestamp", facts.created);
    writer.member("cwd", facts.cwd).member("originator", "codex_cli_rs").member("cli_version", kVersion);
    // No provider: Codex refuses a thread with another provider than the configured one.
    writer.member("source", "cli").endObject().endObject();
    out += '\n';
  }

  void copied(const Item& item, std::string_view line) override {
    // For an entry from another agent, the line has Codex's form of the message.
    const bool isOwn = json::findMember(item.entry->payload, "dialect") == "\"openai-responses\"";
    const auto message =
        json::findMember(isOwn ? std::string_view(item.entry->payload) : line, isOwn ? "message" : "payload");
    if (message && item.isKept) written_[item.entry->id] = {std::string(*message)};
  }

  void item(const Item& item, std::string& out) override {
    const std::string& type = item.entry->type;
    if (type == entry_type::kCompactionSummary) {
      return writeLine(item, "compacted", compactedPayload(item, written_), out);
    }
    if (type == entry_type::kBranchSummary) {
      return writeItem(item, userItem(Members(item.entry->payload).text("summary")), out);
    }
    addLossyType(item);
    for (const std::string& message : item.messages) writeItem(item, responseItem(message), out);
  }

 private:
  static void writeLine(const Item& item, std::string_view type, std::string_view payload, std::string& out) {
    json::Writer writer(out);
    writer.beginObject().member("timestamp", item.entry->timestamp).member("type", type).key("payload").raw(payload);
    writer.endObject();
    out += '\n';
  }

  void writeItem(const Item& item, const std::string& responseItem, std::string& out) {
    const Members parts(responseItem);
    const bool isMessage = parts.text("type") == "message";
    const bool isUser = isMessage && parts.text("role") == "user";
    const bool isAnswer = isMessage && parts.text("role") == "assistant";
    const std::string text = isUser || isAnswer ? itemText(parts.raw("content")) : std::string();
    writeLine(item, "response_item", responseItem, out);
    if (item.isKept) written_[item.entry->id].push_back(responseItem);
    if (isUser || (isAnswer && !text.empty())) writeEvent(item, isUser ? "user_message" : "agent_message", text, out);
  }

  static void writeEvent(const Item& item, std::string_view name, std::string_view text, std::string& out) {
    json::Writer writer;
    writer.beginObject().member("type", name).member("message", text);
    if (name == "user_message") writer.key("images").beginArray().endArray();
    writeLine(item, "event_msg", writer.endObject().text(), out);
  }

  WrittenItems written_;
};

}  // namespace

std::unique_ptr<Writer> makeWriter() {
  return std::make_unique<CodexWriter>();
}

}  // namespace bough::transcript::codex
