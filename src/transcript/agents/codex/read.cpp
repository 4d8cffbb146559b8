// Reads rollout files of Codex: lines {"timestamp", "type", "payload"}, in newer files with an "ordinal".
//
// The conversation consists of the response items; everything else is display and bookkeeping, and is only kept. Lines
// have no ids, so an entry is named by its thread and its offset in the file: `<thread>:<offset>`. Lines have no
// parents either: each continues from the line before it, except after a rollback. A forked file contains only what
// came after the fork; its history_base says in which file, and where, the rest is (lineage.h).
#include "transcript/agents/codex/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "base/json/json_write.h"
#include "transcript/agents/codex/displayed_words.h"
#include "transcript/agents/codex/items.h"
#include "transcript/agents/codex/lineage.h"
#include "transcript/model/ids.h"
#include "transcript/model/uuid.h"
#include "transcript/source/held.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::codex {
namespace {

struct Replacement {
  std::string summary;
  std::vector<std::string> before{};
  std::vector<std::string> after{};
};

void split(std::string_view history, Replacement& replacement) {
  json::ArrayReader items(history);
  bool found = false;
  while (const auto item = items.next()) {
    const Members one(*item);
    const std::string role = one.text("role");
    std::string text = itemText(one.raw("content"));
    if (role == "developer" || role == "system" || isInjected(text) || one.text("type").ends_with("compaction"))
      continue;
    // The message may have introductory words before the summary.
    if (!found && !replacement.summary.empty() && text.ends_with(replacement.summary)) {
      found = true;
      replacement.summary = std::move(text);
    } else {
      (found ? replacement.after : replacement.before).emplace_back(*item);
    }
  }
}

// `part`: index among the entries that one line becomes.
std::string itemId(std::string_view thread, std::uint64_t offset, std::uint32_t part) {
  return part == 0 ? fmt::format("{}:{}", thread, offset) : fmt::format("{}:{}.{}", thread, offset, part);
}

// The messages of the branch, with the data that names their entries. Those of files that this file continues come
// first.
class BranchMessages {
 public:
  void inherit(const std::vector<EarlierMessage>& messages) {
    for (const EarlierMessage& message : messages) {
      earlier_.push_back(message.entryId);
      locations_.push_back({.hash = message.hash});
    }
  }
  void add(std::uint64_t offset, std::uint32_t part, std::string_view message) {
    locations_.push_back({.offset = offset, .part = part, .hash = std::hash<std::string_view>{}(message)});
  }
  [[nodiscard]] std::size_t size() const { return locations_.size(); }
  void cut(std::size_t count) {
    locations_.resize(std::min(locations_.size(), count));
    earlier_.resize(std::min(locations_.size(), earlier_.size()));
  }

  // Returns the name of the first of these items if they are the last messages of the branch; otherwise empty.
  [[nodiscard]] std::string firstOfLast(const std::vector<std::string>& items, std::string_view thread) const {
    if (items.empty() || items.size() > locations_.size()) return {};
    const std::size_t first = locations_.size() - items.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (locations_[first + i].hash != std::hash<std::string_view>{}(items[i])) return {};
    }
    if (first < earlier_.size()) return earlier_[first];
    return itemId(thread, locations_[first].offset, locations_[first].part);
  }

  [[nodiscard]] std::vector<EarlierMessage> all(std::string_view thread, const Builder& out) const {
    std::vector<EarlierMessage> messages;
    for (const MessageLocation& location : locations_) {
      const std::size_t place = messages.size();
      const std::string id =
          place < earlier_.size() ? earlier_[place] : out.entryFor(itemId(thread, location.offset, location.part));
      messages.push_back({.entryId = id, .hash = location.hash});
    }
    return messages;
  }

 private:
  struct MessageLocation {
    std::uint64_t offset = 0;
    std::uint32_t part = 0;
    std::size_t hash = 0;
  };
  std::vector<MessageLocation> locations_;
  std::vector<std::string> earlier_;  // entry ids
};

