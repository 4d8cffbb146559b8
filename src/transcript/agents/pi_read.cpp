// Reads pi's files: a header {"type":"session"} and lines with id and parentId, in versions 1 (no ids), 2 and 3.
#include <fmt/format.h>

#include <functional>
#include <unordered_map>

#include "base/bytes/flat_map.h"
#include "base/json/json_write.h"
#include "transcript/agents/agents.h"
#include "transcript/agents/pi.h"
#include "transcript/agents/pi_message.h"
#include "transcript/model/ids.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

constexpr std::string_view kResetSummary = R"("[The conversation was reset: a new one begins here.]")";

class PiReader : public Reader {
 public:
  explicit PiReader(std::string_view agent) : agent_(agent) {}

  void record(const Record& record, Builder& out) override {
    const Members line(record.text);
    const std::string type = line.text("type");
    if (type == "session") {
      if (hasHeader_) {
        repeated(record, out);
      } else {
        header(line, out.facts);
        out.keep(record, {}, type);
      }
      remember(out, "");
      return;
    }
    id_ = line.text("id");
    if (isRepeated(record)) {
      repeated(record, out);
      return remember(out, id_);
    }
    const std::string parent = line.text("parentId");
    const std::string time = timeText(line.raw("timestamp"));
    Place place;
    place.id = id_;
    if (line.has("parentId")) place.parent = parent;
    place.timestamp = time;
    read(record, place, type, line, out);
    headEntry_ = line.text("customType") == kHeadType ? json::findString(line.raw("data"), "entryId").value_or("") : "";
    remember(out, id_);
  }

  void end(Builder& out) override {
    // pi continues from the last line, even when that is a label or a title.
    if (!lastLine_.empty()) out.setHead(lastLine_, headEntry_);
  }

 private:
  void header(const Members& line, TranscriptFacts& facts) {
    hasHeader_ = true;
    facts.sessionId = line.text("id");
    facts.created = timeText(line.raw("timestamp"));
    facts.cwd = line.text("cwd");
    facts.version = line.has("version") ? std::string(line.raw("version")) : "1";
    facts.parentSession = line.has("parentSession") ? line.text("parentSession") : line.text("branchedFrom");
    facts.model = line.text("modelId");
    isFirstVersion_ = facts.version == "1";
  }

  // Up to 0.73, pi writes the header and the first lines again when the first answer comes.
  static void repeated(const Record& record, Builder& out) {
    out.damage(record, "a line that was written before");
    out.keep(record, {}, kRepeated);
  }

  // Returns whether an earlier line with the same id has the same text.
  bool isRepeated(const Record& record) {
    if (id_.empty()) return false;
    const std::uint64_t text = hashOf(record.text);
    const auto [line, isNew] = lines_.try_emplace(hashOf(id_), text);
    return !isNew && line->second == text;
  }

  // Version 1 refers to entries by their index among all lines, including the header.
  void remember(const Builder& out, std::string_view id) {
    if (isFirstVersion_) byPlace_.push_back(id.empty() && byPlace_.empty() ? std::string() : out.lastId());
    if (!id.empty()) lastLine_ = id;
  }

