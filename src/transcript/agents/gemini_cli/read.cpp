// Reads session files of Gemini CLI: a header, messages with ids, and lines that change earlier messages.
//
// `{"$set":{"messages":[…]}}` replaces all messages, `{"$rewindTo":id}` drops a message and all messages after it, and
// a message whose id occurs again replaces the first one. bough drops nothing: messages form a tree, and these lines
// move along the tree, or begin a branch where the new list differs from the existing messages. A message that is
// written several times in a row, each time with more content, becomes one entry.
#include "transcript/agents/gemini_cli/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "transcript/agents/gemini_cli/chat_tree.h"
#include "transcript/agents/gemini_cli/message.h"
#include "transcript/agents/gemini_cli/project.h"
#include "transcript/model/ids.h"
#include "transcript/source/held.h"
#include "transcript/source/json_line.h"

namespace bough::transcript::gemini_cli {
namespace {

constexpr std::size_t kMaxHeldBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxHeldLines = 65536;

// Returns whether a line neither adds nor drops a message.
bool isBesideMessages(const Members& line) {
  if (line.has("$rewindTo")) return false;
  if (line.isObject("$set")) return !json::findMember(line.raw("$set"), "messages");
  return !line.has("type") || !line.has("id");
}

// A list that summarizes the earlier messages and keeps the last of them.
struct Kept {
  std::size_t first = 0;  // index of the first kept message among the earlier messages
  bool isFirst = false;   // the summary comes after the kept messages
  ChatMessage summary;
};

// Returns a value if the new list consists of one message of the user and, before or after it, the last of the earlier
// messages.
std::optional<Kept> keptIn(std::string_view messages, const ChatTree& tree, const std::vector<std::size_t>& before) {
  std::size_t size = 0;
  for (json::ArrayReader list(messages); list.next();) ++size;
  if (size < 2 || size - 1 > before.size()) return std::nullopt;
  Kept kept{.first = before.size() - (size - 1), .isFirst = false, .summary = {}};
  std::size_t next = kept.first;
  std::size_t index = 0;
  for (json::ArrayReader list(messages); const auto element = list.next(); ++index) {
    if (json::kindOf(*element) != json::Kind::Object) return std::nullopt;
    const Node* node = next < before.size() ? &tree.node(before[next]) : nullptr;
    if (node != nullptr && node->id == json::findString(*element, "id")) {
      if (node->contentHash != parseChatMessage(*element).contentHash) return std::nullopt;
      ++next;
      continue;
    }
    const bool isAtEnd = index == 0 || index + 1 == size;
    kept.summary = isAtEnd ? parseChatMessage(*element) : ChatMessage();
    if (kept.summary.speaker != Speaker::User || kept.summary.text.empty()) return std::nullopt;
    kept.isFirst = index > 0;
  }
  // A message that existed before is not a summary: Gemini CLI writes the same list again, or leaves some messages out.
  const auto isSummary = [&](std::size_t place) {
    return tree.node(place).id == kept.summary.id && tree.node(place).contentHash == kept.summary.contentHash;
  };
  if (std::ranges::any_of(before, isSummary)) return std::nullopt;
  // A list of all earlier messages and one more is only a continuation.
  if (next < before.size() || (kept.isFirst && kept.first == 0)) return std::nullopt;
  return kept;
}

std::vector<AnsweredCall> answeredBy(const ChatMessage& message) {
  std::vector<AnsweredCall> answers;
  for (const CallResult& result : message.results) answers.push_back({result.callId, result.contentHash});
  return answers;
}

class GeminiReader : public Reader {
 public:
  void record(const Record& record, Builder& out) override {
    releaseOld(record, out);
    const Members line(record.text);
    const bool isMessage = line.has("type") && line.has("id");
    if (!held_.empty()) {
      const bool same = isMessage && line.text("id") == heldId_;
      if ((same || isBesideMessages(line)) && hasRoom(record)) {
        if (same) versionsEnd_ = held_.size() + 1;
        return hold(record);
      }
      release(out);
    }
    if (isMessage && line.text("type") == "gemini") {
      heldId_ = line.text("id");
      versionsEnd_ = 1;
      return hold(record);
    }
    emit(record, record.text, out);
  }

  void flushHeld(Builder& out) override { release(out); }

  // Blank lines and damaged lines between two versions of a message do not split the message.
  void notJson(const Record& record, Builder& out) override {
    readFrame(record.raw, out.facts);
    const bool isInside = record.kind == RecordKind::Blank || record.kind == RecordKind::Damaged;
    releaseOld(record, out);
    if (!held_.empty() && isInside && hasRoom(record)) return hold(record);
    release(out);
    out.keepBytes(record);
  }

