// claw0: lines {"type":"user"|"assistant"|"tool_use"|"tool_result", …, "ts"}. The older layout has a header
// {"type":"session"}, the newer one has none. Messages are those of Anthropic's API, but a block may also be a line of
// its own.
#include <fmt/format.h>

#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/try.h"
#include "transcript/agents/agents.h"
#include "transcript/source/json_line.h"
#include "transcript/source/lock_file.h"
#include "transcript/source/nearby_files.h"
#include "transcript/source/record.h"
#include "transcript/source/session_list.h"

namespace bough::transcript {
namespace {

bool isClaw0Type(std::string_view type) {
  return type == "user" || type == "assistant" || type == "tool_use" || type == "tool_result";
}

bool isClaw0Record(std::string_view object) {
  const Members line(object);
  const std::string type = line.text("type");
  return type == "session" ? line.has("created") : isClaw0Type(type) && line.has("ts");
}

std::string claw0Misfit(const Sample& sample) {
  if (sample.objects.empty()) return "it holds no JSON objects";
  for (const std::string_view object : sample.objects) {
    const Members line(object);
    if (line.text("type") == "session" && !line.has("created")) return "its header has no \"created\"";
    if (isClaw0Type(line.text("type")) && (!line.has("ts") || line.has("uuid") || line.has("parentId"))) {
      return "its messages have no \"ts\"";
    }
    if (isClaw0Record(object)) return {};
  }
  return "it has no lines of type session, user, assistant, tool_use or tool_result";
}

class Claw0Reader : public Reader {
 public:
  void record(const Record& record, Builder& out) override {
    const Members line(record.text);
    const std::string type = line.text("type");
    const std::string time = timeText(line.raw("ts"));
    Place place;
    place.timestamp = time;
    if (type == "session") {
      header(line, out.facts);
      out.keep(record, place, type);
    } else if (type == "user" || type == "assistant") {
      noteCalls(line.raw("content"));
      message(record, place, type, line.raw("content"), out);
    } else if (type == "tool_use" && calls_.insert(line.text("tool_use_id")).second) {
      toolUse(record, place, line, out);
    } else if (type == "tool_result") {
      toolResult(record, place, line, out);
    } else {
      // A call that is already in the answer before it, or a line of another kind.
      out.keep(record, place, type.empty() ? "unknown" : type);
    }
  }

 private:
  static void header(const Members& line, TranscriptFacts& facts) {
    facts.sessionId = line.text("id");
    facts.key = line.text("key");
    facts.created = timeText(line.raw("created"));
  }

  void noteCalls(std::string_view content) {
    if (content.empty() || json::kindOf(content) != json::Kind::Array) return;
    json::ArrayReader blocks(content);
    while (const auto block = blocks.next()) {
      if (json::findString(*block, "type") == "tool_use") calls_.insert(json::findString(*block, "id").value_or(""));
    }
  }

  static void message(const Record& record, const Place& place, std::string_view role, std::string_view content,
                      Builder& out) {
    if (content.empty()) {
      out.damage(record, "a message without content");
      out.keep(record, place, role);
      return;
    }
    const std::string text =
        json::Writer().beginObject().member("role", role).key("content").raw(content).endObject().take();
    out.message(record, place, Dialect::Anthropic, text, {{"content", content}});
  }

  static void toolUse(const Record& record, const Place& place, const Members& line, Builder& out) {
    const std::string_view input = line.isObject("input") ? line.raw("input") : std::string_view("{}");
    json::Writer writer;
    writer.beginObject().member("role", "assistant").key("content").beginArray();
    writer.beginObject().member("type", "tool_use").member("id", line.text("tool_use_id"));
    writer.member("name", line.text("name")).key("input").raw(input).endObject().endArray().endObject();
    out.message(record, place, Dialect::Anthropic, writer.text(), {{"content/0/input", input}});
  }

  static void toolResult(const Record& record, const Place& place, const Members& line, Builder& out) {
    std::string_view content = line.has("content") ? line.raw("content") : line.raw("output");
    std::string asText;
    if (content.empty() ||
        (json::kindOf(content) != json::Kind::String && json::kindOf(content) != json::Kind::Array)) {
      asText = json::quoted(content);
      content = asText;
    }
    json::Writer writer;
    writer.beginObject().member("role", "user").key("content").beginArray();
    writer.beginObject().member("type", "tool_result").member("tool_use_id", line.text("tool_use_id"));
    writer.key("content").raw(content);
    if (line.isTrue("is_error")) writer.member("is_error", true);
    writer.endObject().endArray().endObject();
    out.message(record, place, Dialect::Anthropic, writer.text(), {{"content/0/content", content}});
  }

  std::unordered_set<std::string> calls_;
};

class Claw0Writer : public Writer {
 public:
  void begin(const TranscriptFacts& facts, std::string& out) override {
    json::Writer writer(out);
    writer.beginObject().member("type", "session").member("id", facts.sessionId);
    writer.member("key", facts.key.empty() ? "main:cli:user" : facts.key).member("created", facts.created).endObject();
    out += '\n';
  }