  void read(const Record& record, const Place& place, std::string_view type, const Members& line, Builder& out) {
    if (type == "message" && line.isObject("message")) {
      message(record, place, readPiMessage(line.raw("message"), place.id), "message", out);
    } else if (type == "custom_message") {
      message(record, place, readPiContent(line.raw("content")), type, out);
    } else if (type == "model_change") {
      out.facts.model = line.text("modelId");
      json::Writer writer;
      writer.beginObject().member("model", out.facts.model).member("provider", line.text("provider")).endObject();
      out.entry(record, place, entry_type::kModelChange, writer.text());
    } else if (type == "thinking_level_change") {
      const std::string payload =
          json::Writer().beginObject().member("level", line.text("thinkingLevel")).endObject().take();
      out.entry(record, place, entry_type::kThinkingLevelChange, payload);
    } else if ((type == "compaction" && line.isString("summary")) || type == "reset") {
      compaction(record, place, line, out);
    } else if (type == "branch_summary" && !line.text("summary").empty()) {  // pi does not send empty ones
      branchSummary(record, place, line, out);
    } else if (type == "label") {
      label(record, place, line.text("targetId"), line.text("label"), out);
    } else if (type == "session_info") {
      out.facts.title = line.text("name");
      const std::string title = out.facts.title.empty() ? "null" : json::quoted(out.facts.title);
      out.keep(record, place, type, "\"title\":" + title);
    } else if (type == "context_edit" && line.has("replacement")) {
      edit(record, place, line, out);
    } else if (type == "usage" && line.isObject("usage")) {
      json::Writer writer;
      writer.beginObject().member("customType", fmt::format("{}.{}", agent_, type)).member("kind", "request");
      request(place, line, line.text("model"), writer);
      out.entry(record, place, entry_type::kCustom, writer.endObject().text());
    } else {
      custom(record, place, type, out);
    }
  }

  // Writes the cost of a request that produced no message. A copy of the line in another file has the same id and time.
  static void request(const Place& place, const Members& line, const std::string& model, json::Writer& writer) {
    if (!line.isObject("usage")) return;
    if (!model.empty()) writer.member("model", model);
    writePiUsage(writer, line.raw("usage"), place.id.empty() ? "" : fmt::format("{}-{}", place.id, place.timestamp));
  }

  void message(const Record& record, const Place& place, PiMessage message, std::string_view type, Builder& out) {
    if (message.json.empty()) return custom(record, place, type, out, message);
    if (!message.model.empty()) out.facts.model = message.model;
    out.message(record, place, Dialect::Bough, message.json, std::move(message.holes));
  }

  // Adds a node of the tree that no model sees; its line has the rest. `message`: what people see of it.
  void custom(const Record& record, const Place& place, std::string_view type, Builder& out,
              const PiMessage& message = {}) const {
    json::Writer writer;
    writer.beginObject().member("customType", fmt::format("{}.{}", agent_, type));
    if (!message.shown.empty()) {
      writer.key("shown").beginObject().member("role", message.shownRole).member("text", message.shown).endObject();
    }
    if (!message.usage.empty()) {
      writer.member("kind", "request").member("model", message.model);
      writePiUsage(writer, message.usage, message.requestId);
    }
    out.entry(record, place, entry_type::kCustom, writer.endObject().text());
  }

  // Adds an edit: what models get instead of an earlier message; with null they do not get that message.
  void edit(const Record& record, const Place& place, const Members& line, Builder& out) const {
    const std::string target = line.text("targetId");
    if (!out.isEntry(target)) {
      out.damage(record, "an edit of an entry that is not there");
      return custom(record, place, "context_edit", out);
    }
    const bool leavesOut = line.raw("replacement") == "null";
    const PiMessage with = readPiContent(json::findMember(line.raw("replacement"), "content").value_or(""));
    json::Writer writer;
    writer.beginObject().member("customType", agent_ + ".context_edit").member("kind", "edit");
    writer.member("entryId", out.entryFor(target)).key("content");
    writer.raw(leavesOut ? "null" : json::findMember(with.json, "content").value_or("[]"));
    out.entry(record, place, entry_type::kCustom, writer.endObject().text(),
              leavesOut ? std::vector<Hole>() : with.holes);
  }

  // OpenClaw's reset leaves out the history before it, like a summary, but has no text.
  void compaction(const Record& record, const Place& place, const Members& line, Builder& out) {
    const bool isReset = !line.isString("summary");
    const std::string_view summary = isReset ? kResetSummary : line.raw("summary");
    std::string kept;
    if (line.has("firstKeptEntryIndex")) {
      const auto at = json::findUnsigned(record.text, "firstKeptEntryIndex");
      if (at && *at < byPlace_.size()) kept = byPlace_[*at];
    } else {
      const std::string named = line.text("firstKeptEntryId");
      // A summary may name itself: then nothing before it is kept.
      kept = named == place.id ? entryIdOf(place.id) : out.entryFor(named);
      if (kept.empty() && !named.empty()) out.damage(record, "a summary that keeps an entry that is not there");
    }
    if (isReset && kept.empty()) kept = entryIdOf(place.id);
    json::Writer writer;
    writer.beginObject().key("summary").raw(summary).member("firstKeptEntryId", kept);
    if (const auto tokens = json::findUnsigned(record.text, "tokensBefore")) writer.member("tokensBefore", *tokens);
    request(place, line, out.facts.model, writer);
    writer.endObject();
    std::vector<Hole> holes;
    if (!isReset) holes.push_back({"summary", summary});
    out.entry(record, place, entry_type::kCompactionSummary, writer.text(), std::move(holes));
  }

