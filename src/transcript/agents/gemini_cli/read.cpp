// Reads session files of Gemini CLI: a header, messages with ids, and lines that change what came before.
//
// `{"$set":{"messages":[…]}}` replaces all messages, `{"$rewindTo":id}` drops one and all after it, and a message whose
// id occurs again takes the place of the first. bough drops nothing: messages are a tree, and these lines move along
// it, or begin a branch where the new list differs from what is there. A message that is written several times in a
// row, each time with more, is one entry.
#include "transcript/agents/gemini_cli/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "transcript/agents/gemini_cli/message.h"
#include "transcript/agents/gemini_cli/project.h"
#include "transcript/model/ids.h"
#include "transcript/source/held.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::gemini_cli {
namespace {

constexpr std::size_t kMaxHeldBytes = std::size_t{16} << 20;
constexpr std::size_t kRoot = SIZE_MAX;

struct Node {
  std::string id;  // the program's
  std::uint64_t meaning = 0;
  std::size_t parent = kRoot;
  std::size_t depth = 0;             // its place in every path that it is on
  std::string first;                 // the id of its first entry
  std::string last;                  // the id of its last entry
  std::vector<std::string> answers;  // ids of the calls that it answers itself
};

bool isUpdateOnly(std::string_view object) {
  const auto set = json::findMember(object, "$set");
  return set && !json::findMember(*set, "messages");
}

// A list that sums up what was there and keeps the last of it.
struct Kept {
  std::size_t first = 0;  // of those before: where what is kept begins
  bool isFirst = false;   // the summary comes after it
  ChatMessage summary;
};

// Whether the new list is one message of the user, and before or after it the last of those that were there.
std::optional<Kept> keptIn(std::string_view messages, const std::vector<Node>& nodes,
                           const std::vector<std::size_t>& before) {
  std::size_t size = 0;
  for (json::ArrayReader list(messages); list.next();) ++size;
  if (size < 2 || size - 1 > before.size()) return std::nullopt;
  Kept kept{.first = before.size() - (size - 1), .isFirst = false, .summary = {}};
  std::size_t next = kept.first;
  std::size_t index = 0;
  for (json::ArrayReader list(messages); const auto element = list.next(); ++index) {
    if (json::kindOf(*element) != json::Kind::Object) return std::nullopt;
    const Node* node = next < before.size() ? &nodes[before[next]] : nullptr;
    if (node != nullptr && node->id == json::findString(*element, "id")) {
      if (node->meaning != parseChatMessage(*element).meaning) return std::nullopt;
      ++next;
      continue;
    }
    const bool isAtEnd = index == 0 || index + 1 == size;
    kept.summary = isAtEnd ? parseChatMessage(*element) : ChatMessage();
    if (kept.summary.speaker != Speaker::User || kept.summary.text.empty()) return std::nullopt;
    kept.isFirst = index > 0;
  }
  // A list of all that was there, and one more message, only goes on.
  if (next < before.size() || (kept.isFirst && kept.first == 0)) return std::nullopt;
  return kept;
}

class GeminiReader : public Reader {
 public:
  void record(const Record& record, Builder& out) override {
    if (!held_.empty() && record.offset >= out.fromOffset() && held_.front().offset < out.fromOffset()) release(out);
    const Members line(record.text);
    const bool isMessage = line.has("type") && line.has("id");
    const bool isSound = !record.repaired && record.reason.empty();
    if (!held_.empty()) {
      const bool same = isMessage && line.text("id") == heldId_;
      if (isSound && (same || isUpdateOnly(record.text)) && heldBytes_ + record.sizeBytes <= kMaxHeldBytes) {
        if (same) versionsEnd_ = held_.size() + 1;
        return hold(record);
      }
      release(out);
    }
    if (isMessage && isSound && line.text("type") == "gemini") {
      heldId_ = line.text("id");
      versionsEnd_ = 1;
      return hold(record);
    }
    give(record, record.text, out);
  }

  void giveHeld(Builder& out) override { release(out); }

  void notJson(const Record& record, Builder& out) override {
    release(out);
    takeFrame(record.raw, out.facts);
    out.keepBytes(record);
  }

  void end(Builder& out) override {
    release(out);
    const Project project = findProject(out.path);
    if (out.facts.cwd.empty()) out.facts.cwd = project.root;
    if (out.facts.parentSession.empty()) out.facts.parentSession = project.parentSession;
    if (!path_.empty()) out.setHead(nodes_[path_.back()].last);
  }

 private:
  void hold(const Record& record) {
    heldBytes_ += record.raw.size();
    held_.emplace_back(record);
  }