  void end(Builder& out) override {
    release(out);
    const Project project = findProject(out.path);
    if (out.facts.cwd.empty()) out.facts.cwd = project.root;
    if (out.facts.parentSession.empty()) out.facts.parentSession = project.parentSession;
    if (!tree_.path().empty()) return out.setHead(tree_.lastOnPath().last);
    if (!out.lastId().empty()) out.setHead({});
  }

 private:
  [[nodiscard]] bool hasRoom(const Record& record) const {
    return held_.size() < kMaxHeldLines && heldBytes_ + record.sizeBytes <= kMaxHeldBytes;
  }

  void hold(const Record& record) {
    heldBytes_ += record.raw.size();
    held_.emplace_back(record);
  }

  // Lines that were passed on in an earlier read are not joined with later lines.
  void releaseOld(const Record& record, Builder& out) {
    if (!held_.empty() && out.wanted().keepsApart(held_.front().offset(), record.offset)) release(out);
  }

  // Passes on all versions of a message as one record; the last version counts. Lines after them are separate records.
  void release(Builder& out) {
    const std::vector<HeldRecord> held = std::move(held_);
    held_.clear();
    heldBytes_ = 0;
    if (held.empty()) return;
    JoinedRecord versions;
    for (std::size_t i = 0; i < versionsEnd_; ++i) versions.add(held[i]);
    versions.eachDamaged([&](const Record& part) { out.damage(part, part.reason, part.kind == RecordKind::Json); });
    for (std::size_t i = 0; i + 1 < versionsEnd_; ++i) noteFacts(Members(versions.text(i)).raw("$set"), out.facts);
    emit(versions.record(), versions.text(versionsEnd_ - 1), out);
    for (std::size_t i = versionsEnd_; i < held.size(); ++i) {
      const Record record = held[i].record();
      record.kind == RecordKind::Json ? emit(record, record.text, out) : out.keepBytes(record);
    }
  }

  void emit(const Record& record, std::string_view text, Builder& out) {
    const Members line(text);
    hasEmitted_ = false;
    if (line.has("$rewindTo")) {
      rewind(record, line.text("$rewindTo"), out);
      if (!hasEmitted_) keep(record, "$rewindTo", {}, out);
      return;
    }
    if (line.isObject("$set")) return applySet(record, line.raw("$set"), out);
    if (line.has("type") && line.has("id")) return addMessage(record, parseChatMessage(text), out);
    noteFacts(text, out.facts);
    keep(record, line.has("sessionId") ? "header" : "unknown", titleInfo(text, out.facts), out);
  }