  // Up to 0.73, fromId is where the summary was inserted (its parent, or "root"); since 0.87 it is the end of the
  // branch that was left. When fromId does not name it, that end is the previous entry in the file.
  void branchSummary(const Record& record, const Place& place, const Members& line, Builder& out) {
    const std::string from = line.text("fromId");
    const bool isEnd = from != "root" && place.parent && from != *place.parent;
    std::string end = isEnd ? out.entryFor(from) : std::string();
    if (end.empty()) end = out.lastId();
    json::Writer writer;
    writer.beginObject().member("sourceSessionId", sessionIdOf(agent_, out.facts.sessionId));
    writer.member("sourceEntryId", end).key("summary").raw(line.raw("summary"));
    request(place, line, out.facts.model, writer);
    out.entry(record, place, entry_type::kBranchSummary, writer.endObject().text(), {{"summary", line.raw("summary")}});
  }

  // In pi an entry has one label; a new label replaces it, and an empty one removes it.
  void label(const Record& record, const Place& place, const std::string& target, const std::string& name,
             Builder& out) {
    std::string& current = labels_[target];
    if (!current.empty() && current != name) out.removeLabel(record, place, current);
    if (!name.empty()) {
      out.label(record, place, target, name);
    } else if (current.empty()) {
      out.keep(record, place, "label");
    }
    current = name;
  }

  std::string agent_;
  bool hasHeader_ = false;
  bool isFirstVersion_ = false;
  std::string id_;
  std::string lastLine_;
  std::string headEntry_;             // the entry that lastLine_ stands for, when that entry has no line
  std::vector<std::string> byPlace_;  // version 1: the entry of each line
  std::unordered_map<std::string, std::string> labels_;     // by target
  std::unordered_map<std::uint64_t, std::uint64_t> lines_;  // hash of an id → hash of the first line with that id
};

constexpr std::string_view kTypes[] = {"message",        "model_change", "thinking_level_change", "compaction",
                                       "branch_summary", "custom",       "custom_message",        "label",
                                       "session_info",   "usage",        "context_edit",          "active_tools_change",
                                       "reset"};

}  // namespace

bool isPiRecord(std::string_view object) {
  const Members line(object);
  const std::string type = line.text("type");
  if (type == "session") return line.has("cwd") || (line.has("timestamp") && line.has("id"));
  if (std::ranges::find(kTypes, type) == std::end(kTypes)) return false;
  return line.has("timestamp") && !line.has("uuid") && !line.has("payload");
}

bool isPiHeader(std::string_view object) {
  return Members(object).text("type") == "session";
}

std::string piMismatch(const Sample& sample) {
  if (sample.objects.empty()) return "it holds no JSON objects";
  std::size_t fitting = 0;
  for (const std::string_view object : sample.objects) fitting += isPiRecord(object) ? 1U : 0U;
  if (fitting * 2 > sample.objects.size()) return {};
  // After the header there may be many lines of types that only newer versions know.
  const std::string_view first = sample.objects.front();
  if (isPiHeader(first) && isPiRecord(first) && (fitting > 1 || Members(first).isString("cwd"))) return {};
  return "its lines are not \"session\", \"message\" … with a \"timestamp\"";
}

std::unique_ptr<Reader> makePiReader(std::string_view agent) {
  return std::make_unique<PiReader>(agent);
}

}  // namespace bough::transcript
