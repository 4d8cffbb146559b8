// Writes pi's files: version 3, as pi's own strict importer requires it. Ids are 8 hex digits, parents come first, and
// all types are known ones.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/bytes/flat_map.h"
#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "base/model/payloads.h"
#include "base/text/shell_word.h"
#include "base/text/timestamp.h"
#include "transcript/agents/agents.h"
#include "transcript/agents/pi.h"
#include "transcript/agents/pi_message.h"
#include "transcript/model/ids.h"
#include "transcript/source/json_line.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript {
namespace {

constexpr std::size_t kIdDigits = 8;

bool isPiId(std::string_view id) {
  return id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string millisecondsOf(std::string_view timestamp) {
  return fmt::format("{}", parseTimestamp(timestamp).value_or(0));
}

// pi's id of each entry, stored as a number. The few other ids, of lines that were copied, are stored as strings.
class PiIds {
 public:
  // Returns an empty string when the entry has no id.
  [[nodiscard]] std::string of(const std::string& entryId) const {
    const std::uint32_t* digits = digits_.find(hashOf(entryId));
    if (digits != nullptr) return fmt::format("{:08x}", *digits);
    const auto found = others_.find(entryId);
    return found == others_.end() ? std::string() : found->second;
  }

  void set(const std::string& entryId, const std::string& id) {
    std::uint32_t digits = 0;
    constexpr int kHexadecimal = 16;
    if (isPiId(id)) std::from_chars(id.data(), id.data() + id.size(), digits, kHexadecimal);
    isPiId(id) ? digits_.set(hashOf(entryId), digits) : void(others_[entryId] = id);
  }

 private:
  FlatMap<std::uint32_t> digits_;  // by hash of the entry's id
  std::unordered_map<std::string, std::string> others_;
};

class PiWriter : public Writer {
 public:
  void begin(const TranscriptFacts& facts, std::string& out) override {
    json::Writer writer(out);
    writer.beginObject().member("type", "session").member("version", 3);
    writer.member("id", facts.sessionId).member("timestamp", facts.created).member("cwd", facts.cwd);
    if (!facts.parentSession.empty()) writer.member("parentSession", facts.parentSession);
    writer.endObject();
    out += '\n';
  }

  void copied(const Item& item, std::string_view line) override {
    const std::string id = json::findString(line, "id").value_or("");
    const bool isHeader = json::findString(line, "type") == "session";
    if (!isHeader && isConversation(entryKind(item.entry->type))) lacksIds_ = id.empty();
    if (json::findMember(line, "type")) noteLine(*item.entry);
    if (id.empty() || isHeader) return;
    if (ids_.of(item.entry->id).empty()) {
      ids_.set(item.entry->id, id);
      taken_.insert(hashOf(id));
    }
    lastId_ = id;
  }

  void item(const Item& item, std::string& out) override {
    const Entry& entry = *item.entry;
    if (entry.type == entry_type::kLabel) return label(entry, out);
    if (entry.type == entry_type::kSessionInfo) return title(entry, out);
    if (isControlType(entry.type)) return;
    if (!item.messages.empty()) return messages(item, out);
    const Members payload(entry.payload);
    if (entry.type == entry_type::kModelChange) {
      const std::string provider = payload.text("provider");
      line(item, entry.type, out).member("provider", provider.empty() ? "anthropic" : provider);
      line_->member("modelId", payload.text("model"));
    } else if (entry.type == entry_type::kThinkingLevelChange) {
      line(item, entry.type, out).member("thinkingLevel", thinkingLevelIn(entry.payload).value_or(""));
    } else if (entry.type == entry_type::kCompactionSummary) {
      line(item, "compaction", out).member("summary", payload.text("summary"));
      writeFirstKept(payload.text("firstKeptEntryId"), entry.id);
      line_->member("tokensBefore", json::findUnsigned(entry.payload, "tokensBefore").value_or(0));
    } else if (entry.type == entry_type::kBranchSummary) {
      const std::string from = ids_.of(payload.text("sourceEntryId"));
      line(item, entry.type, out).member("fromId", from.empty() ? "root" : from);
      line_->member("summary", payload.text("summary"));
    } else {
      return addLossyType(item);
    }
    endLine(out);
  }

  void end(const std::string& headId, std::string& out) override {
    // pi continues from the last line.
    const std::string head = ids_.of(headId);
    if (head.empty() || head == lastId_) return;
    json::Writer writer(out);
    writer.beginObject().member("type", "custom").member("customType", kHeadType);
    if (!headEntryId.empty() && headEntryId != headId)
      writer.key("data").beginObject().member("entryId", headEntryId).endObject();
    writer.member("id", freshId("head:" + headId)).member("parentId", head);
    writer.member("timestamp", lastTime_.empty() ? formatTimestamp(0) : lastTime_).endObject();
    out += '\n';
  }

 private:
  // Returns a unique id: the entry's id when that has pi's form, otherwise digits of its SHA-256.
  std::string freshId(std::string_view entryId) {
    std::string id = isPiId(entryId) ? std::string(entryId) : Sha256::of(entryId).substr(0, kIdDigits);
    for (std::uint32_t i = 1; !taken_.insert(hashOf(id)); ++i) {
      id = Sha256::of(fmt::format("{}#{}", entryId, i)).substr(0, kIdDigits);
    }
    return id;
  }

  std::string idOf(const Item& item) {
    if (!item.replacesRedactedLine || !isForeignId(item.entry->id)) return freshId(item.entry->id);
    std::string id = foreignIdOf(item.entry->id);
    taken_.insert(hashOf(id));
    return id;
  }

  // In the first version lines have no ids and refer to other lines by number; the header has number 0.
  void noteLine(const Entry& entry) {
    if (lacksIds_) numbers_.try_emplace(entry.id, lines_);
    ++lines_;
  }

  // A summary that keeps nothing names itself.
  void writeFirstKept(const std::string& entryId, const std::string& ownId) {
    const std::string kept = ids_.of(entryId);
    const auto number = numbers_.find(entryId);
    if (!lacksIds_) {
      line_->member("firstKeptEntryId", kept.empty() ? ids_.of(ownId) : kept);
    } else {
      line_->member("firstKeptEntryIndex", number == numbers_.end() ? lines_ : number->second);
    }
  }

  void base(json::Writer& writer, const std::string& id, const std::string& parent, const Entry& entry) {
    if (!lacksIds_) writer.member("id", id).memberOrNull("parentId", parent);
    writer.member("timestamp", timeOf(entry));
    noteLine(entry);
    lastId_ = id;
  }

  const std::string& timeOf(const Entry& entry) {
    const auto time = parseTimestamp(entry.timestamp);
    lastTime_ = formatTimestamp(time.value_or(0));
    return lastTime_;
  }

  // Begins the line of an entry; endLine ends it.
  json::Writer& line(const Item& item, std::string_view type, std::string& out) {
    line_.emplace(out);
    const std::string id = idOf(item);
    line_->beginObject().member("type", type);
    base(*line_, id, ids_.of(item.parentId), *item.entry);
    ids_.set(item.entry->id, id);
    return *line_;
  }
  void endLine(std::string& out) {
    line_->endObject();
    line_.reset();
    out += '\n';
  }

  void messages(const Item& item, std::string& out) {
    std::string parent = ids_.of(item.parentId);
    std::uint32_t part = 0;
    for (const std::string& message : item.messages) {
      for (const std::string& one : writePiMessages(message, answerOf(item), toolNames_, lossyFields)) {
        const std::string id = part == 0 ? idOf(item) : freshId(fmt::format("{}+{}", item.entry->id, part));
        json::Writer writer(out);
        writer.beginObject().member("type", "message");
        base(writer, id, parent, *item.entry);
        writer.key("message").raw(one).endObject();
        out += '\n';
        ids_.set(item.entry->id, id);
        parent = id;
        ++part;
      }
    }
  }

  // Returns which provider answered, in pi's terms, from the stored message.
  static PiAnswer answerOf(const Item& item) {
    const Entry& entry = *item.entry;
    PiAnswer answer;
    answer.timestampMs = millisecondsOf(entry.timestamp);
    const auto dialect = namedDialect(entry);
    const Dialect named = dialect && *dialect ? **dialect : Dialect::Bough;
    answer.api = named == Dialect::OpenaiResponses ? "openai-responses"
                 : named == Dialect::OpenaiChat    ? "openai-completions"
                 : named == Dialect::Gemini        ? "google-generative-ai"
                                                   : "anthropic-messages";
    answer.provider = named == Dialect::OpenaiResponses || named == Dialect::OpenaiChat ? "openai"
                      : named == Dialect::Gemini                                        ? "google"
                                                                                        : "anthropic";
    const auto message = normalizeEntry(entry);
    const Usage usage = message && message->usage && !item.isMoreOfAnswer ? *message->usage : Usage{};
    if (message) answer.model = message->model.decode();
    if (answer.model.empty()) answer.model = "unknown";
    // With the provider's id, the answer is counted once even where the file is imported. A short id may also belong to
    // another answer.
    constexpr std::size_t kLeastId = 16;
    if (message && message->id.decode().size() >= kLeastId) answer.responseId = message->id.decode();
    const std::string hour =
        usage.cacheWriteHourTokens > 0 ? fmt::format(R"("cacheWrite1h":{},)", usage.cacheWriteHourTokens) : "";
    answer.usage =
        fmt::format(R"({{"input":{},"output":{},"cacheRead":{},"cacheWrite":{},{}"totalTokens":{},)"
                    R"("cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}})",
                    usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, hour,
                    usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens);
    return answer;
  }

  void label(const Entry& entry, std::string& out) {
    const std::string target = ids_.of(json::findString(entry.payload, "entryId").value_or(""));
    if (target.empty()) return;
    json::Writer writer(out);
    writer.beginObject().member("type", "label");
    base(writer, freshId(entry.id), lastId_, entry);
    writer.member("targetId", target).member("label", json::findString(entry.payload, "name").value_or("")).endObject();
    out += '\n';
  }

  void title(const Entry& entry, std::string& out) {
    const auto name = json::findString(entry.payload, "title");
    if (!name) return;
    json::Writer writer(out);
    writer.beginObject().member("type", "session_info");
    base(writer, freshId(entry.id), lastId_, entry);
    writer.member("name", *name).endObject();
    out += '\n';
  }

  PiIds ids_;
  NumberSet taken_;  // hashes of pi's ids
  ToolNames toolNames_;
  std::unordered_map<std::string, std::uint64_t> numbers_;  // entry id → number of its line
  std::uint64_t lines_ = 0;
  bool lacksIds_ = false;  // the earlier lines have no ids: each continues the line before it
  std::optional<json::Writer> line_;
  std::string lastId_;
  std::string lastTime_;
};

