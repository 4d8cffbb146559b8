// Reads session files of Claude Code and of the Claude Agent SDK.
//
// Lines with a `uuid` form a tree by `parentUuid`. Messages become entries; all other lines (attachments, progress,
// titles, bookkeeping) are only kept. The lines of one answer are held back until a different line comes, and become
// one message (see answers.h); one joined record keeps all their bytes.
#include "transcript/agents/claude_code/read.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bytes/flat_map.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "transcript/agents/claude_code/answers.h"
#include "transcript/agents/claude_code/held_answer.h"
#include "transcript/agents/claude_code/line.h"
#include "transcript/model/ids.h"
#include "transcript/model/uuid.h"

namespace bough::transcript::claude_code {
namespace {

// Returns the first message that a compaction left in place; empty when there is none.
std::string firstPreserved(std::string_view metadata, const Builder& out) {
  const auto segment = json::findMember(metadata, "preservedSegment");
  const auto messages = json::findMember(metadata, "preservedMessages");
  const auto uuids = messages ? json::findMember(*messages, "uuids") : std::nullopt;
  if (uuids && isKind(*uuids, json::Kind::Array)) {
    json::ArrayReader list(*uuids);
    while (const auto uuid = list.next()) {
      const std::string id = decoded(*uuid);
      // A line that was only kept refers to its parent, which is not preserved.
      if (out.isEntry(id)) return out.entryFor(id);
    }
  }
  const std::string head = segment ? json::findString(*segment, "headUuid").value_or("") : "";
  return out.isEntry(head) ? out.entryFor(head) : std::string();
}

// Returns the index after the last line of the answer, and after the last line of every other answer that has a line
// between them.
std::size_t endOfAnswer(const std::deque<HeldLine>& held) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < held.size(); ++i) end = held[i].isBlock ? i + 1 : end;
  if (end < 2) return end;
  std::unordered_map<std::string, std::size_t> ends;  // by key
  const auto keyOf = [&](std::size_t i) {
    const bool isOther = held[i].line && !held[i].isBlock && isAnswerLine(*held[i].line);
    return isOther ? answerKey(*held[i].line) : std::string();
  };
  for (std::size_t i = 1; i < held.size(); ++i) ends[keyOf(i)] = i + 1;
  ends.erase("");
  for (std::size_t i = 1; i < end; ++i) {
    if (const auto found = ends.find(keyOf(i)); found != ends.end()) end = std::max(end, found->second);
  }
  return end;
}

// Recognizes repeated lines of a file. Claude Code identifies a line by its uuid, so a line that occurs twice counts
// once.
class LineMemory {
 public:
  // Returns false for a repeated line.
  bool isNew(const Record& record, const Line& line) {
    return line.uuid.empty() || hashes_.insert(hashOf(record.text));
  }

 private:
  NumberSet hashes_;
};

// The state between the boundary of a compaction and its summary.
struct Compaction {
  bool isOpen = false;
  std::string firstKept;
  bool keptFirst = false;  // that message is between the boundary and the summary
};

// Where Claude Code itself noted that the session continues, or the last line that continues from there.
struct Leaf {
  std::string line;
  std::string entry;  // the entry that bough noted with it
  NumberSet after;    // hashes of the entries that continue from it
};

class ClaudeReader : public Reader {
 public:
  void record(const Record& record, Builder& out) override {
    releaseOld(record, out);
    Line line = parseLine(record.text);
    lines_.isNew(record, line) ? process(record, line, out) : processBytes(record, out);
  }

  void flushHeld(Builder& out) override { releaseAll(out); }

  void notJson(const Record& record, Builder& out) override {
    releaseOld(record, out);
    processBytes(record, out);
  }

  void end(Builder& out) override {
    releaseAll(out);
    if (!leaf_.line.empty()) {
      out.setHead(leaf_.line, leaf_.entry);
    } else if (!lastMain_.empty()) {
      out.setHead(lastMain_);
    }
  }

 private:
  void process(const Record& record, Line& line, Builder& out) {
    while (!held_.empty()) {
      if (held_.add(record, line)) return;
      release(out);
    }
    if (!held_.begin(record, line)) emit(record, line, out);
  }

  // Takes a record that is not JSON or repeats an earlier line.
  void processBytes(Record record, Builder& out) {
    if (record.kind == RecordKind::Json && record.reason.empty()) record.reason = "a line that was written before";
    if (held_.add(record)) return;
    releaseAll(out);
    record.kind == RecordKind::Json ? out.keep(record, {}, kRepeated) : out.keepBytes(record);
  }

