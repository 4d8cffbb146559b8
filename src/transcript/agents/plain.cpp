// plain: bare entries {"id","parentId","timestamp","type":"user"|"assistant"|"tool_call"|"tool_result","content",…},
// the form in which specifications and small tools write sessions. A line is stored unchanged, in the dialect `plain`.
#include <bough/message.h>
#include <fmt/format.h>

#include "base/json/json_write.h"
#include "transcript/agents/agents.h"
#include "transcript/model/ids.h"
#include "transcript/source/json_line.h"

namespace bough::transcript {
namespace {

// Type of a line that is written only when the session continues from another line than its last: `parentId` names that
// line. `entryId` names the entry, when it has no line and is carried by one.
constexpr std::string_view kHead = "head";

bool isPlainType(std::string_view type) {
  return type == "user" || type == "assistant" || type == "system" || type == "tool_call" || type == "tool_use" ||
         type == "tool_result";
}

bool isPlainRecord(std::string_view object) {
  const Members line(object);
  return isPlainType(line.text("type")) && !line.has("uuid") && !line.has("ts") && !line.isObject("message") &&
         !line.isObject("payload");
}

std::string plainMismatch(const Sample& sample) {
  if (sample.objects.empty()) return "it holds no JSON objects";
  for (const std::string_view object : sample.objects) {
    const Members line(object);
    if (!isPlainRecord(object)) continue;
    if (line.has("parentId") || (line.has("id") && line.text("type") != "user")) return {};
  }
  return "it has no lines of type user, assistant, tool_call or tool_result with \"id\" and \"parentId\"";
}

class PlainReader : public Reader {
 public:
  void record(const Record& record, Builder& out) override {
    const Members line(record.text);
    const std::string type = line.text("type");
    const std::string id = line.text("id");
    const std::string parent = line.text("parentId");
    const std::string time = timeText(line.raw("timestamp"));
    Place place;
    place.id = id;
    if (line.has("parentId")) place.parent = parent;
    place.timestamp = time;
    if (type == kHead) {
      head_ = parent;
      headEntry_ = line.text("entryId");
    }
    if (!isPlainType(type)) return out.keep(record, place, type.empty() ? "unknown" : type);
    if (line.isString("model")) out.facts.model = line.text("model");
    if (out.facts.created.empty()) out.facts.created = time;
    if (const auto read = normalize(record.text, Dialect::Plain); !read) {
      out.damage(record, "a message that cannot be read");
      return out.keep(record, place, type);
    }
    out.message(record, place, Dialect::Plain, record.text);
    head_.clear();
    headEntry_.clear();
  }

  void end(Builder& out) override {
    if (!head_.empty()) out.setHead(head_, headEntry_);
  }

 private:
  std::string headEntry_;  // the entry that the session continues from, when it has no line
  std::string head_;       // where the session continues, when that is not its last message
};

class PlainWriter : public Writer {
 public:
  void begin(const TranscriptFacts&, std::string&) override {}

  // An id that is too long for an entry occurs only in its line, and so does an id that replaces another in a clean
  // copy.
  void copied(const Item& item, std::string_view line) override {
    const Members members(line);
    const std::string id = members.text("id");
    lastTime_ = item.entry->timestamp;
    if (isPlainType(members.text("type"))) lastId_ = id;
    if (members.text("type") == kHead) lastId_ = members.text("parentId");
    const bool isOwn = entryIdOf(id) == item.entry->id || !isForeignId(item.entry->id);
    if (!id.empty() && id != foreignIdOf(item.entry->id) && isOwn) lastOf_[item.entry->id] = id;
  }

  void item(const Item& item, std::string& out) override {
    std::string parent = idOf(item.parentId);
    std::uint32_t part = 0;
    for (const std::string& json : item.messages) {
      const auto message = normalize(json, Dialect::Bough);
      if (!message) continue;
      for (const Block& block : message->blocks) {
        std::string id = foreignIdOf(item.entry->id);
        if (part > 0) id += fmt::format(".{}", part);
        if (!line(*message, block, id, parent, item.entry->timestamp, out)) {
          lossyFields.emplace_back(toString(block.kind));
          continue;
        }
        lastOf_[item.entry->id] = id;
        lastId_ = id;
        parent = id;
        ++part;
      }
    }
    lastTime_ = item.entry->timestamp;
    addLossyType(item);
  }

