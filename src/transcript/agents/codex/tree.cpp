#include "transcript/agents/codex/tree.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "base/json/json_write.h"
#include "base/try.h"
#include "transcript/agents/codex/items.h"
#include "transcript/agents/codex/read.h"
#include "transcript/model/carrier_writer.h"
#include "transcript/model/uuid.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::codex {
namespace {

// The end of the lines of an entry that another file continues.
struct End {
  std::uint64_t ordinal = 0;  // of the next line
  std::uint64_t offset = 0;
};

// Returns the facts of the branches' files. Each file after the first is named by its last entry.
std::vector<TranscriptFacts> factsOf(TranscriptFacts facts, const TreeItems& items) {
  if (!isUuid(facts.sessionId)) facts.sessionId = uuidFor(facts.sessionId);
  std::vector<TranscriptFacts> files;
  std::vector<std::uint32_t> fileOf(items.entries.size());  // by place
  for (const OwnPart& branch : items.branches) {
    TranscriptFacts& file = files.emplace_back(facts);
    if (files.size() > 1) {
      file.sessionId = uuidFor(fmt::format("{}/{}", facts.sessionId, items.entries.id(branch.places.back())));
    }
    if (branch.base != EntryList::kNone) {
      file.parentSession = files[fileOf[branch.base]].sessionId;
      file.parentEntryId = items.entries.id(branch.base);
    }
    for (const std::size_t place : branch.places) fileOf[place] = static_cast<std::uint32_t>(files.size() - 1);
  }
  return files;
}

// In this mode every line has an ordinal, which increases through all files that continue one another. Codex shows a
// conversation from completed items, turn by turn.
class TreeWriting {
 public:
  TreeWriting(const TranscriptFacts& facts, const TreeItems& items, TreeCarrierWriter& carrierWriter,
              const TranscriptFiles& files)
      : items_(items), carrierWriter_(carrierWriter), files_(files), facts_(factsOf(facts, items)) {
    for (const OwnPart& branch : items.branches) {
      if (branch.base != EntryList::kNone) ends_.try_emplace(branch.base);
    }
  }

  Result<void> run() {
    BOUGH_TRY(files_.begin(facts_));
    for (file_ = 0; file_ < items_.branches.size(); ++file_) {
      const OwnPart& branch = items_.branches[file_];
      begin(branch);
      for (const std::size_t place : branch.places) {
        BOUGH_TRY(passOn());
        items_.with(place, [&](const Item& item) { write(item, place); });
        BOUGH_TRY(items_.entries.check());
      }
      flush(/*last=*/turn_.empty());
      closeTurn(/*last=*/true);
      BOUGH_TRY(passOn());
    }
    return {};
  }

 private:
  void begin(const OwnPart& branch) {
    const auto base = branch.base == EntryList::kNone ? std::nullopt : std::optional(ends_.at(branch.base));
    const TranscriptFacts& facts = facts_[file_];
    ordinal_ = base ? base->ordinal : 0;
    turn_.clear();
    last_ = EntryList::kNone;
    time_ = items_.entries.at(branch.places.front())->timestamp;
    givenBytes_ = 0;
    json::Writer writer;
    writer.beginObject().member("session_id", facts.sessionId).member("id", facts.sessionId);
    if (base) writer.member("forked_from_id", facts.parentSession);
    writer.member("timestamp", time_).member("cwd", facts.cwd).member("originator", "codex_cli_rs");
    writer.member("cli_version", kVersion).member("source", "cli").member("history_mode", "paginated");
    if (base) {
      writer.key("history_base").beginObject().member("thread_id", facts.parentSession);
      writer.member("end_ordinal_exclusive", base->ordinal).member("end_byte_offset", base->offset).endObject();
    }
    writer.endObject();
    carrierWriter_.beginFile();
    line("session_meta", writer.text());
    // Programs find a thread by this line, which they read first and as a whole.
    out_ += std::exchange(text_, {});
  }

  // Passes on what is written.
  Result<void> passOn() {
    if (out_.empty()) return {};
    BOUGH_TRY(files_.add(file_, out_));
    givenBytes_ += out_.size();
    out_.clear();
    return {};
  }