// The user's last messages. Codex keeps about this much of what the user wrote.
class Prompts {
 public:
  void inherit(std::deque<std::string>&& prompts) {
    all_ = std::move(prompts);
    for (const std::string& prompt : all_) sizeBytes_ += prompt.size();
  }
  void add(std::string_view item) {
    constexpr std::size_t kKeptBytes = 80'000;
    all_.emplace_back(item);
    sizeBytes_ += item.size();
    while (sizeBytes_ > kKeptBytes && all_.size() > 1) {
      sizeBytes_ -= all_.front().size();
      all_.pop_front();
    }
  }
  void dropLast() {
    if (all_.empty()) return;
    sizeBytes_ -= all_.back().size();
    all_.pop_back();
  }
  [[nodiscard]] const std::deque<std::string>& all() const { return all_; }

 private:
  std::deque<std::string> all_;
  std::size_t sizeBytes_ = 0;
};

// Returns the id of a rollout from its name.
std::string idOf(const std::string& name) {
  return name.substr(name.find('_') + 1);
}

// Entries of a file that this file continues are named by their entry ids.
void adoptEarlier(const std::string& id, Builder& out) {
  if (!id.empty() && out.entryFor(id).empty()) out.mapId(id, id);
}

// An item with something that Codex itself tells the model. A person may have said the same words: then an event before
// or after the item shows them. Codex does not count the item as a turn even then.
struct HeldContext {
  HeldRecord record;
  std::string time;
  bool isSaid = false;

  [[nodiscard]] std::string_view item() const { return Members(record.record().text).raw("payload"); }

  [[nodiscard]] bool isSaidBy(const Record& next, const Members& line, const Builder::Wanted& wanted) const {
    if (line.text("type") != "event_msg" || !line.isObject("payload")) return false;
    if (wanted.keepsApart(record.offset(), next.offset)) return false;
    return DisplayedWords::isSaid(Members(line.raw("payload")), itemText(Members(item()).raw("content")));
  }
};

struct ThreadFacts {
  std::string root;      // where the first lines were originally written
  std::string provider;  // of the models, in Codex's terms
  bool sawItem = false;  // later lines were originally written in this thread
};

class CodexReader : public HistoryReader {
 public:
  explicit CodexReader(std::vector<std::string> followed) : forks_{.followed = std::move(followed)} {}

  [[nodiscard]] Lineage collectLineage(const Builder& out) const override {
    Lineage lineage{.problem = forks_.problem,
                    .messages = branchMessages_.all(rollout_, out),
                    .prompts = prompts_.all(),
                    .costs = costs_};
    for (const EarlierTurn& turn : turns_) {
      const std::string before = out.entryFor(turn.before);
      lineage.turns.push_back({.before = before.empty() ? turn.before : before, .messageCount = turn.messageCount});
    }
    lineage.rootThread = thread_.root;
    return lineage;
  }

  void flushHeld(Builder& out) override {
    if (!context_) return;
    const HeldContext context = std::move(*context_);
    context_.reset();
    const Record record = context.record.record();
    time_ = context.time;
    part_ = 0;
    context.isSaid ? emitMessage(record, context.item(), {}, out) : keep(record, "context", out);
  }

  void record(const Record& record, Builder& out) override {
    const Members line(record.text);
    if (context_) context_->isSaid = context_->isSaidBy(record, line, out.wanted());
    flushHeld(out);
    // An earlier read ended here.
    const auto& wanted = out.wanted();
    const bool isNewPart = displayed_.lastOffset < wanted.fromOffset && record.offset >= wanted.fromOffset;
    if (isNewPart && displayed_.lacksItems() && wanted.wasGiven && wanted.wasGiven(displayed_.lastOffset + 1)) {
      emitDisplayed(displayed_.lastOffset + 1, out);
    }
    displayed_.lastOffset = record.offset;
    time_ = line.text("timestamp");
    const std::string type = line.text("type");
    const std::string_view payload = line.raw("payload");
    part_ = 0;
    if (rollout_.empty() && type != "session_meta") nameByFile(out.facts);
    if (!line.isObject("payload")) return keep(record, type, out);
    if (type == "session_meta") {
      readMeta(record, payload, out);
      keep(record, type, out);
    } else if (type == "response_item") {
      readItem(record, payload, out);
    } else if (type == "turn_context") {
      readTurn(record, payload, out);
    } else if (type == "compacted") {
      readCompaction(record, payload, out);
    } else {
      readOther(record, type, payload, out);
    }
  }