  // Lines that were passed on in an earlier read are not joined with later lines, nor with lines that were passed on
  // separately.
  void releaseOld(const Record& record, Builder& out) {
    while (!held_.empty() && out.wanted().keepsApart(held_.offset(), record.offset)) release(out);
  }

  void releaseAll(Builder& out) {
    while (!held_.empty()) release(out);
  }

  // Passes on the answer that is held. Lines after it may be held again, because the lines of other chains may contain
  // answers, too.
  void release(Builder& out) {
    std::deque<HeldLine> held = held_.takeLines();
    const std::size_t blocksEnd = endOfAnswer(held);
    if (blocksEnd > 1) emitAnswer(held, blocksEnd, out);
    if (blocksEnd == 1) emit(held.front().record.record(), *held.front().line, out);
    for (std::size_t i = blocksEnd; i < held.size(); ++i) {
      const Record record = held[i].record.record();
      held[i].line ? process(record, *held[i].line, out) : processBytes(record, out);
    }
  }

  // Passes on the lines of one answer, and what is between them, as one record.
  void emitAnswer(const std::deque<HeldLine>& held, std::size_t end, Builder& out) {
    JoinedRecord joined;
    for (std::size_t i = 0; i < end; ++i) joined.add(held[i].record);
    joined.eachDamaged([&](const Record& part) { out.damage(part, part.reason, part.kind == RecordKind::Json); });
    const Record whole = joined.record();
    std::vector<Line> blocks;
    std::vector<Line> others;
    for (std::size_t i = 0; i < end; ++i) {
      if (!held[i].line) continue;
      Line& line = (held[i].isBlock ? blocks : others).emplace_back(*held[i].line);
      rebaseSlices(line, held[i].record.record().text, joined.text(i));
    }
    emitMerged(whole, blocks, out);
    emitOthers(whole, others, out);
  }

  // Passes on what was between the lines of an answer; answers of other chains among it are joined as well.
  void emitOthers(const Record& whole, const std::vector<Line>& others, Builder& out) {
    std::unordered_set<std::string> merged;  // keys
    for (auto line = others.begin(); line != others.end(); ++line) {
      const std::string key = isAnswerLine(*line) ? answerKey(*line) : std::string();
      if (merged.contains(key)) continue;
      std::vector<Line> blocks;
      std::copy_if(line, others.end(), std::back_inserter(blocks),
                   [&](const Line& other) { return !key.empty() && isAnswerLine(other) && answerKey(other) == key; });
      if (blocks.size() > 1) {
        emitMerged(whole, blocks, out);
        merged.insert(key);
      } else {
        emit(whole, *line, out);
      }
    }
  }

  void emitMerged(const Record& whole, const std::vector<Line>& blocks, Builder& out) {
    std::string content = "[";
    std::vector<Hole> holes;
    std::string_view usage;
    std::uint64_t mostTokens = 0;
    for (const Line& block : blocks) {
      const MessageParts& parts = partsOf(block);
      json::ArrayReader elements(parts.content);
      while (const auto element = elements.next()) {
        if (!holes.empty()) content += ',';
        content += *element;
        holes.push_back({"content/" + std::to_string(holes.size()), *element});
      }
      // Every line repeats the usage of the whole answer as far as it was known then; the greatest is the final one.
      const std::uint64_t tokens = json::findUnsigned(parts.usage, "output_tokens").value_or(0);
      if (!parts.usage.empty() && tokens >= mostTokens) {
        usage = parts.usage;
        mostTokens = tokens;
      }
    }
    content += ']';
    json::Writer writer;
    writer.beginObject();
    // Damage may have removed the role from some of the lines.
    const auto says = std::ranges::find_if(blocks.rbegin(), blocks.rend(), [](const Line& block) {
      return json::findMember(block.message, "role").has_value();
    });
    json::ObjectReader members(says == blocks.rend() ? blocks.back().message : says->message);
    while (const auto member = members.next()) {
      const auto name = json::decodeString('"' + std::string(member->key) + '"').value_or("");
      const bool isUsage = member->keyIs("usage") && !usage.empty();
      writer.key(name).raw(member->keyIs("content") ? content : isUsage ? usage : member->value);
    }
    writer.endObject();
    // The last line that has an id.
    const auto named =
        std::ranges::find_if(blocks.rbegin(), blocks.rend(), [](const Line& block) { return !block.uuid.empty(); });
    Line line = named == blocks.rend() ? blocks.back() : *named;
    line.parentUuid = blocks.front().parentUuid;
    line.timestamp = blocks.front().timestamp;
    line.message = writer.text();
    line.parts.reset();
    noteFacts(line, out.facts);
    emitMessage(whole, line, std::move(holes), out);
    const std::string key = answerKey(line);
    for (const Line& block : blocks) {
      if (block.uuid.empty()) continue;
      if (block.uuid != line.uuid) out.mapId(block.uuid, out.entryFor(line.uuid));
      answers_.addBlock(key, block.uuid);
    }
  }

