#include "transcript/agents/codex/tree.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "base/json/json_write.h"
#include "transcript/agents/codex/items.h"
#include "transcript/agents/codex/read.h"
#include "transcript/model/carrying.h"
#include "transcript/model/uuid.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::codex {
namespace {

// Where the lines of an entry end.
struct End {
  std::size_t file = 0;
  std::uint64_t ordinal = 0;  // the next one
  std::uint64_t offset = 0;
};

// In this mode every line has an ordinal that goes on through the files that continue one another, and Codex shows a
// conversation from completed items, turn by turn.
class TreeWriting {
 public:
  TreeWriting(const TranscriptFacts& facts, TreeCargo& cargo) : facts_(facts), cargo_(cargo) {
    if (!isUuid(facts_.sessionId)) facts_.sessionId = uuidFor(facts_.sessionId);
  }

  void add(const OwnPart& branch) {
    begin(branch);
    for (const Item& item : branch.items) write(item);
    flush(/*last=*/turn_.empty());
    closeTurn(/*last=*/true);
  }

  std::vector<TranscriptFile> take() { return std::move(files_); }

 private:
  void begin(const OwnPart& branch) {
    const auto base = branch.base == nullptr ? std::nullopt : std::optional(ends_.at(branch.base->id));
    TranscriptFile file;
    file.facts = facts_;
    if (!files_.empty()) file.facts.sessionId = uuidFor(facts_.sessionId + '/' + branch.items.back().entry->id);
    if (base) file.facts.parentSession = files_[base->file].facts.sessionId;
    if (base) file.facts.parentEntryId = branch.base->id;
    ordinal_ = base ? base->ordinal : 0;
    turn_.clear();
    last_.clear();
    time_ = branch.items.front().entry->timestamp;
    std::string meta;
    json::Writer writer(meta);
    writer.beginObject().member("session_id", file.facts.sessionId).member("id", file.facts.sessionId);
    if (base) writer.member("forked_from_id", file.facts.parentSession);
    writer.member("timestamp", time_).member("cwd", facts_.cwd).member("originator", "codex_cli_rs");
    writer.member("cli_version", kVersion).member("source", "cli").member("history_mode", "paginated");
    if (base) {
      writer.key("history_base").beginObject().member("thread_id", file.facts.parentSession);
      writer.member("end_ordinal_exclusive", base->ordinal).member("end_byte_offset", base->offset).endObject();
    }
    writer.endObject();
    files_.push_back(std::move(file));
    cargo_.begin();
    line("session_meta", meta);
    // Programs find a thread by this line, which they read first and whole.
    files_.back().bytes += std::exchange(text_, {});
  }

  void write(const Item& item) {
    flush();
    time_ = item.entry->timestamp;
    const std::string& type = item.entry->type;
    std::vector<std::string> items;
    if (type == entry_type::kBranchSummary) items.push_back(userItem(Members(item.entry->payload).text("summary")));
    for (const std::string& message : item.messages) items.push_back(responseItem(message));
    // The first line of an entry is its own, so what begins and ends turns goes before it.
    if (type == entry_type::kCompactionSummary) {
      closeTurn();
      line("compacted", compactedPayload(item, written_));
    } else if (!items.empty()) {
      if (isUserItem(items.front())) closeTurn();
      openTurn();
      flush();
    }
    for (const std::string& each : items) writeItem(item, each);
    last_ = item.entry->id;
    cargo_.hold(std::exchange(text_, {}), item.entry);
    isHeld_ = true;
  }

  // Puts what is held into the file.
  void flush(bool last = false) {
    if (!text_.empty()) cargo_.hold(std::exchange(text_, {}), nullptr);
    std::string& out = files_.back().bytes;
    out += cargo_.take(last);
    if (isHeld_ && !last_.empty()) ends_[last_] = {files_.size() - 1, ordinal_, out.size()};
    isHeld_ = false;
  }

  static bool isUserItem(const std::string& item) {
    const Members parts(item);
    return parts.text("type") == "message" && parts.text("role") == "user";
  }

  void writeItem(const Item& item, const std::string& responseItem) {
    const Members parts(responseItem);
    const bool isUser = isUserItem(responseItem);
    const bool isAnswer = parts.text("type") == "message" && parts.text("role") == "assistant";
    line("response_item", responseItem);
    if (item.isKept) written_[item.entry->id].push_back(responseItem);
    if (!isUser && !isAnswer) return;
    const std::string text = itemText(parts.raw("content"));
    if (isAnswer) answer_ = text;
    completed(isUser, text);
  }

  void openTurn() {
    if (!turn_.empty()) return;
    turn_ = fmt::format("{}-turn-{}", files_.back().facts.sessionId, ordinal_);
    std::string event;
    json::Writer(event)
        .beginObject()
        .member("type", "task_started")
        .member("turn_id", turn_)
        .key("model_context_window")
        .null()
        .endObject();
    line("event_msg", event);
  }

  // The end of a turn belongs to its last entry.
  void closeTurn(bool last = false) {
    if (turn_.empty()) return;
    std::string event;
    json::Writer writer(event);
    writer.beginObject().member("type", "task_complete").member("turn_id", turn_);
    writer.member("last_agent_message", answer_).endObject();
    line("event_msg", event);
    turn_.clear();
    answer_.clear();
    isHeld_ = true;
    flush(last);
  }

  void completed(bool isUser, std::string_view text) {
    std::string event;
    json::Writer writer(event);
    writer.beginObject().member("type", "item_completed").member("thread_id", files_.back().facts.sessionId);
    writer.member("turn_id", turn_).key("item").beginObject().member("type", isUser ? "UserMessage" : "AgentMessage");
    writer.member("id", fmt::format("item-{}", ordinal_)).key("content").beginArray().beginObject();
    writer.member("type", isUser ? "text" : "Text").member("text", text);
    if (isUser) writer.key("text_elements").beginArray().endArray();
    writer.endObject().endArray().endObject().member("completed_at_ms", std::uint64_t{1}).endObject();
    line("event_msg", event);
  }

  void line(std::string_view type, std::string_view payload) {
    json::Writer writer(text_);
    writer.beginObject().member("timestamp", time_).member("ordinal", ordinal_).member("type", type);
    writer.key("payload").raw(payload).endObject();
    text_ += '\n';
    ++ordinal_;
  }

  TranscriptFacts facts_;
  TreeCargo& cargo_;
  std::string text_;     // lines that are not held yet
  bool isHeld_ = false;  // what is held belongs to last_
  std::vector<TranscriptFile> files_;
  std::unordered_map<std::string, End> ends_;  // by entry
  WrittenItems written_;
  std::uint64_t ordinal_ = 0;
  std::string time_;
  std::string turn_;    // empty between turns
  std::string answer_;  // of the turn
  std::string last_;    // the entry that was written last
};

}  // namespace

std::vector<TranscriptFile> writeTree(const TranscriptFacts& facts, const std::vector<OwnPart>& branches,
                                      TreeCargo& cargo) {
  TreeWriting writing(facts, cargo);
  for (const OwnPart& branch : branches) writing.add(branch);
  return writing.take();
}

}  // namespace bough::transcript::codex