  void end(Builder& out) override {
    flushHeld(out);
    if (displayed_.lacksItems()) emitDisplayed(displayed_.lastOffset + 1, out);
    if (rolledBack_) out.setHead(*rolledBack_);
  }

 private:
  void keep(const Record& record, std::string_view what, Builder& out, std::string_view info = {}) {
    Place place;
    place.timestamp = time_;
    out.keep(record, place, what.empty() ? "unknown" : what, info);
  }

  // A file whose beginning is lost is still named after its thread.
  void nameByFile(TranscriptFacts& facts) {
    const std::string name = rolloutName(facts.sessionId);
    rollout_ = name.empty() ? "codex" : idOf(name);
    if (!name.empty()) facts.sessionId = name;
  }

  // The first one is the file's own. A fork by an older version copies those of its parents after it.
  void readMeta(const Record& record, std::string_view payload, Builder& out) {
    const Members meta(payload);
    if (!thread_.sawItem) thread_.root = meta.text("id");
    if (!rollout_.empty()) return;  // set by an earlier line, which need not be a session_meta
    TranscriptFacts& facts = out.facts;
    const std::string name = rolloutName(facts.sessionId);
    facts.sessionId = meta.text("id");
    // When turns of a thread are reverted, a new file of the same thread, with its own id, replaces its file.
    const bool replacesOther = !facts.sessionId.empty() && name.starts_with(facts.sessionId + '_');
    if (replacesOther) facts.sessionId = name;
    rollout_ = idOf(facts.sessionId);
    facts.cwd = meta.text("cwd");
    facts.created = meta.text("timestamp");
    facts.version = meta.text("cli_version");
    thread_.provider = meta.text("model_provider");
    facts.parentSession = meta.text("forked_from_id");
    if (!meta.isObject("history_base")) return;
    const std::string_view base = meta.raw("history_base");
    const auto end = json::findUnsigned(base, "end_byte_offset");
    const std::string parent = json::findString(base, "thread_id").value_or("");
    if (!end || parent.empty()) return;
    if (parent == rollout_ && name == rollout_) {
      out.damage(record, "the file names itself as the one that it was forked from");
      return;
    }
    // Such a replacing file under a different name: its lines still need unique ids.
    if (parent == rollout_) rollout_ = uuidFor(record.text);
    if (parent == facts.sessionId) facts.sessionId += '_' + rollout_;
    inherit(record, lineageOf(out.path, parent, *end, forks_.followed), out);
    if (facts.parentSession.empty() || facts.parentEntryId.empty()) facts.parentSession = parent;
  }

  void inherit(const Record& record, Lineage&& lineage, Builder& out) {
    forks_.problem = lineage.problem;
    if (!lineage.problem.empty()) out.damage(record, lineage.problem);
    if (lineage.sessionId.empty()) return;
    out.facts.parentSession = lineage.sessionId;
    out.facts.parentEntryId = lineage.lastEntryId;
    lastId_ = lineage.lastEntryId;
    if (!lastId_.empty()) out.mapId(lastId_, lastId_);
    branchMessages_.inherit(lineage.messages);
    turns_ = std::move(lineage.turns);
    prompts_.inherit(std::move(lineage.prompts));
    costs_ = std::move(lineage.costs);
    thread_.root = std::move(lineage.rootThread);
  }

  // Returns the position of the next entry. The ids that it points to are valid until the next call.
  Place nextPlace(const Record& record) {
    id_ = itemId(rollout_, record.offset, part_++);
    Place place;
    place.id = id_;
    place.timestamp = time_;
    if (rolledBack_) place.parent = *rolledBack_;
    return place;
  }

  void setLastId() {
    lastId_ = id_;
    rolledBack_.reset();
  }