  void emit(const Record& record, const Line& line, Builder& out) {
    noteFacts(line, out.facts);
    const bool isMessage =
        (line.type == "user" || line.type == "assistant") && isKind(line.message, json::Kind::Object);
    if (isMessage && line.isCompactSummary && !line.uuid.empty()) {
      emitSummary(record, line, out);
    } else if (isMessage) {
      emitMessage(record, line, {}, out);
      if (line.type == "assistant" && !line.uuid.empty()) {
        const std::string key = answerKey(line);
        if (!key.empty()) answers_.addBlock(key, line.uuid);
      }
    } else if (line.type == "system" && line.subtype == "local_command" && isKind(line.content, json::Kind::String)) {
      // The output of a command that the user typed; the model gets it as the user's words.
      const std::string message =
          json::Writer().beginObject().member("role", "user").key("content").raw(line.content).endObject().take();
      Line said = line;
      said.message = message;
      said.parts.reset();
      emitMessage(record, said, {{"content", line.content}}, out);
    } else if (line.type == "system" && line.subtype == "compact_boundary") {
      emitBoundary(record, line, out);
    } else {
      emitOther(record, line, out);
    }
  }

  void emitMessage(const Record& record, const Line& line, std::vector<Hole> holes, Builder& out) {
    const MessageParts& parts = partsOf(line);
    if (line.type == "assistant" && !parts.model.empty() && parts.model != "<synthetic>") out.facts.model = parts.model;
    std::optional<std::string> parent = line.parentUuid;
    const bool isResults = line.type == "user" && isAllResults(parts.content);
    if (parent) parent = parentOf(line, isResults);
    const Place place = placeOf(line, parent);
    out.message(record, place, Dialect::Anthropic, line.message, std::move(holes));
    noteEntry(line, place, out);
    if (compaction_.isOpen && compaction_.firstKept.empty() && !line.isSidechain) {
      compaction_.firstKept = out.lastId();
      compaction_.keptFirst = true;
    }
    if (isResults && line.parentUuid) answers_.addResults(parts.content, *line.parentUuid, line.uuid);
  }

  std::string parentOf(const Line& line, bool isResults) const {
    if (isResults) return answers_.parentOfResults(partsOf(line).content, *line.parentUuid);
    if (line.type == "assistant") return answers_.parentOfBlock(answerKey(line), *line.parentUuid);
    return answers_.lastLineOf(*line.parentUuid);
  }

  void emitSummary(const Record& record, const Line& line, Builder& out) {
    const std::string_view content = partsOf(line).content;
    const std::string text = isKind(content, json::Kind::String) ? std::string(content) : json::quoted(textOf(content));
    json::Writer writer;
    writer.beginObject().key("summary").raw(text);
    // A summary that keeps nothing names itself.
    writer.member("firstKeptEntryId", compaction_.firstKept.empty() ? entryIdOf(line.uuid) : compaction_.firstKept);
    if (compaction_.keptFirst) writer.member("summaryAfterKept", true);
    writer.endObject();
    compaction_ = {};
    std::vector<Hole> holes;
    if (isKind(content, json::Kind::String)) holes.push_back({"summary", content});
    const Place place = placeOf(line, line.parentUuid);
    out.entry(record, place, entry_type::kCompactionSummary, writer.text(), std::move(holes));
    noteEntry(line, place, out);
  }

  // Keeps the line at which a compaction cut the chain: later lines continue from what came before it.
  void emitBoundary(const Record& record, const Line& line, Builder& out) {
    compaction_ = {.isOpen = true, .firstKept = firstPreserved(line.compactMetadata, out)};
    std::optional<std::string> parent = line.parentUuid;
    if (!parent || parent->empty()) parent = line.logicalParentUuid;
    if (out.entryFor(*parent).empty()) parent = lastMain_.empty() ? std::nullopt : std::optional(lastMain_);
    out.keep(record, placeOf(line, parent), "system/compact_boundary");
  }

