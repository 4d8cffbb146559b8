// Writes session files that Claude Code and the Claude Agent SDK can resume: one line per message, a tree by
// parentUuid, and at the end the leaf to continue from, which Claude Code looks for there.
#include <unordered_map>
#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "transcript/agents/claude_code/line.h"
#include "transcript/agents/claude_code/read.h"
#include "transcript/model/ids.h"
#include "transcript/model/origin.h"
#include "transcript/model/uuid.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::claude_code {
namespace {

// What the lines say about their program. Lists hide the files of other programs ("sdk-…"), so the entry point is
// "cli".
constexpr std::string_view kVersion = "2.1.325";
constexpr std::string_view kEntrypoint = "cli";
constexpr std::size_t kMaxPromptBytes = 200;

class ClaudeWriter : public Writer {
 public:
  void begin(const TranscriptFacts& facts, std::string& out) override {
    (void)out;
    facts_ = facts;
  }

  void copied(const Item& item, std::string_view line) override {
    noteOwnId(*item.entry);
    const Line parsed = parseLine(line);
    const bool isOwnId = !isUuid(item.entry->id) && entryIdOf(parsed.uuid) == item.entry->id;
    // A clean copy replaces an id that was used before.
    const bool isFresh = !isForeignId(item.entry->id) && !parsed.uuid.empty();
    if (isOwnId || isFresh) ownIds_[item.entry->id] = parsed.uuid;
    if (facts_.sessionId.empty()) facts_.sessionId = decoded(parsed.sessionId);
    if (facts_.cwd.empty()) facts_.cwd = decoded(parsed.cwd);
    const MessageParts parts = parseMessage(parsed.message);
    if (parsed.type == "user") notePrompt(parts.content);
    if (parsed.type == "assistant") answers_.insert(parts.id);
  }

  void item(const Item& item, std::string& out) override {
    noteOwnId(*item.entry);
    if (item.replacesRedactedLine && isForeignId(item.entry->id)) {
      ownIds_.emplace(item.entry->id, foreignIdOf(item.entry->id));
    }
    const std::string& type = item.entry->type;
    if (type == entry_type::kCompactionSummary) return writeCompaction(item, out);
    if (type == entry_type::kBranchSummary) return writeSummary(item, out);
    addLossyType(item);
    std::string parent = uuidOf(item.parentId);
    if (item.beginsKept && !item.messages.empty()) parent = writeBoundary(item, out);
    for (std::size_t i = 0; i < item.messages.size(); ++i) {
      // The last line has the entry's own id, because others continue from it.
      const bool last = i + 1 == item.messages.size();
      const std::string uuid = last ? uuidOf(item.entry->id) : uuidFor(item.entry->id + '/' + std::to_string(i));
      writeMessage(item, item.messages[i], parent, uuid, out);
      parent = uuid;
    }
  }

  void end(const std::string& headId, std::string& out) override {
    if (!facts_.title.empty()) {
      json::Writer writer(out);
      writer.beginObject().member("type", "custom-title").member("customTitle", facts_.title);
      writer.member("sessionId", facts_.sessionId).endObject();
      out += '\n';
    }
    if (headId.empty()) return;
    json::Writer writer(out);
    writer.beginObject().member("type", "last-prompt").member("lastPrompt", prompt_);
    writer.member("leafUuid", uuidOf(headId)).member("sessionId", facts_.sessionId);
    // Claude Code continues after the results of a call, and some entries have no line.
    if (!headEntryId.empty()) writer.member("entryId", headEntryId);
    writer.endObject();
    out += '\n';
  }

 private:
  // Entries that Claude Code wrote keep their original id; other ids become UUIDs, always the same ones.
  [[nodiscard]] std::string uuidOf(const std::string& entryId) const {
    if (entryId.empty() || isUuid(entryId)) return entryId;
    const auto own = ownIds_.find(entryId);
    return own == ownIds_.end() ? uuidFor(entryId) : own->second;
  }

  // Claude Code's ids are UUIDs, but other programs that write its format may use any ids; copied lines refer to those.
  void noteOwnId(const Entry& entry) {
    if (isUuid(entry.id)) return;
    const auto origin = originOf(entry);
    if (!origin || origin->agent != "claude-code" || !isForeignId(entry.id)) return;
    ownIds_.emplace(entry.id, foreignIdOf(entry.id));
  }

  // Writes the beginning of every line of the conversation, up to its `message`.
  static json::Writer& beginLine(json::Writer& writer, std::string_view parent, std::string_view type) {
    writer.beginObject().memberOrNull("parentUuid", parent).member("isSidechain", false).member("type", type);
    return writer;
  }

  void endLine(json::Writer& writer, const Item& item, std::string_view uuid, std::string& out) {
    writer.member("uuid", uuid).member("timestamp", item.entry->timestamp).member("userType", "external");
    writer.member("entrypoint", kEntrypoint).member("cwd", facts_.cwd.empty() ? cwd : facts_.cwd);
    writer.member("sessionId", facts_.sessionId.empty() ? sessionId : facts_.sessionId);
    writer.member("version", kVersion).member("gitBranch", "").endObject();
    out += '\n';
  }

  void writeMessage(const Item& item, std::string_view message, std::string_view parent, std::string_view uuid,
                    std::string& out) {
    const bool isAnswer = Members(message).text("role") == "assistant";
    json::Writer writer(out);
    beginLine(writer, parent, isAnswer ? "assistant" : "user").key("message");
    if (isAnswer) {
      writeAnswer(writer, item, message, uuid);
    } else {
      writer.raw(message);
      notePrompt(Members(message).raw("content"));
    }
    endLine(writer, item, uuid, out);
  }