  // Ends a turn or the file: words that are only in events become entries outside the conversation that the model gets.
  // Their lines were already kept; `offset` is that of the record that ends the turn, or after the last record.
  void emitDisplayed(std::uint64_t offset, Builder& out) {
    Record none;
    none.kind = RecordKind::Json;
    none.offset = offset;
    for (const DisplayedText& words : displayed_.endTurn()) {
      id_ = itemId(rollout_, words.offset, 1);
      Place place;
      place.id = id_;
      place.timestamp = words.timestamp;
      if (rolledBack_) place.parent = *rolledBack_;
      json::Writer writer;
      writer.beginObject().member("customType", "codex.shown").key("shown").beginObject();
      writer.member("role", words.role).member("text", words.text).endObject().endObject();
      out.entry(none, place, entry_type::kCustom, writer.text());
      setLastId();
    }
  }

  void emitMessage(const Record& record, std::string_view message, std::vector<Hole> holes, Builder& out) {
    branchMessages_.add(record.offset, part_, message);
    out.message(record, nextPlace(record), Dialect::OpenaiResponses, message, std::move(holes));
    setLastId();
  }

  void readItem(const Record& record, std::string_view item, Builder& out) {
    thread_.sawItem = true;
    const Members parts(item);
    const std::string type = parts.text("type");
    if (type == "message") {
      const std::string role = parts.text("role");
      const std::string text = itemText(parts.raw("content"));
      const bool isContext = role == "user" && isInjected(text);
      const bool isSaid = isContext && displayed_.awaitsItem(text);
      displayed_.addItem(text);
      if (role == "developer" || role == "system") return keep(record, role, out);
      if (isContext && !isSaid) {
        context_.emplace(HeldContext{.record = HeldRecord(record), .time = time_});
        return;
      }
      if (isSaid) return emitMessage(record, item, {}, out);
      if (role == "user") {
        emitDisplayed(record.offset, out);
        displayed_.beginTurn();
        displayed_.addItem(text);
        turns_.push_back({.before = rolledBack_ ? *rolledBack_ : lastId_, .messageCount = branchMessages_.size()});
        prompts_.add(item);
      }
    }
    if (type == "reasoning") displayed_.addItem(itemText(parts.raw("summary")) + itemText(parts.raw("content")));
    if (type == "local_shell_call") return readShellCall(record, parts, out);
    if (type == "ghost_snapshot" || type == "compaction" || type == "context_compaction")
      return keep(record, type, out);
    emitMessage(record, item, {}, out);
  }

  // A call of the built-in shell has its arguments as an object; for other agents it is an ordinary call.
  void readShellCall(const Record& record, const Members& parts, Builder& out) {
    const std::string_view action = parts.isObject("action") ? parts.raw("action") : "{}";
    std::string call = parts.text("call_id");
    if (call.empty()) call = parts.text("id");
    json::Writer writer;
    writer.beginObject().member("type", "function_call").member("name", "local_shell").member("arguments", action);
    emitMessage(record, writer.member("call_id", call).endObject().text(), {{"call_id", parts.raw("call_id")}}, out);
  }

  void readTurn(const Record& record, std::string_view payload, Builder& out) {
    const Members turn(payload);
    const std::string model = turn.text("model");
    if (out.facts.cwd.empty()) out.facts.cwd = turn.text("cwd");
    if (model.empty() || model == out.facts.model) return keep(record, "turn_context", out);
    out.facts.model = model;
    json::Writer writer;
    writer.beginObject().key("model").raw(turn.raw("model"));
    // A model of OpenAI and one on a private server may have the same name.
    if (!thread_.provider.empty()) writer.member("provider", thread_.provider);
    const std::string change = writer.endObject().take();
    out.entry(record, nextPlace(record), entry_type::kModelChange, change, {{"model", turn.raw("model")}});
    setLastId();
  }