constexpr const char* kSessionsVariable = "PI_CODING_AGENT_SESSION_DIR";

// Returns PI_CODING_AGENT_DIR, or ~/.pi/agent; empty when neither is known.
std::string rootOf(const TranscriptHome& home) {
  std::string named = home.variable("PI_CODING_AGENT_DIR");
  return named.empty() && hasUserFolder(home) ? home.home + "/.pi/agent" : named;
}

std::vector<std::string> piFolders(const TranscriptHome& home) {
  std::vector<std::string> folders;
  if (const std::string root = rootOf(home); !root.empty()) folders.push_back(root + "/sessions");
  if (std::string other = home.variable(kSessionsVariable); !other.empty()) folders.push_back(other);
  return folders;
}

// Returns pi's name for the folder of a project: `--home-dev-demo--` for /home/dev/demo.
std::string folderName(std::string_view cwd) {
  if (cwd.starts_with('/') || cwd.starts_with('\\')) cwd.remove_prefix(1);
  std::string name = "--";
  for (const char c : cwd) name += c == '/' || c == '\\' || c == ':' ? '-' : c;
  return name + "--";
}

Result<TranscriptPlace> piPlace(const TranscriptHome& home, const TranscriptFacts& facts) {
  std::string folder = home.variable(kSessionsVariable);
  if (folder.empty()) folder = rootOf(home) + "/sessions/" + folderName(facts.cwd);
  std::string time = formatTimestamp(parseTimestamp(facts.created).value_or(0));
  std::ranges::replace_if(time, [](char c) { return c == ':' || c == '.'; }, '-');
  return TranscriptPlace{.path = fmt::format("{}/{}_{}.jsonl", folder, time, facts.sessionId),
                         .command = "pi --session " + shellWord(facts.sessionId)};
}

}  // namespace

Agent pi() {
  Agent agent;
  agent.name = "pi";
  static constexpr std::string_view kLacks[] = {"session.key"};
  agent.lacks = kLacks;
  agent.format = "pi";
  agent.dialect = Dialect::Bough;
  agent.canHoldTree = true;
  agent.idMember = "id";
  agent.parentMember = "parentId";
  static constexpr std::string_view kNames[] = {"targetId", "firstKeptEntryId", "fromId"};
  agent.nameMembers = kNames;
  agent.isHeader = isPiHeader;
  agent.mismatch = piMismatch;
  agent.isRecord = isPiRecord;
  agent.makeReader = []() { return makePiReader("pi"); };
  agent.makeWriter = []() -> std::unique_ptr<Writer> { return std::make_unique<PiWriter>(); };
  static constexpr std::string_view kFolder[] = {"PI_CODING_AGENT_DIR", kSessionsVariable};
  agent.folderVariables = kFolder;
  agent.folders = piFolders;
  agent.isTranscript = [](std::string_view relative) { return relative.ends_with(".jsonl"); };
  agent.place = piPlace;
  return agent;
}

}  // namespace bough::transcript