  // All versions of a message are one record; the last one counts. Lines after it are their own.
  void release(Builder& out) {
    const std::vector<HeldRecord> held = std::move(held_);
    held_.clear();
    heldBytes_ = 0;
    if (held.empty()) return;
    JoinedRecord versions;
    for (std::size_t i = 0; i < versionsEnd_; ++i) versions.add(held[i]);
    for (std::size_t i = 0; i + 1 < versionsEnd_; ++i) noteFacts(Members(versions.text(i)).raw("$set"), out.facts);
    give(versions.record(), versions.text(versionsEnd_ - 1), out);
    for (std::size_t i = versionsEnd_; i < held.size(); ++i) {
      const Record record = held[i].record();
      give(record, record.text, out);
    }
  }

  void give(const Record& record, std::string_view text, Builder& out) {
    const Members line(text);
    given_ = false;
    if (line.has("$rewindTo")) {
      rewind(line.text("$rewindTo"));
      return keep(record, "$rewindTo", {}, out);
    }
    if (line.isObject("$set")) return takeSet(record, line.raw("$set"), out);
    if (line.has("type") && line.has("id")) return takeMessage(record, parseChatMessage(text), out);
    noteFacts(text, out.facts);
    keep(record, line.has("sessionId") ? "header" : "unknown", titleInfo(text, out.facts), out);
  }

  // In the older form, one document, the facts are in what surrounds the list of messages.
  static void takeFrame(std::string_view raw, TranscriptFacts& facts) {
    if (raw.find('{') != std::string_view::npos) noteFacts(std::string(raw) + "]}", facts);
    const std::size_t end = raw.find(']');
    if (end != std::string_view::npos) noteFacts("{\"messages\":[" + std::string(raw.substr(end)), facts);
  }

  static void keep(const Record& record, std::string_view what, std::string_view info, Builder& out) {
    out.keep(record, {}, what, info);
  }

  static void noteFacts(std::string_view object, TranscriptFacts& facts) {
    const Members members(object);
    if (members.isString("sessionId")) facts.sessionId = members.text("sessionId");
    if (facts.created.empty()) facts.created = members.text("startTime");
    if (members.isString("summary")) facts.title = members.text("summary");
  }

  static std::string titleInfo(std::string_view object, const TranscriptFacts& facts) {
    return Members(object).isString("summary") ? "\"title\":" + json::quoted(facts.title) : std::string();
  }

  void takeSet(const Record& record, std::string_view set, Builder& out) {
    noteFacts(set, out.facts);
    const auto messages = json::findMember(set, "messages");
    if (messages && json::kindOf(*messages) == json::Kind::Array) replaceAll(record, *messages, out);
    if (!given_) keep(record, "$set", titleInfo(set, out.facts), out);
  }

  // The new list: as far as its messages are there already, they are those. A list that has nothing in common with what
  // was there is a summary of it, with what was kept.
  void replaceAll(const Record& record, std::string_view messages, Builder& out) {
    const std::vector<std::size_t> before = std::move(path_);
    path_.clear();
    if (const auto kept = keptIn(messages, nodes_, before)) return addKeepingSummary(record, *kept, before, out);
    json::ArrayReader list(messages);
    while (const auto element = list.next()) {
      if (json::kindOf(*element) != json::Kind::Object) continue;
      const ChatMessage message = parseChatMessage(*element);
      if (message.speaker == Speaker::Nobody || isAnswered(message)) continue;
      if (const std::size_t known = childLike(message); known != kRoot) {
        enter(known);
      } else if (path_.empty() && !before.empty() && !message.text.empty() && message.speaker == Speaker::User) {
        addSummary(record, message, idFor(record, message), before, nullptr, out);
      } else {
        add(record, message, path_.size(), out);
      }
    }
  }

  // What is kept stays where it was. In the program's list it is after the summary or before it: there it is a node
  // of its own, from which the conversation continues the summary.
  void addKeepingSummary(const Record& record, const Kept& kept, const std::vector<std::size_t>& before, Builder& out) {
    const std::string id = idFor(record, kept.summary);
    if (!kept.isFirst) addSummary(record, kept.summary, id, before, &kept, out);
    for (std::size_t i = kept.first; i < before.size(); ++i) {
      Node again = nodes_[before[i]];
      again.parent = path_.empty() ? kRoot : path_.back();
      again.depth = path_.size();
      again.last = id;
      remember(std::move(again));
    }
    if (kept.isFirst) addSummary(record, kept.summary, id, before, &kept, out);
  }

  // A hash of what tells a message from its siblings.
  [[nodiscard]] static std::uint64_t keyOf(const std::string& id, std::size_t parent, std::uint64_t meaning) {
    return std::hash<std::string>()(fmt::format("{} {} {}", parent, meaning, id));
  }

  [[nodiscard]] std::size_t childLike(const ChatMessage& message) const {
    const std::size_t parent = path_.empty() ? kRoot : path_.back();
    const auto found = byKey_.find(keyOf(message.id, parent, message.meaning));
    if (found == byKey_.end()) return kRoot;
    const Node& node = nodes_[found->second];
    return node.id == message.id && node.parent == parent && node.meaning == message.meaning ? found->second : kRoot;
  }