  // After a compaction, the model sees the replacement instead of everything before it. The replacement item with the
  // summary becomes the summary. The other items become entries of their own, unless they repeat the last messages:
  // then those are kept. Older versions wrote no replacement: it consists of the last messages of the user, and the
  // summary.
  void readCompaction(const Record& record, std::string_view payload, Builder& out) {
    emitDisplayed(record.offset, out);
    const Members parts(payload);
    Replacement replacement{.summary = parts.text("message")};
    if (parts.isArray("replacement_history")) {
      split(parts.raw("replacement_history"), replacement);
    } else {
      replacement.before.assign(prompts_.all().begin(), prompts_.all().end());
    }
    if (replacement.summary.empty()) replacement.summary = "[The summary of the conversation so far is encrypted.]";
    auto& [summary, before, after] = replacement;
    std::string firstKept = after.empty() ? branchMessages_.firstOfLast(before, rollout_) : std::string();
    if (!firstKept.empty()) {
      part_ = static_cast<std::uint32_t>(before.size());  // the summary's id does not depend on what is kept
    } else if (!before.empty()) {
      firstKept = itemId(rollout_, record.offset, 0);
      for (const std::string& item : before) emitMessage(record, item, {}, out);
    }
    const bool isAfterKept = !before.empty();
    if (const std::string kept = branchMessages_.firstOfLast(after, rollout_); !kept.empty() && before.empty()) {
      firstKept = kept;
      after.clear();
    }
    emitSummary(record, summary, firstKept, isAfterKept, out);
    for (const std::string& item : after) emitMessage(record, item, {}, out);
  }

  void emitSummary(const Record& record, std::string_view summary, const std::string& firstKept, bool isAfterKept,
                   Builder& out) {
    const Place place = nextPlace(record);
    json::Writer writer;
    // A summary that keeps nothing names itself.
    writer.beginObject().member("summary", summary);
    adoptEarlier(firstKept, out);
    writer.member("firstKeptEntryId", firstKept.empty() ? entryIdOf(place.id) : out.entryFor(firstKept));
    if (isAfterKept) writer.member("summaryAfterKept", true);
    out.entry(record, place, entry_type::kCompactionSummary, writer.endObject().text());
    setLastId();
  }

  void readOther(const Record& record, std::string_view type, std::string_view payload, Builder& out) {
    const Members event(payload);
    const std::string name = event.text("type");
    if (type == "event_msg") displayed_.addEvent(record.offset, time_, event);
    if (type == "event_msg" && (name == "turn_aborted" || name == "task_complete")) emitDisplayed(record.offset, out);
    if (type == "event_msg" && name == "thread_rolled_back") {
      emitDisplayed(record.offset, out);
      rollBack(json::findUnsigned(payload, "num_turns").value_or(1), out);
    }
    std::string info;
    if (type == "event_msg" && name == "thread_name_updated" && event.isString("thread_name")) {
      out.facts.title = event.text("thread_name");
      info = "\"title\":" + json::quoted(out.facts.title);
    }
    if (type == "token_usage_record") info = costs_.costOfRecord(event, out.facts.model);
    if (type == "event_msg" && name == "token_count")
      info = costs_.increaseOfTotal(event, thread_.root, out.facts.model);
    keep(record, name.empty() ? std::string(type) : fmt::format("{}/{}", type, name), out, info);
  }

  // Later entries do not continue the last turns, including the compactions among them; those turns stay as a branch.
  void rollBack(std::uint64_t count, Builder& out) {
    for (; count > 0 && !turns_.empty(); --count) {
      rolledBack_ = turns_.back().before;
      branchMessages_.cut(turns_.back().messageCount);
      turns_.pop_back();
      prompts_.dropLast();
    }
    if (rolledBack_) adoptEarlier(*rolledBack_, out);
  }

  // The files before and after this one.
  struct Forks {
    std::vector<std::string> followed;  // the files that continue this one
    std::string_view problem = {};      // a problem with the files that this one continues
  };
  Forks forks_;
  std::string rollout_;  // the id, which is that of the thread unless the rollout replaced an earlier one
  ThreadFacts thread_;
  Costs costs_;
  DisplayedWords displayed_;
  std::optional<HeldContext> context_;
  std::string time_;
  std::string id_;
  std::string lastId_;
  std::uint32_t part_ = 0;
  std::vector<EarlierTurn> turns_;  // what precedes them has the ids that `out` gave
  BranchMessages branchMessages_;
  Prompts prompts_;
  std::optional<std::string> rolledBack_;  // what the next entry continues, when that is not the entry before it
};

}  // namespace

std::unique_ptr<HistoryReader> makeHistoryReader(std::vector<std::string> followed) {
  return std::make_unique<CodexReader>(std::move(followed));
}

std::unique_ptr<Reader> makeReader() {
  return std::make_unique<CodexReader>(std::vector<std::string>());
}

}  // namespace bough::transcript::codex