  // In the older form, one document, the facts surround the list of messages.
  static void readFrame(std::string_view raw, TranscriptFacts& facts) {
    const auto note = [&](const std::string& object) {
      if (json::check(object)) noteFacts(object, facts);
    };
    const std::size_t begin = raw.find('{');
    if (begin != std::string_view::npos) note(std::string(raw.substr(begin)) + "]}");
    const std::size_t end = raw.find(']');
    if (end != std::string_view::npos) note("{\"messages\":[" + std::string(raw.substr(end)));
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

  void applySet(const Record& record, std::string_view set, Builder& out) {
    noteFacts(set, out.facts);
    const auto messages = json::findMember(set, "messages");
    if (messages && json::kindOf(*messages) == json::Kind::Array) replaceAll(record, *messages, out);
    if (!hasEmitted_) keep(record, "$set", titleInfo(set, out.facts), out);
  }

  // Takes the new list. As far as its messages exist already, those are reused. A list that has nothing in common with
  // the earlier messages is a summary of them, followed by what was kept.
  void replaceAll(const Record& record, std::string_view messages, Builder& out) {
    const std::vector<std::size_t> before = tree_.path();
    tree_.truncatePath(0);
    if (const auto kept = keptIn(messages, tree_, before)) return addKeepingSummary(record, *kept, before, out);
    json::ArrayReader list(messages);
    while (const auto element = list.next()) {
      if (json::kindOf(*element) != json::Kind::Object) continue;
      const ChatMessage message = parseChatMessage(*element);
      if (message.speaker == Speaker::Nobody || isAnswered(message)) continue;
      if (const std::size_t known = tree_.findChild(message.id, message.contentHash); known != kRoot) {
        tree_.appendToPath(known);
        addLateResults(record, message, known, out);
      } else if (tree_.path().empty() && !before.empty() && !message.text.empty() && message.speaker == Speaker::User) {
        addSummary(record, message, idFor(record, message), before, nullptr, out);
      } else {
        add(record, message, tree_.path().size(), out);
      }
    }
  }

  // Kept messages stay where they were in the conversation. In Gemini CLI's list they are before or after the summary;
  // there they get nodes of their own, and what follows continues from the summary.
  void addKeepingSummary(const Record& record, const Kept& kept, const std::vector<std::size_t>& before, Builder& out) {
    const std::string id = idFor(record, kept.summary);
    if (!kept.isFirst) addSummary(record, kept.summary, id, before, &kept, out);
    for (std::size_t i = kept.first; i < before.size(); ++i) {
      Node again = tree_.node(before[i]);
      again.parent = lastNode();
      again.depth = tree_.path().size();
      again.last = id;
      again.keptOf = before[i];
      remember(std::move(again));
    }
    if (kept.isFirst) addSummary(record, kept.summary, id, before, &kept, out);
  }

  void rewind(const Record& record, const std::string& id, Builder& out) {
    const auto& path = tree_.path();
    const std::size_t found = tree_.placeOf(id);
    const std::size_t place = found == path.size() ? 0 : found;
    const bool dropsKept = std::any_of(path.begin() + static_cast<std::ptrdiff_t>(place), path.end(),
                                       [&](std::size_t node) { return tree_.node(node).keptOf != kRoot; });
    tree_.truncatePath(place);
    if (dropsKept && place > 0) dropKeptMessages(record, out);
  }

  // A summary keeps messages from a first one up to the summary's own place. When Gemini CLI drops some of them, the
  // same summary is added again and keeps the rest, in a branch that begins where the rest ends.
  void dropKeptMessages(const Record& record, Builder& out) {
    std::vector<std::size_t> rest;
    while (!tree_.path().empty() && tree_.lastOnPath().keptOf != kRoot) {
      rest.push_back(tree_.originalOf(tree_.path().back()));
      tree_.truncatePath(tree_.path().size() - 1);
    }
    std::ranges::reverse(rest);
    const bool hasSummary = !tree_.path().empty() && tree_.lastOnPath().isSummary;
    std::string last;
    if (hasSummary) {
      Node summary = tree_.lastOnPath();
      tree_.truncatePath(tree_.path().size() - 1);
      last = addSummaryAgain(record, summary, rest, out);
      summary.first = summary.last = last;
      remember(std::move(summary));
    }
    for (const std::size_t node : rest) {
      Node again = tree_.node(node);
      again.parent = lastNode();
      again.depth = tree_.path().size();
      if (hasSummary) again.last = last;
      if (hasSummary) again.keptOf = node;
      remember(std::move(again));
    }
    hasEmitted_ = hasSummary;
  }

  // Returns the id of the new summary.
  std::string addSummaryAgain(const Record& record, const Node& summary, const std::vector<std::size_t>& rest,
                              Builder& out) const {
    const std::string id = fmt::format("{}:{}.{}", summary.id, record.offset, tree_.size());
    json::Writer writer;
    writer.beginObject().member("summary", summary.summary);
    const std::string first = rest.empty() ? std::string() : out.entryFor(tree_.node(rest.front()).first);
    writer.member("firstKeptEntryId", first.empty() ? entryIdOf(id) : first).endObject();
    Place place;
    place.id = id;
    place.parent = rest.empty() ? std::string_view(summary.last) : std::string_view(tree_.node(rest.back()).last);
    out.entry(record, place, entry_type::kCompactionSummary, writer.text());
    return id;
  }

  // Gemini CLI writes results with their call, and then again as a message of the user.
  [[nodiscard]] bool isAnswered(const ChatMessage& message) const {
    if (message.speaker != Speaker::User || message.results.empty() || tree_.path().empty()) return false;
    const std::vector<AnsweredCall>& answers = tree_.lastOnPath().answers;
    return std::ranges::all_of(message.results, [&](const CallResult& result) {
      return std::ranges::find(answers, result.callId, &AnsweredCall::callId) != answers.end();
    });
  }

  void addMessage(const Record& record, const ChatMessage& message, Builder& out) {
    if (!message.model.empty()) out.facts.model = message.model;
    if (message.speaker == Speaker::Nobody) return keep(record, message.kindName, {}, out);
    if (isAnswered(message)) return keep(record, "results", {}, out);
    const std::size_t place = tree_.placeOf(message.id);
    if (place < tree_.path().size() && tree_.node(tree_.path()[place]).contentHash == message.contentHash) {
      addLateResults(record, message, tree_.path()[place], out);
      if (!hasEmitted_) keep(record, "update", {}, out);
      return;
    }
    // Another version of a message becomes its sibling.
    add(record, message, place, out);
  }

  // Returns the id of a new entry: the message's own id, unless another version of the message has it.
  std::string idFor(const Record& record, const ChatMessage& message) const {
    if (!message.id.empty() && !tree_.contains(message.id)) return message.id;
    return message.id + fmt::format(":{}.{}", record.offset, tree_.size());
  }

  // `kept` is null when the summary keeps nothing; then it names itself.
  void addSummary(const Record& record, const ChatMessage& message, const std::string& id,
                  const std::vector<std::size_t>& before, const Kept* kept, Builder& out) {
    json::Writer writer;
    const std::string first = kept == nullptr ? std::string() : out.entryFor(tree_.node(before[kept->first]).first);
    writer.beginObject().member("summary", message.text);
    writer.member("firstKeptEntryId", first.empty() ? entryIdOf(id) : first);
    if (kept != nullptr && kept->isFirst) writer.member("summaryAfterKept", true);
    writer.endObject();
    Place place;
    place.id = id;
    place.parent = tree_.node(before.back()).last;
    place.timestamp = message.timestamp;
    out.entry(record, place, entry_type::kCompactionSummary, writer.text());
    Node node;
    node.id = message.id;
    node.contentHash = message.contentHash;
    node.parent = lastNode();
    node.depth = tree_.path().size();
    node.first = node.last = id;
    node.isSummary = true;
    node.summary = message.text;
    remember(std::move(node));
  }

  void add(const Record& record, const ChatMessage& message, std::size_t depth, Builder& out) {
    const std::string id = idFor(record, message);
    Node node;
    node.id = message.id;
    node.contentHash = message.contentHash;
    node.parent = depth == 0 ? kRoot : tree_.path()[depth - 1];
    node.depth = depth;
    if (message.speaker == Speaker::User) node.answersEarlier = answeredBy(message);
    if (message.speaker == Speaker::Model) node.answers = answeredBy(message);
    const std::string parent = depth == 0 ? std::string() : tree_.node(node.parent).last;
    Place place;
    place.id = id;
    place.parent = parent;
    place.timestamp = message.timestamp;
    out.message(record, place, Dialect::Gemini, message.message, message.holes);
    node.first = node.last = id;
    if (!node.answers.empty()) {
      node.last = id + ":results";
      Place results;
      results.id = node.last;
      results.parent = id;
      results.timestamp = message.timestamp;
      out.message(record, results, Dialect::Gemini, resultsMessage(message.results));
    }
    remember(std::move(node));
  }

  // Returns whether the next message is from the user and contains the same results.
  [[nodiscard]] bool isAnsweredAfter(const ChatMessage& message, const Node& node) const {
    const std::size_t place = node.depth + 1;
    if (place >= tree_.path().size()) return false;
    const std::vector<AnsweredCall>& after = tree_.node(tree_.path()[place]).answersEarlier;
    return std::ranges::all_of(message.results, [&](const CallResult& result) {
      return std::ranges::any_of(after, [&](const AnsweredCall& each) {
        return each.callId == result.callId && each.contentHash == result.contentHash;
      });
    });
  }

  // A message that was passed on before its calls were answered comes again with results. New results continue the
  // message. When a call already has a different result, the new results become a sibling of that.
  void addLateResults(const Record& record, const ChatMessage& message, std::size_t number, Builder& out) {
    const Node& node = tree_.node(number);
    std::vector<CallResult> added;
    bool isOther = false;
    for (const CallResult& result : message.results) {
      const auto known = std::ranges::find(node.answers, result.callId, &AnsweredCall::callId);
      if (known == node.answers.end()) added.push_back(result);
      isOther |= known != node.answers.end() && known->contentHash != result.contentHash;
    }
    if ((added.empty() && !isOther) || isAnsweredAfter(message, node)) return;
    const std::string usual = node.first + ":results";
    const std::string id = node.answers.empty() ? usual : fmt::format("{}:{}.{}", usual, record.offset, tree_.size());
    const std::string parent = isOther ? node.first : node.last;
    Place place;
    place.id = id;
    place.parent = parent;
    place.timestamp = message.timestamp;
    out.message(record, place, Dialect::Gemini, resultsMessage(isOther ? message.results : added));
    std::vector<AnsweredCall> answers = node.answers;
    for (const CallResult& result : message.results) {
      const auto known = std::ranges::find(answers, result.callId, &AnsweredCall::callId);
      known == answers.end() ? answers.push_back({result.callId, result.contentHash})
                             : void(known->contentHash = result.contentHash);
    }
    tree_.addAnswers(number, std::move(answers), id);
    hasEmitted_ = true;
  }

  void remember(Node node) {
    hasEmitted_ = true;
    tree_.add(std::move(node));
  }

  // Returns the message that the next one continues; kRoot for none.
  [[nodiscard]] std::size_t lastNode() const { return tree_.path().empty() ? kRoot : tree_.path().back(); }

  ChatTree tree_;
  std::vector<HeldRecord> held_;
  std::size_t versionsEnd_ = 0;  // number of lines in held_ up to the last version of the message
  std::size_t heldBytes_ = 0;
  std::string heldId_;
  bool hasEmitted_ = false;
};

}  // namespace

std::unique_ptr<Reader> makeReader() {
  return std::make_unique<GeminiReader>();
}

}  // namespace bough::transcript::gemini_cli
