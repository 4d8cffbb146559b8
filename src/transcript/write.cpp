// Writes a transcript: copies the lines that the agent wrote itself, and lets the agent's writer write the others.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"
#include "transcript/carrier_lines.h"
#include "transcript/model/agent.h"
#include "transcript/model/carrying.h"
#include "transcript/model/clean_line.h"
#include "transcript/model/conversion.h"
#include "transcript/model/facts.h"
#include "transcript/model/ids.h"
#include "transcript/model/items.h"
#include "transcript/model/origin.h"

namespace bough {
namespace {

using namespace transcript;

constexpr std::size_t kNone = EntryTree::kNone;

// Another text for a member; none when it stays.
using Change = std::function<std::optional<std::string>(const std::string& text)>;

// A line with a member of that name changed: its own, and that of its payload.
std::string withMember(std::string line, std::string_view name, const Change& change) {
  for (const bool inPayload : {false, true}) {
    const std::string_view object = inPayload ? json::findMember(line, "payload").value_or("") : std::string_view(line);
    const auto member = json::findMember(object, name);
    const auto text = member ? json::decodeString(*member) : std::nullopt;
    const auto now = text ? change(*text) : std::nullopt;
    if (!now) continue;
    const auto at = static_cast<std::size_t>(member->data() - line.data());
    line.replace(at, member->size(), json::quoted(*now));
  }
  return line;
}

bool isAdapted(const WriteTranscriptOptions& options) {
  return !options.movedFrom.empty() || !options.renamedFrom.empty();
}

// The agent's own lines for a project that moved and a session that has another id.
std::string adapted(std::string_view lines, const WriteTranscriptOptions& options) {
  const std::string& folder = options.movedFrom;
  const Change move = [&](const std::string& cwd) -> std::optional<std::string> {
    if (folder.empty() || (cwd != folder && !cwd.starts_with(folder + "/"))) return std::nullopt;
    return options.facts.cwd + cwd.substr(folder.size());
  };
  const Change rename = [&](const std::string& id) -> std::optional<std::string> {
    return options.renamedFrom.empty() || id != options.renamedFrom ? std::nullopt
                                                                    : std::optional(options.facts.sessionId);
  };
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    std::string line = withMember(std::string(lines.substr(0, end)), "cwd", move);
    for (const std::string_view name : {"sessionId", "session_id", "id"}) {
      line = withMember(std::move(line), name, rename);
    }
    out += line;
    lines.remove_prefix(end);
  }
  return out;
}

// A clean copy begins with the header, wherever that was. False when the file has lost it.
bool bringHeaderFirst(const std::vector<Entry>& entries, const Agent& agent, std::vector<std::size_t>& order) {
  if (agent.isHeader == nullptr) return true;
  const auto found = std::ranges::find_if(order, [&](std::size_t place) {
    const auto origin = originOf(entries[place]);
    const auto line = origin && origin->agent == agent.name ? lineOf(entries[place]) : std::nullopt;
    return line && agent.isHeader(cleanLines(*line, *origin, agent));
  });
  if (found == order.end()) return false;
  std::rotate(order.begin(), found, found + 1);
  return true;
}

bool isTalk(const Entry& entry) {
  return isConversation(entryKind(entry.type));
}

// Every part of an answer says what the whole answer cost. `written`: ids of the answers so far.
bool isMoreOfAnswer(const Entry& entry, std::unordered_set<std::string>& written) {
  const auto message = normalizeEntry(entry);
  const std::string id = message && message->usage ? message->id.decode() : std::string();
  return !id.empty() && !written.insert(id).second;
}

// Which entries can be copied, by their place: those of one record together, or none of them.
template <typename IsOwn>
std::vector<bool> ownRecords(const std::vector<Entry>& entries, const IsOwn& isOwn) {
  std::vector<bool> own(entries.size());
  for (std::size_t begin = 0; begin < entries.size();) {
    const auto origin = originOf(entries[begin]);
    bool areOwn = isOwn(begin);
    std::size_t end = begin + 1;
    for (; origin && end < entries.size(); ++end) {
      const auto next = originOf(entries[end]);
      if (!next || next->sizeBytes > 0 || next->at != origin->at || next->agent != origin->agent) break;
      areOwn = isOwn(end) && areOwn;
    }
    for (; begin < end; ++begin) own[begin] = areOwn;
  }
  return own;
}

class TranscriptWriting {
 public:
  TranscriptWriting(const std::vector<Entry>& entries, const WriteTranscriptOptions& options, const Agent& agent,
                    const std::function<Result<void>(std::string_view)>& out)
      : entries_(entries),
        options_(options),
        agent_(agent),
        writer_(agent.makeWriter()),
        out_(out),
        tree_(entries),
        carrying_(entries, tree_, !options.clean && !options.bare),
        carriers_(entries, agent) {}

