// MyAgents: lines {"id","role","content","timestamp",…}, where content is a string that may contain a JSON list of
// blocks. Older versions write one JSON document {"messages":[…]} per session. sessions.json in the folder above lists
// all sessions.
//
// Blocks are those of Anthropic's API, except that a tool use contains its result:
// {"type":"tool_use","tool":{"id","name","input","result","isError"}}. A line with such a block becomes two entries.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/base64.h"
#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "message/json/json_tree.h"
#include "transcript/agents/agents.h"
#include "transcript/agents/myagents.h"
#include "transcript/source/json_line.h"
#include "transcript/source/lock_file.h"
#include "transcript/source/nearby_files.h"
#include "transcript/source/session_list.h"

namespace bough::transcript {
namespace {

bool isMyAgentsRecord(std::string_view object) {
  const Members line(object);
  const std::string role = line.text("role");
  return (role == "user" || role == "assistant") && line.has("content") && line.has("timestamp") && !line.has("type");
}

std::string myAgentsMismatch(const Sample& sample) {
  for (const std::string_view object : sample.objects) {
    if (isMyAgentsRecord(object)) return {};
  }
  return "it has no lines with \"role\", \"content\" and \"timestamp\"";
}

std::string legacyMismatch(const Sample& sample) {
  constexpr std::string_view kWhy = "it is not a document with \"messages\" that have \"role\" and \"timestamp\"";
  json::Tree tree;
  (void)tree.parse(sample.bytes);
  if (tree.empty() || !tree.isObject(0)) return std::string(kWhy);
  const json::Tree::Index list = tree.find(0, "messages");
  if (!tree.isArray(list) || tree.find(0, "projectHash") != json::Tree::kNone) return std::string(kWhy);
  for (const json::Tree::Index element : tree.elements(list)) {
    if (tree.broken(element)) {
      const bool isOne = std::ranges::any_of(sample.objects, isMyAgentsRecord);
      return isOne ? std::string() : std::string(kWhy);
    }
    return isMyAgentsRecord(tree.raw(element)) ? std::string() : std::string(kWhy);
  }
  return std::string(kWhy);
}

class LineReading {
 public:
  LineReading(const Record& record, Builder& out) : record_(record), line_(record.text), out_(out) {}

  void run() {
    id_ = line_.text("id");
    time_ = timeText(line_.raw("timestamp"));
    place_.id = id_;
    place_.timestamp = time_;
    if (!isMyAgentsRecord(record_.text)) return out_.keep(record_, place_, "unknown");
    if (out_.facts.created.empty()) out_.facts.created = time_;
    content();
    flush();
  }

 private:
  // Writes who gave an answer and what it cost. The id lets a request that is read twice be counted once.
  void head(json::Writer& writer) {
    const Members usage(line_.isObject("usage") ? line_.raw("usage") : std::string_view("{}"));
    std::string id = line_.text("sdkUuid");
    if (id.empty()) id = fmt::format("{}-{}", out_.facts.sessionId, id_);
    writer.member("id", id).member("type", "message");
    if (std::string model = usage.text("model"); !model.empty()) {
      writer.member("model", model);
      out_.facts.model = model;
    }
    if (!line_.isObject("usage") || given_ > 0) return;
    const auto count = [&](std::string_view name) { return json::findUnsigned(line_.raw("usage"), name).value_or(0); };
    writer.key("usage").beginObject();
    writer.member("input_tokens", count("inputTokens")).member("output_tokens", count("outputTokens"));
    writer.member("cache_read_input_tokens", count("cacheReadTokens"));
    writer.member("cache_creation_input_tokens", count("cacheCreationTokens")).endObject();
  }

  void add(std::string_view block) {
    // What follows a result in the line also follows it in the conversation.
    if (!results_.empty() && json::findString(block, "type") != "tool_use") flush();
    if (!blocks_.empty()) blocks_ += ',';
    blocks_ += block;
  }

  void addText(std::string_view text) {
    const std::string block =
        json::Writer().beginObject().member("type", "text").member("text", text).endObject().take();
    add(block);
  }

  void content() {
    const std::string_view raw = line_.raw("content");
    std::string text = json::kindOf(raw) == json::Kind::String ? line_.text("content") : std::string(raw);
    const std::string list = blocksIn(text);
    const bool isOnlyFiles = text.empty() && line_.isArray("attachments");
    if (list.empty()) {
      if (!isOnlyFiles) addText(text);
    } else {
      json::ArrayReader elements(list);
      while (const auto element = elements.next()) block(*element);
    }
    if (line_.isArray("attachments")) {
      json::ArrayReader attachments(line_.raw("attachments"));
      while (const auto attachment = attachments.next()) attach(Members(*attachment));
    }
  }