  void emitOther(const Record& record, const Line& line, Builder& out) {
    if (line.type == "last-prompt") {
      noteLeaf(decoded(line.leafUuid), out);
      leaf_.entry = json::findString(record.text, "entryId").value_or("");
    }
    const std::string what = line.type.empty()      ? "unknown"
                             : line.subtype.empty() ? line.type
                                                    : line.type + '/' + line.subtype;
    std::optional<std::string> parent = line.parentUuid;
    if (parent) parent = answers_.lastLineOf(*parent);
    out.keep(record, placeOf(line, parent), what, titleInfo(line, out.facts));
  }

  // A line without a known parent continues the main conversation, unless it belongs to a subagent.
  Place placeOf(const Line& line, std::optional<std::string> parent) {
    parent_ = std::move(parent);
    if (!parent_ && !lastMain_.empty() && !line.isSidechain) parent_ = lastMain_;
    Place place;
    place.id = line.uuid;
    if (parent_) place.parent = *parent_;
    place.timestamp = line.timestamp;
    place.otherwise = line.isSidechain ? lastSide_ : lastMain_;
    return place;
  }

  void noteEntry(const Line& line, const Place& place, const Builder& out) {
    (line.isSidechain ? lastSide_ : lastMain_) = line.uuid;
    if (line.isSidechain) return;
    if (leaf_.after.empty() || line.uuid.empty()) return;
    const std::string parent = place.parent ? out.entryFor(*place.parent) : std::string();
    if (parent.empty() || !leaf_.after.contains(hashOf(parent))) return;
    leaf_.after.insert(hashOf(out.entryFor(line.uuid)));
    leaf_.line = line.uuid;
    leaf_.entry.clear();
  }

  // Notes the leaf where Claude Code says that the session continues. Lines that continue from it move it.
  void noteLeaf(const std::string& leaf, const Builder& out) {
    const std::string last = answers_.lastLineOf(leaf);
    const std::string entry = out.entryFor(last);
    leaf_.line = entry.empty() ? std::string() : last;
    leaf_.after.clear();
    if (!entry.empty()) leaf_.after.insert(hashOf(entry));
  }

  void noteFacts(const Line& line, TranscriptFacts& facts) {
    if (!sawSession_ && !line.sessionId.empty()) {
      sawSession_ = true;
      const std::string session = decoded(line.sessionId);
      const std::string agent = decoded(line.agentId);
      if (line.isSidechain && !agent.empty()) {
        // A subagent's file: its lines name the session that started it.
        facts.parentSession = session;
        facts.sessionId = "agent-" + agent;
      } else if (!isUuid(facts.sessionId)) {
        facts.sessionId = session;  // the file has another name; Claude Code goes by the name
      }
    }
    if (facts.cwd.empty()) facts.cwd = decoded(line.cwd);
    if (!line.relocatedCwd.empty()) facts.cwd = decoded(line.relocatedCwd);
    if (!line.version.empty()) facts.version = decoded(line.version);
    if (facts.created.empty()) facts.created = line.timestamp;
    if (facts.parentSession.empty() && !line.forkedFrom.empty()) {
      facts.parentSession = json::findString(line.forkedFrom, "sessionId").value_or("");
    }
  }

  // A title from a person overrides one from a model, and that overrides the oldest form.
  std::string titleInfo(const Line& line, TranscriptFacts& facts) {
    const int rank = line.type == "custom-title" ? 3 : line.type == "ai-title" ? 2 : line.type == "summary" ? 1 : 0;
    const std::string title = decoded(line.title);
    if (rank == 0 || rank < titleRank_ || title.empty()) return {};
    titleRank_ = rank;
    facts.title = title;
    return "\"title\":" + json::quoted(title);
  }

  Answers answers_;
  HeldAnswer held_;
  LineMemory lines_;
  Compaction compaction_;
  std::string lastMain_;
  std::string lastSide_;
  Leaf leaf_;
  std::optional<std::string> parent_;  // storage for the parent that a Place points to
  int titleRank_ = 0;
  bool sawSession_ = false;
};

}  // namespace

std::unique_ptr<Reader> makeReader() {
  return std::make_unique<ClaudeReader>();
}

}  // namespace bough::transcript::claude_code