  void item(const Item& item, std::string& out) override {
    addLossyType(item);
    for (const std::string& message : item.messages) {
      const Members parts(message);
      json::Writer writer(out);
      writer.beginObject().member("type", parts.text("role")).key("content").raw(parts.raw("content"));
      writer.member("ts", item.entry->timestamp).endObject();
      out += '\n';
    }
  }
};

// Adds what sessions.json says. It is in the folder above the transcripts. An older list maps keys to sessions with the
// file's name in each; a newer list maps ids to sessions with a label.
Result<void> addClaw0FactsBeside(const std::string& path, TranscriptFacts& facts) {
  BOUGH_TRY(const auto list, SessionList::at(folderOf(folderOf(path)) + "/sessions.json"));
  if (!list) return {};
  const auto* byFile = list->find("transcript_file", nameOf(path));
  if (const auto* found = byFile == nullptr ? list->withKey(facts.sessionId) : byFile) {
    const Members session(found->value);
    if (facts.key.empty()) facts.key = session.text("session_key");
    if (std::string label = session.text("label"); !label.empty()) facts.title = label;
    if (facts.created.empty()) facts.created = timeText(session.raw("created_at"));
    facts.metadata = found->value;
  }
  return {};
}

std::string keyOf(const TranscriptFacts& facts) {
  return facts.key.empty() ? "main:cli:user" : facts.key;
}

// claw0 works in `workspace` in the folder where it is started; each key has one session there.
Result<TranscriptPlace> claw0Place(const TranscriptHome&, const TranscriptFacts& facts) {
  constexpr std::size_t kIdDigits = 12;
  // A file may name any folder; a relative one would depend on where bough is started.
  if (!facts.cwd.starts_with('/')) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the session's folder \"{}\" is not an absolute path", text::excerpt(facts.cwd, 60)),
                "--cwd-map OLD=NEW names another");
  }
  std::string name = keyOf(facts);
  for (char& c : name) {
    const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!isPlain) c = '_';
  }
  const std::string id = Sha256::of(facts.sessionId).substr(0, kIdDigits);
  return TranscriptPlace{.path = fmt::format("{}/workspace/.sessions/transcripts/{}_{}.jsonl", facts.cwd, name, id),
                         .command = "python agents/s03_sessions.py"};
}

// What the list says about a transcript's messages: claw0 counts the user's messages.
struct Told {
  std::uint64_t messages = 0;
  std::string last;  // time of the last message
};

Result<Told> toldIn(const std::string& path) {
  BOUGH_TRY(const auto file, openFile(path));
  LineRecords records(*file, isClaw0Record);
  Told told;
  while (true) {
    BOUGH_TRY(const auto record, records.next());
    if (!record) return told;
    if (record->kind != RecordKind::Json) continue;
    const Members line(record->text);
    if (std::string time = line.text("ts"); !time.empty()) told.last = std::move(time);
    const bool isResult = line.isArray("content") && line.raw("content").contains("\"tool_result\"");
    if (line.text("type") == "user" && !isResult) ++told.messages;
  }
}

// A key that is already in the list gets another name.
Result<void> announceClaw0(const TranscriptHome&, const TranscriptFacts& facts, const std::string& path) {
  const std::string listPath = folderOf(folderOf(path)) + "/sessions.json";
  // claw0 has no lock. This lock protects against other processes of bough.
  BOUGH_TRY(const auto lock, LockFile::acquire(listPath + ".lock"));
  BOUGH_TRY(const auto before, readSmallFile(listPath));
  const std::string list = before.value_or("");
  std::string key = keyOf(facts);
  bool known = false;
  eachSession(list, [&](const std::string& name, std::string_view value) {
    known = json::findString(value, "transcript_file") == nameOf(path);
    if (name == key) key += "-" + facts.sessionId;
    return known;
  });
  if (known) return {};
  BOUGH_TRY(const auto told, toldIn(path));
  json::Writer writer;
  writer.beginObject().member("session_key", key).member("session_id", facts.sessionId);
  writer.member("created_at", facts.created).member("updated_at", told.last.empty() ? facts.created : told.last);
  writer.member("message_count", told.messages).member("transcript_file", nameOf(path)).endObject();
  BOUGH_TRY(const std::string bytes, withMember(listPath, list, key, writer.text()));
  return replaceList(listPath, bytes);
}

}  // namespace

Agent claw0() {
  Agent agent;
  agent.name = "claw0";
  agent.dialect = Dialect::Anthropic;
  static constexpr std::string_view kLacks[] = {"session.cwd", "session.title", "assistant.usage", "assistant.model",
                                                "assistant.stop_reason"};
  agent.lacks = kLacks;
  agent.mismatch = claw0Misfit;
  agent.isRecord = isClaw0Record;
  agent.makeReader = []() -> std::unique_ptr<Reader> { return std::make_unique<Claw0Reader>(); };
  agent.makeWriter = []() -> std::unique_ptr<Writer> { return std::make_unique<Claw0Writer>(); };
  agent.addFactsBeside = addClaw0FactsBeside;
  agent.place = claw0Place;
  agent.announce = announceClaw0;
  return agent;
}

}  // namespace bough::transcript