  void block(std::string_view raw) {
    const Members block(raw);
    if (block.text("type") != "tool_use" || !block.isObject("tool")) return add(raw);
    const Members tool(block.raw("tool"));
    json::Writer writer;
    writer.beginObject().member("type", "tool_use").member("id", tool.text("id")).member("name", tool.text("name"));
    add(writer.key("input").raw(argumentsOf(tool.raw("input"))).endObject().text());
    const std::string_view given = tool.raw("result");
    if (given.empty() || json::kindOf(given) == json::Kind::Null) return;
    if (!results_.empty()) results_ += ',';
    json::Writer result(results_);
    result.beginObject().member("type", "tool_result").member("tool_use_id", tool.text("id"));
    // A result that is not a string becomes the text of its JSON.
    result.key("content").raw(tool.isString("result") ? std::string(given) : json::quoted(given));
    if (tool.isTrue("isError")) result.member("is_error", true);
    result.endObject();
  }

  // The API accepts only objects.
  static std::string argumentsOf(std::string_view input) {
    if (input.empty() || json::kindOf(input) == json::Kind::Null) return "{}";
    if (json::kindOf(input) == json::Kind::Object) return std::string(input);
    return json::Writer().beginObject().key("arguments").raw(input).endObject().take();
  }

  // Adds an image if its file exists, otherwise its name.
  void attach(const Members& attachment) {
    constexpr std::size_t kMostBytes = std::size_t{8} << 20;
    const std::string path = attachment.text("path");
    const std::string type = attachment.text("mimeType");
    std::optional<std::string> bytes;
    if (type.starts_with("image/") && staysInFolder(path)) {
      bytes = readSmallFileInFolder(folderOf(folderOf(out_.path)) + "/attachments", path).value_or(std::nullopt);
    }
    if (!bytes || bytes->empty() || bytes->size() > kMostBytes) {
      return addText(fmt::format("[attached file: {}, {}]", attachment.text("name"), type));
    }
    json::Writer writer;
    writer.beginObject().member("type", "image").key("source").beginObject().member("type", "base64");
    add(writer.member("media_type", type).member("data", toBase64(*bytes)).endObject().endObject().text());
  }

  // Passes on what was collected: a message, and the results of its tools.
  void flush() {
    if (blocks_.empty() && given_ > 0) return;
    json::Writer writer;
    writer.beginObject();
    if (line_.text("role") == "assistant") head(writer);
    writer.member("role", line_.text("role")).key("content").beginArray().raw(blocks_).endArray().endObject();
    emit(writer.text());
    if (!results_.empty()) emit("{\"role\":\"user\",\"content\":[" + results_ + "]}");
    blocks_.clear();
    results_.clear();
  }

  // The line's id is that of its first entry. The ids of its other entries are made from it, so that they are the same
  // in the older document and in the lines that it was converted to.
  void emit(std::string_view message) {
    out_.message(record_, place_, Dialect::Anthropic, message);
    ++given_;
    if (!id_.empty()) partId_ = fmt::format("{}:{}", id_, given_);
    place_.id = partId_;
  }