  void write(const Item& item, std::size_t place) {
    flush();
    time_ = item.entry->timestamp;
    const std::string& type = item.entry->type;
    std::vector<std::string> items;
    if (type == entry_type::kBranchSummary) items.push_back(userItem(Members(item.entry->payload).text("summary")));
    for (const std::string& message : item.messages) items.push_back(responseItem(message));
    // The first line of an entry must be the entry's own, so lines that begin or end turns are written before it.
    if (type == entry_type::kCompactionSummary) {
      closeTurn();
      line("compacted", compactedPayload(item, written_));
    } else if (!items.empty()) {
      if (isUserItem(items.front())) closeTurn();
      openTurn();
      flush();
    }
    for (const std::string& each : items) writeItem(item, each);
    last_ = place;
    carrierWriter_.setLines(std::exchange(text_, {}), item.entry);
    isHeld_ = true;
  }

  // Writes what is held to the file.
  void flush(bool last = false) {
    if (!text_.empty()) carrierWriter_.setLines(std::exchange(text_, {}), nullptr);
    out_ += carrierWriter_.takeLines(last);
    const auto end = isHeld_ ? ends_.find(last_) : ends_.end();
    if (end != ends_.end()) end->second = {.ordinal = ordinal_, .offset = givenBytes_ + out_.size()};
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
    turn_ = fmt::format("{}-turn-{}", facts_[file_].sessionId, ordinal_);
    json::Writer writer;
    writer.beginObject().member("type", "task_started").member("turn_id", turn_).key("model_context_window").null();
    line("event_msg", writer.endObject().text());
  }

  // The end of a turn belongs to its last entry.
  void closeTurn(bool last = false) {
    if (turn_.empty()) return;
    json::Writer writer;
    writer.beginObject().member("type", "task_complete").member("turn_id", turn_);
    line("event_msg", writer.member("last_agent_message", answer_).endObject().text());
    turn_.clear();
    answer_.clear();
    isHeld_ = true;
    flush(last);
  }

  void completed(bool isUser, std::string_view text) {
    json::Writer writer;
    writer.beginObject().member("type", "item_completed").member("thread_id", facts_[file_].sessionId);
    writer.member("turn_id", turn_).key("item").beginObject().member("type", isUser ? "UserMessage" : "AgentMessage");
    writer.member("id", fmt::format("item-{}", ordinal_)).key("content").beginArray().beginObject();
    writer.member("type", isUser ? "text" : "Text").member("text", text);
    if (isUser) writer.key("text_elements").beginArray().endArray();
    line("event_msg", writer.endObject().endArray().endObject().member("completed_at_ms", 1).endObject().text());
  }

  void line(std::string_view type, std::string_view payload) {
    json::Writer writer(text_);
    writer.beginObject().member("timestamp", time_).member("ordinal", ordinal_).member("type", type);
    writer.key("payload").raw(payload).endObject();
    text_ += '\n';
    ++ordinal_;
  }

  const TreeItems& items_;
  TreeCarrierWriter& carrierWriter_;
  const TranscriptFiles& files_;
  std::vector<TranscriptFacts> facts_;  // of the files
  std::size_t file_ = 0;
  std::string out_;                            // text of the current file that was not passed on yet
  std::uint64_t givenBytes_ = 0;               // size of the part of the current file that was passed on
  std::string text_;                           // lines that are not held yet
  bool isHeld_ = false;                        // what is held belongs to last_
  std::unordered_map<std::size_t, End> ends_;  // by place, for entries that other files continue
  WrittenItems written_;
  std::uint64_t ordinal_ = 0;
  std::string time_;
  std::string turn_;                     // empty between turns
  std::string answer_;                   // of the current turn
  std::size_t last_ = EntryList::kNone;  // the entry that was written last
};

}  // namespace

Result<void> writeTree(const TranscriptFacts& facts, const TreeItems& items, TreeCarrierWriter& carrierWriter,
                       const TranscriptFiles& files) {
  return TreeWriting(facts, items, carrierWriter, files).run();
}

}  // namespace bough::transcript::codex