  // Writes an answer in the form of the API. Members of an answer from another provider are filled in when they are
  // known.
  void writeAnswer(json::Writer& writer, const Item& item, std::string_view message, std::string_view uuid) {
    const Members parts(message);
    const auto stored = normalizeEntry(*item.entry);
    std::string id = parts.text("id");
    std::string model = parts.text("model");
    // Claude Code joins all lines with the same id into one answer, wherever they are.
    if (id.empty() || !answers_.insert(id).second) id = "msg_" + std::string(uuid);
    if (model.empty() && stored) model = stored->model.decode();
    if (model.empty()) model = facts_.model.empty() ? "unknown" : facts_.model;
    writer.beginObject().member("id", id).member("type", "message").member("role", "assistant").member("model", model);
    writer.key("content");
    writeBlocks(writer, parts.raw("content"));
    writer.key("stop_reason").raw(parts.has("stop_reason") ? parts.raw("stop_reason") : "null");
    writer.key("stop_sequence").raw(parts.has("stop_sequence") ? parts.raw("stop_sequence") : "null").key("usage");
    const bool isSaid = item.isMoreOfAnswer;
    writeUsage(writer, isSaid ? "" : parts.raw("usage"), !isSaid && stored && stored->usage ? *stored->usage : Usage());
    writer.endObject();
  }

  static void writeBlocks(json::Writer& writer, std::string_view content) {
    if (content.empty() || json::kindOf(content) == json::Kind::Array) {
      writer.raw(content.empty() ? "[]" : content);
      return;
    }
    writer.beginArray().beginObject().member("type", "text").key("text").raw(content).endObject().endArray();
  }

  static void writeUsage(json::Writer& writer, std::string_view own, const Usage& usage) {
    if (!own.empty()) {
      writer.raw(own);
      return;
    }
    writer.beginObject().member("input_tokens", usage.inputTokens);
    writer.member("cache_creation_input_tokens", usage.cacheWriteTokens);
    writer.member("cache_read_input_tokens", usage.cacheReadTokens).member("output_tokens", usage.outputTokens);
    if (usage.cacheWriteHourTokens > 0) {
      writer.key("cache_creation").beginObject();
      writer.member("ephemeral_5m_input_tokens", usage.cacheWriteTokens - usage.cacheWriteHourTokens);
      writer.member("ephemeral_1h_input_tokens", usage.cacheWriteHourTokens).endObject();
    }
    writer.endObject();
  }

  // Writes a boundary that begins a new chain, and the summary as the user's words. When the kept messages come before
  // the summary, the boundary was written before those.
  void writeCompaction(const Item& item, std::string& out) {
    const bool isAfterKept = Members(item.entry->payload).isTrue("summaryAfterKept") && !item.kept.empty();
    writeUserText(item, isAfterKept ? uuidOf(item.parentId) : writeBoundary(item, out), true, out);
  }

  // Returns its uuid.
  std::string writeBoundary(const Item& item, std::string& out) {
    std::string boundary = uuidFor(item.entry->id + "/boundary");
    const Members payload(item.entry->payload);
    json::Writer writer(out);
    writer.beginObject().key("parentUuid").null().member("logicalParentUuid", uuidOf(item.parentId));
    writer.member("isSidechain", false).member("type", "system").member("subtype", "compact_boundary");
    writer.member("content", "Conversation compacted").member("isMeta", false).member("level", "info");
    writer.key("compactMetadata").beginObject().member("trigger", "manual").key("preTokens");
    writer.raw(payload.has("tokensBefore") ? payload.raw("tokensBefore") : "0");
    writePreserved(writer, item, uuidOf(item.entry->id));
    writer.endObject();
    endLine(writer, item, boundary, out);
    return boundary;
  }

  // Names the messages that follow the summary although they were written before it.
  void writePreserved(json::Writer& writer, const Item& item, std::string_view anchor) {
    if (item.kept.empty()) return;
    writer.key("preservedSegment").beginObject().member("headUuid", uuidOf(item.kept.front()));
    writer.member("anchorUuid", anchor).member("tailUuid", uuidOf(item.kept.back())).endObject();
    writer.key("preservedMessages").beginObject().member("anchorUuid", anchor);
    for (const std::string_view name : {"uuids", "allUuids"}) {
      writer.key(name).beginArray();
      for (const std::string& id : item.kept) writer.string(uuidOf(id));
      writer.endArray();
    }
    writer.endObject();
  }

  void writeSummary(const Item& item, std::string& out) { writeUserText(item, uuidOf(item.parentId), false, out); }

  void writeUserText(const Item& item, std::string_view parent, bool isCompaction, std::string& out) {
    json::Writer writer(out);
    beginLine(writer, parent, "user").key("message").beginObject().member("role", "user");
    writer.member("content", Members(item.entry->payload).text("summary")).endObject();
    if (isCompaction) writer.member("isVisibleInTranscriptOnly", true).member("isCompactSummary", true);
    endLine(writer, item, uuidOf(item.entry->id), out);
  }

  // Notes the last text that the user typed; lists show it.
  void notePrompt(std::string_view content) {
    std::string text = textOf(content);
    if (text.empty()) return;
    std::size_t end = std::min(text.size(), kMaxPromptBytes);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
    prompt_ = text.substr(0, end);
  }

  std::unordered_map<std::string, std::string> ownIds_;  // entry id → id in its line
  std::unordered_set<std::string> answers_;              // ids of the answers that were written
  TranscriptFacts facts_;
  std::string prompt_;
};

}  // namespace

std::unique_ptr<Writer> makeWriter() {
  return std::make_unique<ClaudeWriter>();
}

}  // namespace bough::transcript::claude_code