  void end(const std::string& headId, std::string& out) override {
    const std::string head = idOf(headId);
    if (head.empty() || head == lastId_) return;
    json::Writer writer(out);
    writer.beginObject().member("id", "head:" + head).member("parentId", head).member("timestamp", lastTime_);
    writer.member("type", kHead);
    if (!headEntryId.empty() && headEntryId != headId) writer.member("entryId", headEntryId);
    writer.endObject();
    out += '\n';
  }

 private:
  // Returns the id in the last line of an entry.
  [[nodiscard]] std::string idOf(const std::string& entryId) const {
    const auto last = lastOf_.find(entryId);
    return last == lastOf_.end() ? foreignIdOf(entryId) : last->second;
  }

  // Writes one text as a string, and several as a list of blocks.
  void writeTexts(const Block& result, json::Writer& writer) {
    std::vector<std::string> texts;
    for (const Block& part : result.content) {
      if (part.kind == BlockKind::Text) {
        texts.push_back(part.text.decode());
      } else {
        lossyFields.push_back(fmt::format("tool_result.{}", toString(part.kind)));
      }
    }
    if (texts.size() < 2) {
      writer.string(texts.empty() ? std::string() : texts.front());
      return;
    }
    writer.beginArray();
    for (const std::string& text : texts) {
      writer.beginObject().member("type", "text").member("text", text).endObject();
    }
    writer.endArray();
  }

  // Some dialects have the arguments as a string that contains an object.
  static std::string argumentsOf(const Block& call) {
    if (call.input.empty()) return "{}";
    if (json::kindOf(call.input) != json::Kind::String) return std::string(call.input);
    std::string text = json::decodeString(call.input).value_or("");
    const bool isObject = json::check(text) && json::kindOf(text) == json::Kind::Object;
    return isObject ? text : std::string(call.input);
  }

  bool line(const Message& message, const Block& block, const std::string& id, const std::string& parent,
            const std::string& time, std::string& out) {
    std::string type;
    if (block.kind == BlockKind::Text || block.kind == BlockKind::Refusal) {
      type = message.role == Role::Assistant ? "assistant" : message.role == Role::System ? "system" : "user";
    } else if (block.kind == BlockKind::ToolCall || block.kind == BlockKind::ToolResult) {
      type = toString(block.kind);
    } else {
      return false;
    }
    json::Writer writer(out);
    writer.beginObject().member("id", id).memberOrNull("parentId", parent);
    writer.member("timestamp", time).member("type", type);
    if (block.kind == BlockKind::ToolCall) {
      writer.member("tool_call_id", block.id.decode()).member("name", block.name.decode()).key("arguments");
      block.freeform ? writer.string(block.text.decode()) : writer.raw(argumentsOf(block));
    } else if (block.kind == BlockKind::ToolResult) {
      writeTexts(block, writer.member("tool_call_id", block.id.decode()).key("content"));
      if (block.isError) writer.member("is_error", true);
    } else {
      writer.member("content", block.text.decode());
    }
    writer.endObject();
    out += '\n';
    return true;
  }

  // for an entry that became several lines: the id of the last one
  std::unordered_map<std::string, std::string> lastOf_;
  std::string lastId_;  // where a reader continues
  std::string lastTime_;
};

}  // namespace

Agent plain() {
  Agent agent;
  agent.name = "plain";
  agent.dialect = Dialect::Bough;
  agent.canHoldTree = true;
  agent.continuesFromEnd = true;
  static constexpr std::string_view kLacks[] = {"session.id",           "session.key",     "session.cwd",
                                                "session.title",        "assistant.usage", "assistant.model",
                                                "assistant.stop_reason"};
  agent.lacks = kLacks;
  agent.idMember = "id";
  agent.parentMember = "parentId";
  agent.mismatch = plainMismatch;
  agent.isRecord = isPlainRecord;
  agent.makeReader = []() -> std::unique_ptr<Reader> { return std::make_unique<PlainReader>(); };
  agent.makeWriter = []() -> std::unique_ptr<Writer> { return std::make_unique<PlainWriter>(); };
  return agent;
}

}  // namespace bough::transcript