  // Where the message of this id is on the path; the path's size when it is not there.
  [[nodiscard]] std::size_t placeOf(const std::string& id) const {
    const auto found = byId_.find(id);
    if (found == byId_.end()) return path_.size();
    const std::size_t depth = nodes_[found->second].depth;
    return depth < path_.size() && path_[depth] == found->second ? depth : path_.size();
  }

  void rewind(const std::string& id) {
    const std::size_t place = placeOf(id);
    path_.resize(place == path_.size() ? 0 : place);
  }

  // The program writes results with their call and then once more as a message of the user.
  [[nodiscard]] bool isAnswered(const ChatMessage& message) const {
    if (message.speaker != Speaker::User || message.answers.empty() || path_.empty()) return false;
    const std::vector<std::string>& answers = nodes_[path_.back()].answers;
    return std::ranges::all_of(message.answers,
                               [&](const std::string& id) { return std::ranges::find(answers, id) != answers.end(); });
  }

  void takeMessage(const Record& record, const ChatMessage& message, Builder& out) {
    if (!message.model.empty()) out.facts.model = message.model;
    if (message.speaker == Speaker::Nobody) return keep(record, message.what, {}, out);
    if (isAnswered(message)) return keep(record, "results", {}, out);
    const std::size_t place = placeOf(message.id);
    if (place < path_.size() && nodes_[path_[place]].meaning == message.meaning) {
      return keep(record, "repeated", {}, out);
    }
    // Another version of a message goes beside it.
    add(record, message, place, out);
  }

  // The id of a new entry: the message's own, unless another version of it has that.
  std::string idFor(const Record& record, const ChatMessage& message) const {
    if (!message.id.empty() && !byId_.contains(message.id)) return message.id;
    return message.id + fmt::format(":{}.{}", record.offset, nodes_.size());
  }

  // `kept`: null when it keeps nothing that was there; then it names itself.
  void addSummary(const Record& record, const ChatMessage& message, const std::string& id,
                  const std::vector<std::size_t>& before, const Kept* kept, Builder& out) {
    std::string payload;
    json::Writer writer(payload);
    const std::string first = kept == nullptr ? std::string() : out.entryFor(nodes_[before[kept->first]].first);
    writer.beginObject().member("summary", message.text);
    writer.member("firstKeptEntryId", first.empty() ? entryIdOf(id) : first);
    if (kept != nullptr && kept->isFirst) writer.member("summaryAfterKept", true);
    writer.endObject();
    Place place;
    place.id = id;
    place.parent = nodes_[before.back()].last;
    place.timestamp = message.timestamp;
    out.entry(record, place, entry_type::kCompactionSummary, payload);
    Node node;
    node.id = message.id;
    node.meaning = message.meaning;
    node.parent = path_.empty() ? kRoot : path_.back();
    node.depth = path_.size();
    node.first = node.last = id;
    remember(std::move(node));
  }

  void add(const Record& record, const ChatMessage& message, std::size_t depth, Builder& out) {
    const std::string id = idFor(record, message);
    Node node;
    node.id = message.id;
    node.meaning = message.meaning;
    node.parent = depth == 0 ? kRoot : path_[depth - 1];
    node.depth = depth;
    node.answers = message.results.empty() ? std::vector<std::string>() : message.answers;
    const std::string parent = depth == 0 ? std::string() : nodes_[node.parent].last;
    Place place;
    place.id = id;
    place.parent = parent;
    place.timestamp = message.timestamp;
    out.message(record, place, Dialect::Gemini, message.message, message.holes);
    node.first = node.last = id;
    if (!message.results.empty()) {
      node.last = id + ":results";
      Place results;
      results.id = node.last;
      results.parent = id;
      results.timestamp = message.timestamp;
      out.message(record, results, Dialect::Gemini, message.results);
    }
    remember(std::move(node));
  }

  void remember(Node node) {
    given_ = true;
    const std::size_t added = nodes_.size();
    // What came after an older version of the message stays where it is.
    const bool isLast = node.depth + 1 >= path_.size();
    byKey_.try_emplace(keyOf(node.id, node.parent, node.meaning), added);
    nodes_.push_back(std::move(node));
    if (!isLast) return;
    path_.resize(nodes_[added].depth);
    enter(added);
  }

  void enter(std::size_t node) {
    path_.push_back(node);
    byId_[nodes_[node].id] = node;
  }

  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> byKey_;
  std::unordered_map<std::string, std::size_t> byId_;  // the one that came onto the path last
  std::vector<std::size_t> path_;                      // the messages as the program has them now
  std::vector<HeldRecord> held_;
  std::size_t versionsEnd_ = 0;  // of held_: those up to the last version of the message
  std::size_t heldBytes_ = 0;
  std::string heldId_;
  bool given_ = false;
};

}  // namespace

std::unique_ptr<Reader> makeReader() {
  return std::make_unique<GeminiReader>();
}

}  // namespace bough::transcript::gemini_cli