  Result<WrittenTranscript> run() {
    if (options_.clean) {
      const auto own = ownRecords(entries_, [&](std::size_t place) { return isOwn(place); });
      for (std::size_t i = 0; i < own.size(); ++i) own_[i] = own[i] ? Known::Yes : Known::No;
    }
    BOUGH_TRY(choose());
    if (head_ == kNone && !beginsWithCopy()) return fail(ErrorCode::InvalidArgument, "the session has no conversation");
    messages_.emplace(entries_, tree_, leavesToConvert(), agent_.dialect, done_.report);
    std::string text;
    if (!beginsWithCopy() || (options_.clean && !bringHeaderFirst(entries_, agent_, order_))) {
      TranscriptFacts facts = options_.facts;
      if (facts.created.empty() && !order_.empty()) facts.created = entries_[order_.front()].timestamp;
      writer_->begin(facts, text);
    }
    const std::unordered_set<std::size_t> chosen(order_.begin(), order_.end());
    std::size_t seen = 0;
    const auto waitUntil = [&](std::size_t end) {
      for (; seen < end; ++seen) {
        if (!options_.branchOnly && !chosen.contains(seen)) carrying_.wait(seen);
      }
    };
    for (const std::size_t place : order_) {
      waitUntil(place);
      write(place, text);
      BOUGH_TRY(flush(text));
    }
    waitUntil(entries_.size());
    messages_->finish();
    const bool headMoved = head_ != fileHead_;
    done_.sameBytes = whole_ && done_.verbatim == done_.entries && !headMoved && !skippedLine_ && beginsWithCopy();
    std::string lines;
    if (!done_.sameBytes) writer_->end(head_ == kNone ? std::string() : standIn(head_), lines);
    // Programs look for names at the very end, so the last message carries what is left.
    if (carrying_.holds()) text += carrying_.take(/*last=*/true);
    hold(std::move(lines), kNone, text);
    text += carrying_.take(/*last=*/true);
    BOUGH_TRY(flush(text));
    done_.carried = carrying_.count();
    done_.sameBytes = done_.sameBytes && !isAdapted(options_);
    for (const std::string& field : writer_->notHeld) addLossy(field);
    nameWhatIsLeftOut(chosen);
    return std::move(done_);
  }

 private:
  // Which entries are written: the whole log where the format holds a tree or where there is only one branch.
  Result<void> choose() {
    head_ = options_.headId.empty() ? tree_.head() : tree_.find(options_.headId);
    if (!options_.headId.empty() && head_ == kNone) {
      return fail(ErrorCode::NotFound, fmt::format("no entry {} in the conversation", options_.headId), "");
    }
    path_ = head_ == kNone ? std::vector<std::size_t>() : tree_.path(head_);
    if (const std::size_t shared = tree_.find(options_.facts.parentEntryId); shared != kNone && isOwn(shared)) {
      const auto inherited = tree_.path(shared);
      inherited_.insert(inherited.begin(), inherited.end());
    }
    const bool oneBranch = std::cmp_equal(path_.size(), std::ranges::count_if(entries_, isTalk));
    fileHead_ = findFileHead(oneBranch);
    // The last entry in the log is not always the one that the agent left off at.
    if (options_.headId.empty() && !oneBranch && fileHead_ != kNone && isOwn(head_) && !hasHeadEntry()) {
      head_ = fileHead_;
      path_ = tree_.path(head_);
    }
    whole_ = oneBranch || (!options_.branchOnly && (agent_.tree || continuesFile()));
    copies_ = whole_ || agent_.tree;
    const std::unordered_set<std::size_t> chosen(path_.begin(), path_.end());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const bool isName = (entries_[i].type == entry_type::kLabel || entries_[i].type == entry_type::kSessionInfo) &&
                          !holdsFacts(entries_[i]);
      const bool wanted = isTalk(entries_[i]) ? chosen.contains(i) || (whole_ && (agent_.tree || isOwn(i)))
                                              : whole_ && (isOwn(i) || isName);
      if (wanted) order_.push_back(i);
      if (!wanted || entries_[i].type != entry_type::kCompactionSummary) continue;
      if (json::findMember(entries_[i].payload, "summaryAfterKept") != "true") continue;
      firstKept_.insert(json::findString(entries_[i].payload, "firstKeptEntryId").value_or(""));
    }
    // The end of a file that was being written is part of it only as long as nothing came after it.
    const auto isOld = [&](std::size_t i) {
      const auto origin = originOf(entries_[i]);
      return origin && origin->torn && i != lastOwn();
    };
    std::erase_if(order_, isOld);
    if (whole_) sortOwnLines();
    const auto lastTalk =
        std::ranges::find_if(order_.rbegin(), order_.rend(), [&](std::size_t i) { return isTalk(entries_[i]); });
    const bool endsWithHead = lastTalk != order_.rend() && *lastTalk == head_;
    if (agent_.headLast && head_ != fileHead_ && !endsWithHead) moveBranchToEnd();
    carrying_.setBranch(path_);
    return {};
  }