  const Record& record_;
  Members line_;
  Builder& out_;
  Place place_;
  std::string id_;
  std::string time_;
  std::string blocks_;   // separated by commas
  std::string results_;  // separated by commas
  std::string partId_;   // of the next entry
  unsigned given_ = 0;   // number of entries passed on
};

class MyAgentsReader : public Reader {
 public:
  void record(const Record& record, Builder& out) override { LineReading(record, out).run(); }
};

Result<void> addMyAgentsFactsBeside(const std::string& path, TranscriptFacts& facts) {
  BOUGH_TRY(const auto list, SessionList::at(folderOf(folderOf(path)) + "/sessions.json"));
  if (const auto* found = list ? list->find("id", facts.sessionId) : nullptr) {
    const Members session(found->value);
    facts.title = session.text("title");
    facts.cwd = session.text("agentDir");
    if (std::string created = session.text("createdAt"); !created.empty()) facts.created = created;
    if (std::string model = session.text("model"); !model.empty()) facts.model = model;
    if (session.isObject("forkFrom"))
      facts.parentSession = json::findString(session.raw("forkFrom"), "sourceSessionId").value_or("");
    facts.metadata = found->value;
  }
  return {};
}

std::vector<std::string> myAgentsFolders(const TranscriptHome& home) {
  return {home.home + "/.myagents/sessions"};
}

Result<TranscriptPlace> myAgentsPlace(const TranscriptHome& home, const TranscriptFacts& facts) {
  return TranscriptPlace{.path = fmt::format("{}/.myagents/sessions/{}.jsonl", home.home, facts.sessionId),
                         .command = {},
                         .advice = "open MyAgents and choose the session"};
}

// Returns the list's name for a session without a title: the first words of its user.
std::string firstWords(const std::string& path) {
  constexpr std::size_t kLongest = 40;
  std::string words;
  const auto look = [&](Entry&& entry) -> Result<void> {
    if (!holdsMessage(entry)) return {};
    const auto message = normalizeEntry(entry);
    if (!message || message->role != Role::User) return {};
    for (const Block& block : message->blocks) {
      if (block.kind == BlockKind::Text && words.empty()) words = text::excerpt(block.text.decode(), kLongest);
    }
    return words.empty() ? Result<void>() : fail(ErrorCode::Conflict, "that is enough");
  };
  (void)readTranscript(path, {.agent = "myagents", .fromOffset = 0, .withoutLines = true}, look);
  return words;
}

// Returns a session's metadata with the new folder of its project.
std::string withFolder(std::string metadata, const std::string& cwd) {
  const auto folder = json::findMember(metadata, "agentDir");
  if (!folder || json::decodeString(*folder) == cwd) return metadata;
  metadata.replace(static_cast<std::size_t>(folder->data() - metadata.data()), folder->size(), json::quoted(cwd));
  return metadata;
}

Result<void> announceMyAgents(const TranscriptHome&, const TranscriptFacts& facts, const std::string& path) {
  const std::string root = folderOf(folderOf(path));
  BOUGH_TRY(const auto lock, LockFolder::acquire(root + "/sessions.lock"));
  const std::string listPath = root + "/sessions.json";
  BOUGH_TRY(const auto before, readSmallFile(listPath));
  const std::string list = before.value_or("");
  bool known = false;
  eachSession(list, [&](const std::string&, std::string_view value) {
    known = json::findString(value, "id") == facts.sessionId;
    return known;
  });
  if (known) return {};
  std::string entry = withFolder(facts.metadata, facts.cwd);
  if (entry.empty()) {
    json::Writer writer(entry);
    writer.beginObject().member("id", facts.sessionId).member("agentDir", facts.cwd);
    const std::string title = facts.title.empty() ? firstWords(path) : facts.title;
    writer.member("title", title.empty() ? facts.sessionId : title);
    const auto lastMs = latestTimeAtEnd(path);
    writer.member("createdAt", facts.created);
    writer.member("lastActiveAt", lastMs ? formatTimestamp(*lastMs) : facts.created).endObject();
  }
  BOUGH_TRY(const std::string bytes, withElement(listPath, list, entry));
  return replaceList(listPath, bytes);
}

// Stores a file in the folder `attachments` next to that of the sessions, where MyAgents looks for it, while holding
// the lock of MyAgents.
Result<void> keepAttachment(const std::string& path, const std::string& name, std::string_view bytes) {
  if (!staysInFolder(name)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("\"{}\" cannot be the name of an attached file", name), "");
  }
  const std::string root = folderOf(folderOf(path));
  BOUGH_TRY(makeFolder(root));
  BOUGH_TRY(const auto lock, LockFolder::acquire(root + "/sessions.lock"));
  return writeNewInFolder(root + "/attachments", name, bytes);
}

}  // namespace

Agent myagents() {
  Agent agent;
  agent.name = "myagents";
  agent.dialect = Dialect::Anthropic;
  static constexpr std::string_view kLacks[] = {"session.id", "session.cwd", "session.title", "session.key",
                                                "assistant.stop_reason"};
  agent.lacks = kLacks;
  agent.listed = std::span(kLacks).first(3);
  agent.joinsResults = true;
  agent.mismatch = myAgentsMismatch;
  agent.isRecord = isMyAgentsRecord;
  agent.makeReader = []() -> std::unique_ptr<Reader> { return std::make_unique<MyAgentsReader>(); };
  agent.makeWriter = makeMyAgentsWriter;
  agent.addFactsBeside = addMyAgentsFactsBeside;
  agent.folders = myAgentsFolders;
  agent.isTranscript = [](std::string_view relative) {
    return relative.ends_with(".jsonl") || relative.ends_with(".json");
  };
  agent.place = myAgentsPlace;
  agent.announce = announceMyAgents;
  agent.keepBeside = keepAttachment;
  return agent;
}

Agent myagentsLegacy() {
  Agent agent = myagents();
  agent.framing = Framing::Document;
  agent.listName = "messages";
  agent.mismatch = legacyMismatch;
  return agent;
}

}  // namespace bough::transcript