  // Branches and labels that are not written at all.
  void nameWhatIsLeftOut(const std::unordered_set<std::size_t>& chosen) {
    for (const std::size_t leaf : tree_.leaves()) {
      if (!chosen.contains(leaf)) addLossy("branch");
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].type == entry_type::kLabel && !chosen.contains(i)) addLossy("label");
    }
  }

  // The agent's own line of an entry, as it goes into the file.
  std::optional<std::string> ownLine(std::size_t place) {
    const CarrierLines::Line* carries = carriers_.find(place);
    const bool standsElsewhere = carries == nullptr && isCarried(place);
    if (standsElsewhere || inherited_.contains(place)) return "";  // in another line, in another file
    auto line = lineOf(entries_[place]);
    if (line && isAdapted(options_)) line = adapted(*line, options_);
    if (!line || carries == nullptr) return line;
    // What a redaction hides is in the line, too.
    if (carries->ownPlace != kNone && entries_[carries->ownPlace].redacted) return std::nullopt;
    return withCarried(*line, carries->entries, carries->own);
  }

  [[nodiscard]] bool isCarried(std::size_t place) const { return carriers_.carrierOf(place) != kNone; }

  // Text of lines that wait for what they carry.
  void hold(std::string lines, std::size_t place, std::string& text) {
    if (lines.empty()) return;
    text += carrying_.take();
    // A line that was cut short must not swallow the next one.
    if (text.empty() ? !lastByteIsLineEnd_ : text.back() != '\n') text += '\n';
    carrying_.hold(std::move(lines), place);
  }

  [[nodiscard]] bool hasHeadEntry() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.type == entry_type::kHead; });
  }

  // Whether the branch goes on where the agent's own lines leave it: then all of them are copied, with the branches
  // that only they hold.
  [[nodiscard]] bool continuesFile() {
    const auto last = std::ranges::find_if(path_.rbegin(), path_.rend(), [&](std::size_t i) { return isOwn(i); });
    return last != path_.rend() && *last == fileHead_;
  }

  // The entry that the agent continues from when it reads its own lines again; kNone when there are none.
  [[nodiscard]] std::size_t findFileHead(bool oneBranch) {
    std::string bytes;
    std::size_t last = kNone;
    std::vector<std::size_t> lines;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!isOwn(i) || inherited_.contains(i)) continue;
      if (isTalk(entries_[i])) last = i;
      if (hasOwnLine(i)) lines.push_back(i);
    }
    if (!oneBranch) {
      for (const std::size_t line : inFileOrder(std::move(lines))) bytes += ownLine(line).value_or("");
    }
    if (oneBranch || last == kNone) return last;
    const auto report = readBytes(agent_, bytes, [](Entry&&) -> Result<void> { return {}; });
    const std::size_t head = report ? tree_.find(report->headId) : kNone;
    return head == kNone ? last : head;
  }

  // Lines that went to another agent and came back may be stored in another order than the agent's. Where they are a
  // whole file, each has its place in it.
  [[nodiscard]] std::vector<std::size_t> inFileOrder(std::vector<std::size_t> places) const {
    std::unordered_map<std::size_t, std::uint64_t> offsets;
    std::map<std::uint64_t, std::uint64_t> sizes;
    for (const std::size_t place : places) {
      const auto origin = originOf(entries_[place]);
      offsets[place] = origin->at;
      if (origin->sizeBytes > 0 && !sizes.emplace(origin->at, origin->sizeBytes).second) return places;
    }
    std::uint64_t end = 0;
    for (const auto& [at, size] : sizes) {
      if (at != end) return places;
      end += size;
    }
    std::ranges::stable_sort(places, {}, [&](std::size_t place) { return offsets[place]; });
    return places;
  }

  [[nodiscard]] bool hasOwnLine(std::size_t place) const {
    if (isCarried(place) || inherited_.contains(place)) return false;
    const auto origin = originOf(entries_[place]);
    return origin && origin->agent == agent_.name;
  }

  void sortOwnLines() {
    std::vector<std::size_t> lines;
    for (const std::size_t place : order_) {
      if (hasOwnLine(place)) lines.push_back(place);
    }
    lines = inFileOrder(std::move(lines));
    auto next = lines.begin();
    for (std::size_t& place : order_) {
      if (hasOwnLine(place)) place = *next++;
    }
  }

  // What comes after the last fork on the branch is written last: some readers continue from the end of the file.
  void moveBranchToEnd() {
    const std::unordered_set<std::size_t> onPath(path_.begin(), path_.end());
    std::size_t forkAt = 0;  // on the path: how many entries others continue from, too
    for (const std::size_t i : order_) {
      if (onPath.contains(i) || tree_.parent(i) == kNone) continue;
      const auto parent = std::ranges::find(path_, tree_.parent(i));
      if (parent != path_.end()) forkAt = std::max(forkAt, static_cast<std::size_t>(parent - path_.begin()) + 1);
    }
    const std::unordered_set<std::size_t> tail(path_.begin() + static_cast<std::ptrdiff_t>(forkAt), path_.end());
    std::ranges::stable_partition(order_, [&](std::size_t i) { return !tail.contains(i); });
  }

  [[nodiscard]] bool isCopied(std::size_t place) { return copies_ && isOwn(place); }

  [[nodiscard]] bool isOwn(std::size_t place) {
    Known& known = own_[place];
    if (known == Known::Nothing) {
      const std::size_t parent = tree_.parent(place);
      const Entry* continued = parent == kNone ? nullptr : &entries_[parent];
      const bool isLine = isCarried(place) || isLineOf(agent_, entries_[place], continued, options_.clean);
      known = isLine ? Known::Yes : Known::No;
    }
    return known == Known::Yes;
  }

  [[nodiscard]] std::size_t lastOwn() {
    if (lastOwn_ != kNone) return lastOwn_;
    for (std::size_t i = entries_.size(); i-- > 0 && lastOwn_ == kNone;) {
      if (isOwn(i)) lastOwn_ = i;
    }
    return lastOwn_;
  }

  // The ends of the branches that hold more than the agent's own lines.
  [[nodiscard]] std::vector<std::size_t> leavesToConvert() {
    std::vector<bool> isMixed(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::size_t parent = tree_.parent(i);
      isMixed[i] = (parent != kNone && isMixed[parent]) || !isCopied(i);
    }
    std::vector<std::size_t> leaves = whole_ ? tree_.leaves() : std::vector{head_};
    std::erase_if(leaves, [&](std::size_t leaf) { return leaf == kNone || !isMixed[leaf]; });
    return leaves;
  }

  // Names and bookkeeping of others leave no line at the beginning.
  [[nodiscard]] bool beginsWithCopy() {
    if (!whole_) return false;
    const auto first = std::ranges::find_if(order_, [&](std::size_t i) { return isCopied(i) || isTalk(entries_[i]); });
    return first != order_.end() && isCopied(*first);
  }

  void write(std::size_t place, std::string& text) {
    const Entry& entry = entries_[place];
    Item item{.entry = &entry, .parentId = {}, .messages = {}};
    if (const std::size_t parent = tree_.parent(place); parent != kNone) item.parentId = standIn(parent);
    item.kept = keptBy(entries_, tree_, place);
    std::erase_if(item.kept, [&](const std::string& id) { return standIns_.contains(id); });
    item.isKept = isKept_[place];
    item.beginsKept = firstKept_.contains(entry.id);
    if (isCopied(place)) {
      messages_->skip(place);
      return copy(place, item, text);
    }
    if (entry.redacted && isTalk(entry)) {
      standIns_[entry.id] = item.parentId;
      addLossy("redacted");
      return;
    }
    item.messages = messages_->take(place);
    item.isMoreOfAnswer = !item.messages.empty() && isMoreOfAnswer(entry, answers_);
    std::string lines;
    writer_->item(item, lines);
    // Entries after one that left nothing continue from what that one continues.
    if (lines.empty()) {
      standIns_[entry.id] = item.parentId;
      carrying_.wait(place);
    } else {
      ++done_.entries;
      hold(std::move(lines), place, text);
    }
  }

  void copy(std::size_t place, const Item& item, std::string& text) {
    ++done_.entries;
    ++done_.verbatim;
    carrying_.isThere(place);
    text += carrying_.take();
    const std::size_t carrier = carriers_.carrierOf(place);
    if (carrier != kNone && carriers_.find(carrier)->ownPlace == place) {
      writer_->copied(item, lineOf(entries_[carrier]).value_or(""));
      return;
    }
    const auto line = ownLine(place);
    const auto origin = originOf(entries_[place]);
    const CarrierLines::Line* carries = carriers_.find(place);
    const bool isWhole = carries == nullptr || carries->isWhole;
    if (carrier == kNone) skippedLine_ |= origin->hasLine ? !line || !isWhole : origin->sizeBytes > 0;
    std::string bytes = options_.clean ? cleanLines(line.value_or(""), *origin, agent_) : line.value_or("");
    if (options_.clean && origin->fixed) bytes = withParent(std::move(bytes), agent_.parentMember, item.parentId);
    writer_->copied(item, bytes);
    if (bytes.empty()) return;
    // A record that broke off must not swallow a line that did not follow it in the agent's file.
    const bool atLineEnd = text.empty() ? lastByteIsLineEnd_ : text.back() == '\n';
    if (!atLineEnd && origin->at != copiedEnd_) text += '\n';
    copiedEnd_ = origin->at + origin->sizeBytes;
    text += bytes;
  }

  std::string standIn(std::size_t place) const {
    const auto found = standIns_.find(entries_[place].id);
    return found == standIns_.end() ? entries_[place].id : found->second;
  }

  Result<void> flush(std::string& text) {
    if (text.empty()) return {};
    lastByteIsLineEnd_ = text.back() == '\n';
    BOUGH_TRY(out_(text));
    text.clear();
    return {};
  }

  void addLossy(const std::string& field) {
    auto& fields = done_.report.lossyFields;
    const auto found = std::ranges::find(fields, field);
    if (found == fields.end()) {
      fields.push_back(field);
      done_.report.lossyCounts.push_back(1);
    } else {
      ++done_.report.lossyCounts[static_cast<std::size_t>(found - fields.begin())];
    }
  }

  const std::vector<Entry>& entries_;
  const WriteTranscriptOptions& options_;
  const Agent& agent_;
  std::unique_ptr<Writer> writer_;
  const std::function<Result<void>(std::string_view)>& out_;
  EntryTree tree_;
  Carrying carrying_;
  CarrierLines carriers_;
  std::vector<bool> isKept_ = allKept(entries_, tree_);
  enum class Known : std::uint8_t { Nothing, No, Yes };
  std::vector<Known> own_ = std::vector<Known>(entries_.size(), Known::Nothing);  // what isOwn() has answered
  WrittenTranscript done_;
  std::vector<std::size_t> path_;   // the branch of the head
  std::vector<std::size_t> order_;  // places of what is written
  std::optional<MessageConversion> messages_;
  std::unordered_map<std::string, std::string> standIns_;
  std::size_t head_ = kNone;
  std::size_t lastOwn_ = kNone;
  std::unordered_set<std::size_t> inherited_;  // entries that the agent has in the file that this one continues
  std::unordered_set<std::string> firstKept_;  // of the summaries that come after what they keep
  std::unordered_set<std::string> answers_;    // ids of those that were written with what they cost
  std::size_t fileHead_ = kNone;
  bool whole_ = false;
  bool copies_ = false;  // the agent's own lines are copied
  bool skippedLine_ = false;
  bool lastByteIsLineEnd_ = true;
  std::uint64_t copiedEnd_ = 0;  // where the line that was copied last ends in the agent's file
};

}  // namespace

Result<WrittenTranscript> writeTranscript(const std::vector<Entry>& entries, const WriteTranscriptOptions& options,
                                          const std::function<Result<void>(std::string_view)>& out) {
  const Agent* agent = findAgent(options.agent);
  if (agent == nullptr) {
    return fail(ErrorCode::InvalidArgument, fmt::format("bough knows no agent \"{}\"", options.agent), "");
  }
  if (agent->makeWriter == nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("transcripts of {} are only read", options.agent), "");
  }
  return TranscriptWriting(entries, options, *agent, out).run();
}

}  // namespace bough
