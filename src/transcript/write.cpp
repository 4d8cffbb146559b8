// Writes a transcript: copies the lines that the agent wrote itself, and lets the agent's writer write the others.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/bytes/flat_map.h"
#include "base/json/json_scan.h"
#include "base/model/unreadable.h"
#include "base/try.h"
#include "transcript/adapted_lines.h"
#include "transcript/carrier_lines.h"
#include "transcript/line_table.h"
#include "transcript/loss_report.h"
#include "transcript/model/agent.h"
#include "transcript/model/carried.h"
#include "transcript/model/carrier_writer.h"
#include "transcript/model/clean_line.h"
#include "transcript/model/conversion.h"
#include "transcript/model/facts.h"
#include "transcript/model/ids.h"
#include "transcript/model/items.h"
#include "transcript/model/origin.h"
#include "transcript/redacted_placeholders.h"

namespace bough {
namespace {

using namespace transcript;

constexpr std::size_t kNone = EntryTree::kNone;

// A label, a title or bookkeeping.
bool isLabelOrBookkeeping(const EntryList& entries, std::size_t place) {
  if (entries.kind(place) == EntryKind::Label) return true;
  return entries.kind(place) == EntryKind::SessionInfo && !holdsFacts(*entries.at(place));
}

// Returns whether a line of the agent is copied unchanged into a clean copy.
bool canBeCopied(const EntryList& entries, const Agent& agent, std::size_t place) {
  const std::size_t parent = entries.parent(place);
  const EntryPin continued = parent == kNone ? nullptr : entries.at(parent);
  return isLineOf(agent, *entries.at(place), continued.get(), /*clean=*/true);
}

// Every part of an answer states the cost of the whole answer. `written`: hashes of the ids of the answers so far.
bool isMoreOfAnswer(const Entry& entry, NumberSet& written) {
  const auto message = normalizeEntry(entry);
  const std::string id = message && message->usage ? message->id.decode() : std::string();
  return !id.empty() && !written.insert(hashOf(id));
}

// Returns, by place, which of `count` entries are among `places`.
std::vector<bool> asSet(std::size_t count, std::span<const std::size_t> places) {
  std::vector<bool> set(count);
  for (const std::size_t place : places) set[place] = true;
  return set;
}

class TranscriptWriting {
 public:
  TranscriptWriting(const EntryList& entries, const WriteTranscriptOptions& options, const Agent& agent,
                    const std::function<Result<void>(std::string_view)>& out)
      : entries_(entries),
        options_(options),
        agent_(agent),
        writer_(agent.makeWriter()),
        out_(out),
        tree_(entries),
        carrierWriter_(entries, tree_, !options.clean && !options.bare),
        carriers_(entries, agent),
        lines_(entries, agent),
        losses_(entries, agent, options.keepBeside != nullptr, result_.report) {}

  Result<WrittenTranscript> run() {
    findCopyable();
    BOUGH_TRY(chooseEntries());
    BOUGH_TRY(entries_.check());
    if (head_ == kNone && !beginsWithCopy()) return tree_.noHead();
    writer_->keepsBeside = options_.keepBeside != nullptr;
    writer_->sessionId = options_.facts.sessionId;
    writer_->cwd = options_.facts.cwd;
    messages_.emplace(entries_, tree_, leavesToConvert(), agent_.dialect, result_.report, head_);
    std::string text;
    if (!beginsWithCopy() || (options_.clean ? !moveHeaderToFront(entries_, agent_, order_) : shape_.lacksHeader)) {
      TranscriptFacts facts = options_.facts;
      if (facts.created.empty() && !order_.empty()) facts.created = entries_.at(order_.front())->timestamp;
      writer_->begin(facts, text);
    }
    if (!beginsWithCopy()) addSession();
    const std::vector<bool> chosen = asSet(entries_.size(), order_);
    std::size_t seen = 0;
    const auto addUntil = [&](std::size_t end) {
      for (; seen < end; ++seen) {
        if (!options_.branchOnly && !chosen[seen]) carrierWriter_.addWithoutLine(seen);
      }
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
      addUntil(order_[i]);
      writeEntry(order_[i], std::span(order_).subspan(i + 1), text);
      BOUGH_TRY(flush(text));
    }
    addUntil(entries_.size());
    messages_->convertRest();
    result_.sameBytes = shape_.isWhole && result_.verbatim == result_.entries && head_ == fileHead_ && !skippedLine_ &&
                        beginsWithCopy();
    std::string lines;
    if (head_ != kNone && carrierWriter_.isEnabled()) writer_->headEntryId = entries_.id(head_);
    if (!result_.sameBytes) writer_->end(head_ == kNone ? std::string() : writtenId(head_), lines);
    // Programs look for names at the very end of a file, so the last message carries what is left.
    if (carrierWriter_.hasLines()) text += carrierWriter_.takeLines(/*last=*/true);
    holdLines(std::move(lines), kNone, text);
    text += carrierWriter_.takeLines(/*last=*/true);
    BOUGH_TRY(flush(text));
    result_.carried = carrierWriter_.count();
    result_.sameBytes = result_.sameBytes && !isAdapted(options_) && !shape_.leavesSubagent;
    result_.pastBytes = file_.pastBytes;
    for (const std::string& field : writer_->lossyFields) losses_.add(field);
    for (const std::size_t leaf : tree_.leaves()) {
      if (!chosen[leaf]) losses_.add("branch");
    }
    losses_.addWithoutLine();
    return std::move(result_);
  }

 private:
  // Chooses the entries to write: the whole log when the format can hold a tree or there is only one branch.
  Result<void> chooseEntries() {
    head_ = options_.headId.empty() ? tree_.head() : tree_.find(options_.headId);
    if (!options_.headId.empty() && head_ == kNone) {
      return fail(ErrorCode::NotFound, fmt::format("no entry {} in the conversation", options_.headId), "");
    }
    path_ = head_ == kNone ? std::vector<std::size_t>() : tree_.path(head_);
    if (const std::size_t shared = tree_.find(options_.facts.parentEntryId);
        shared != kNone && (isOwn(shared) || needsPlaceholder_[shared])) {
      inherited_ = asSet(entries_.size(), tree_.path(shared));
    }
    const auto isInConversation = [&](std::size_t i) { return entries_.isInConversation(i); };
    std::size_t count = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) count += isInConversation(i) ? 1U : 0U;
    const bool oneBranch = path_.size() == count;
    fileHead_ = findFileHead(oneBranch);
    // The last entry in the log is not always where the agent left off.
    if (options_.headId.empty() && !oneBranch && fileHead_ != kNone && isOwn(head_) && !hasHeadEntry(entries_)) {
      head_ = fileHead_;
      path_ = tree_.path(head_);
    }
    const bool isTree = agent_.canHoldTree && lines_.canBranch();
    shape_.isWhole = oneBranch || (!options_.branchOnly && (isTree || continuesFile()));
    shape_.copies = shape_.isWhole || isTree;
    const std::vector<bool> chosen = asSet(entries_.size(), path_);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const bool wanted = isInConversation(i) ? chosen[i] || (shape_.isWhole && (isTree || isOwn(i)))
                                              : shape_.isWhole && (isOwn(i) || isLabelOrBookkeeping(entries_, i));
      if (wanted) order_.push_back(i);
      if (!wanted || entries_.kind(i) != EntryKind::CompactionSummary) continue;
      const EntryPin summary = entries_.at(i);
      if (json::findMember(summary->payload, "summaryAfterKept") != "true") continue;
      firstKept_.insert(json::findString(summary->payload, "firstKeptEntryId").value_or(""));
    }
    // The torn end of a file that was being written belongs to it only when nothing came after it.
    const std::size_t last = lastOwnLine();
    std::erase_if(order_, [&](std::size_t i) { return lines_[i].isTorn && i != last; });
    if (shape_.isWhole) sortOwnLines();
    const auto lastInConversation = std::ranges::find_if(order_.rbegin(), order_.rend(), isInConversation);
    const bool endsWithHead = lastInConversation != order_.rend() && *lastInConversation == head_;
    if (agent_.continuesFromEnd && head_ != fileHead_ && !endsWithHead) moveBranchToEnd();
    carrierWriter_.setBranch(path_);
    return {};
  }

  // Lets the file carry what the session is, and names what of it the agent's lines do not say.
  void addSession() {
    const std::string time = order_.empty() ? options_.facts.created : entries_.at(order_.front())->timestamp;
    carrierWriter_.addSession(carriedSessionEntry(options_.facts, time));
    losses_.addSession(options_.facts);
  }

  // Returns the agent's own line of an entry, as it goes into the file.
  std::optional<std::string> ownLine(std::size_t place) {
    const CarrierLines::Line* carries = carriers_.find(place);
    const bool isElsewhere = carries == nullptr && carriers_.isCarried(place);
    if (isElsewhere || inherited_[place]) return "";  // it is in another line or in another file
    auto line = lineOf(*entries_.at(place));
    if (line && isAdapted(options_)) line = adapted(*line, options_);
    if (line && shape_.leavesSubagent) line = toMainSessionLines(*line, agent_);
    if (!line || carries == nullptr) return line;
    // The line also contains what a redaction hides.
    if (carries->ownPlace != kNone && entries_.isRedacted(carries->ownPlace)) return std::nullopt;
    std::vector<CarriedEntry> cargo;
    for (const std::size_t each : carries->places) cargo.push_back(asStored(entries_.at(each)));
    return withCarried(*line, cargo, carries->own);
  }

  // Appends the lines held so far to `text`, with what they carry, and holds the new lines.
  void holdLines(std::string lines, std::size_t place, std::string& text) {
    if (lines.empty()) return;
    text += carrierWriter_.takeLines();
    // A line that was cut short must not be joined with the next line.
    if (text.empty() ? !file_.endsLine : text.back() != '\n') text += '\n';
    carrierWriter_.setLines(std::move(lines), place);
  }

  // Returns whether the branch continues where the agent's own lines end. Then all of them are copied, with the
  // branches that only they contain.
  [[nodiscard]] bool continuesFile() {
    const auto last = std::ranges::find_if(path_.rbegin(), path_.rend(), [&](std::size_t i) { return isOwn(i); });
    return last != path_.rend() && *last == fileHead_;
  }

  // Returns the entry that the agent continues from when it reads its own lines again; kNone when there are no such
  // lines.
  [[nodiscard]] std::size_t findFileHead(bool oneBranch) {
    std::size_t last = kNone;
    std::size_t noted = kNone;
    std::vector<std::size_t> lines;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_.kind(i) == EntryKind::Head) noted = importedHead(entries_, tree_, i);
      if (!isOwn(i) || inherited_[i]) continue;
      if (entries_.isInConversation(i)) last = i;
      if (entries_.isInConversation(i)) noted = kNone;
      if (hasOwnLine(i)) lines.push_back(i);
    }
    // An entry of another file is not found in these lines.
    if (noted != kNone && inherited_[noted]) return noted;
    if (oneBranch || last == kNone) return last;
    lines = lines_.inFileOrder(std::move(lines));
    LinesSource source(
        [&, next = lines.begin(), parents = CleanParents(agent_)]() mutable -> std::optional<std::string> {
          if (next == lines.end()) return std::nullopt;
          const std::size_t place = *next++;
          std::string bytes = ownLine(place).value_or("");
          // Lines without ids are named by their place in the agent's file.
          if (!options_.clean || agent_.idMember.empty()) return bytes;
          const std::size_t parent = tree_.parent(place);
          return parents.clean(bytes, *entries_.at(place), parent == kNone ? "" : std::string(entries_.id(parent)));
        });
    const auto report =
        readSource(agent_, source, options_.facts.sessionId, [](Entry&&) -> Result<void> { return {}; });
    const std::size_t head = report ? tree_.find(report->headId) : kNone;
    return head == kNone ? last : head;
  }

  [[nodiscard]] bool hasOwnLine(std::size_t place) const {
    return !carriers_.isCarried(place) && !inherited_[place] && lines_[place].isOfTargetAgent;
  }

  void sortOwnLines() {
    std::vector<std::size_t> lines;
    for (const std::size_t place : order_) {
      if (hasOwnLine(place)) lines.push_back(place);
    }
    lines = lines_.inFileOrder(std::move(lines));
    auto next = lines.begin();
    for (std::size_t& place : order_) {
      if (hasOwnLine(place)) place = *next++;
    }
  }

  // Moves what follows the last branch point of the branch to the end, because some readers continue from the end of
  // the file.
  void moveBranchToEnd() {
    const std::vector<bool> onPath = asSet(entries_.size(), path_);
    std::size_t forkAt = 0;  // number of entries on the path up to the last one that other branches also continue
    for (const std::size_t i : order_) {
      if (onPath[i] || tree_.parent(i) == kNone) continue;
      const auto parent = std::ranges::find(path_, tree_.parent(i));
      if (parent != path_.end()) forkAt = std::max(forkAt, static_cast<std::size_t>(parent - path_.begin()) + 1);
    }
    const std::vector<bool> tail = asSet(entries_.size(), std::span(path_).subspan(forkAt));
    std::ranges::stable_partition(order_, [&](std::size_t i) { return !tail[i]; });
  }

  [[nodiscard]] bool isCopied(std::size_t place) { return shape_.copies && isOwn(place); }
  [[nodiscard]] bool isOwn(std::size_t place) const { return own_[place]; }
  // Returns whether the entry is redacted and its line is in the file that this file continues.
  [[nodiscard]] bool isInOtherFile(std::size_t place) const { return inherited_[place] && needsPlaceholder_[place]; }

  // Finds the entries that the agent wrote itself.
  void findCopyable() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      own_[i] =
          carriers_.isCarried(i) || (lines_[i].isSameFormat && (!options_.clean || canBeCopied(entries_, agent_, i)));
    }
    // A line that several entries came from contains the content of all of them.
    if (entries_.hasHidden()) own_ = lines_.wholeRecords(own_);
    shape_.leavesSubagent = leavesSubagent(entries_, agent_, options_);
    // In a fork, lines outside the conversation are missing. Lines with ids, which form a tree, need none of these
    // except a header and existing parents.
    const bool mayLack = !entries_.hasHidden() && options_.facts.parentEntryId.empty();
    const auto gap = mayLack ? lines_.firstGap() : std::nullopt;
    shape_.lacksHeader = gap && !lines_.hasHeader(entries_, agent_);
    shape_.relinks = gap || entries_.hasHidden();
    if (shape_.lacksHeader && !(agent_.canHoldTree && lines_.canBranch())) own_.assign(entries_.size(), false);
    if (gap) own_ = lines_.copyableFromParts(own_, entries_, *gap);
    needsPlaceholder_ = placesNeedingPlaceholder(entries_, tree_, own_);
    if (!options_.clean) return;
    for (const std::size_t place : namedWithoutId(entries_, agent_)) own_[place] = false;
    own_ = lines_.wholeRecords(own_);
  }

  [[nodiscard]] std::size_t lastOwnLine() const {
    std::size_t last = entries_.size();
    while (last > 0 && (!isOwn(last - 1) || lines_[last - 1].sizeBytes == 0)) --last;
    return last == 0 ? kNone : last - 1;
  }

  // Returns the ends of the branches that contain more than the agent's own lines.
  [[nodiscard]] std::vector<std::size_t> leavesToConvert() {
    std::vector<bool> isMixed(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::size_t parent = tree_.parent(i);
      const bool hasPlaceholder = needsPlaceholder_[i] && entries_.isHidden(i);
      isMixed[i] = (parent != kNone && isMixed[parent]) || !(hasPlaceholder || isCopied(i));
    }
    std::vector<std::size_t> leaves = shape_.isWhole ? tree_.leaves() : std::vector{head_};
    std::erase_if(leaves, [&](std::size_t leaf) { return leaf == kNone || !isMixed[leaf]; });
    return leaves;
  }

  // Labels, titles and bookkeeping of other agents produce no line at the beginning.
  [[nodiscard]] bool beginsWithCopy() {
    if (!shape_.isWhole) return false;
    const auto first =
        std::ranges::find_if(order_, [&](std::size_t i) { return isCopied(i) || entries_.isInConversation(i); });
    return first != order_.end() && (isCopied(*first) || isInOtherFile(*first));
  }

  // `after`: the places that are written after it.
  void writeEntry(std::size_t place, std::span<const std::size_t> after, std::string& text) {
    const EntryPin pin = entries_.at(place);
    const Entry& entry = *pin;
    Item item{.entry = &entry, .parentId = {}, .messages = {}};
    if (const std::size_t parent = tree_.parent(place); parent != kNone) item.parentId = writtenId(parent);
    item.kept = keptBy(entries_, tree_, place);
    std::erase_if(item.kept, [&](const std::string& id) { return replacementIds_.contains(id); });
    item.isKept = isKept_[place];
    item.beginsKept = firstKept_.contains(entry.id);
    if (isCopied(place)) {
      messages_->skip(place);
      return copyLine(place, item, text);
    }
    if (entry.redacted || isUnreadable(entry)) skippedLine_ = true;
    if (isInOtherFile(place)) return;
    Entry said;
    item.replacesRedactedLine = needsPlaceholder_[place];
    if (entry.redacted && entries_.isInConversation(place)) {
      const EntryList::Hidden* hidden = entries_.hidden(place);
      losses_.add(hidden != nullptr && hidden->isDamaged ? "unreadable" : "redacted");
    }
    if (entries_.isInConversation(place) && entries_.isHidden(place)) {
      if (!item.replacesRedactedLine) {
        replacementIds_[entry.id] = item.parentId;
        return;
      }
      said = entry;
      said.type = entry_type::kMessage;
      item.entry = &said;
      item.messages = {placeholderMessage(entries_, tree_, place, agent_.dialect)};
    } else {
      item.messages = messages_->takeMessages(place);
      const auto copied = [this](std::size_t next) { return isCopied(next); };
      if (agent_.joinsResults) item.answers = messages_->peekAnswers(item.messages, after, copied);
    }
    item.isAppliedEdit = messages_->edits().isApplied(place);
    item.isMoreOfAnswer = !item.messages.empty() && isMoreOfAnswer(entry, answers_);
    std::string lines;
    writer_->isInEarlierLine = false;
    writer_->item(item, lines);
    if (!lines.empty() || writer_->isInEarlierLine) losses_.markWritten(place, entry, item.isMoreOfAnswer);
    if (options_.clean || shape_.relinks) parents_.addWritten(lines, entry);
    // Entries after an entry without lines continue from the entry before that.
    if (lines.empty()) {
      const bool isMissed = entries_.isInConversation(place) && !writer_->isInEarlierLine && !item.isAppliedEdit &&
                            !messages_->edits().leavesOut(place);
      if (isMissed) ++result_.leftOut;
      replacementIds_[entry.id] = item.parentId;
      carrierWriter_.addWithoutLine(place);
    } else {
      ++result_.entries;
      holdLines(std::move(lines), place, text);
    }
  }

  void copyLine(std::size_t place, const Item& item, std::string& text) {
    ++result_.entries;
    ++result_.verbatim;
    carrierWriter_.markInFile(place);
    losses_.markCopied(place);
    text += carrierWriter_.takeLines();
    const std::size_t carrier = carriers_.carrierOf(place);
    if (carrier != kNone && carriers_.find(carrier)->ownPlace == place) {
      writer_->copied(item, repairUtf8(lineOf(*entries_.at(carrier)).value_or("")));
      return;
    }
    const auto line = ownLine(place);
    const auto origin = originOf(*item.entry);
    if (!origin) return;
    const CarrierLines::Line* carries = carriers_.find(place);
    const bool isWhole = carries == nullptr || carries->isWhole;
    if (carrier == kNone) skippedLine_ |= origin->hasLine ? !line || !isWhole : origin->sizeBytes > 0;
    if (carrier == kNone && !origin->hasLine && origin->sizeBytes > 0) losses_.add("skipped");
    std::string bytes = line.value_or("");
    if (options_.clean) {
      bytes = parents_.clean(bytes, *item.entry, item.parentId);
    } else if (shape_.relinks) {
      bytes = parents_.relinked(bytes, *item.entry, item.parentId);
    }
    writer_->copied(item, repairUtf8(bytes));
    if (bytes.empty()) return;
    // A record that broke off must not be joined with a line that did not follow it in the agent's file.
    const bool atLineEnd = text.empty() ? file_.endsLine : text.back() == '\n';
    if (!atLineEnd && origin->offset != file_.copiedEnd) text += '\n';
    file_.copiedEnd = origin->offset + origin->sizeBytes;
    const bool wasPast = std::exchange(file_.isPast, file_.isPast || origin->offset >= options_.pastOffset);
    if (!wasPast) file_.pastBytes = file_.bytes + text.size() + (file_.isPast ? 0 : bytes.size());
    text += bytes;
  }

  std::string writtenId(std::size_t place) const {
    const std::string id(entries_.id(place));
    const auto found = replacementIds_.find(id);
    return found == replacementIds_.end() ? id : found->second;
  }

  Result<void> flush(std::string& text) {
    BOUGH_TRY(entries_.check());  // do not pass on what was made from an unreadable entry
    for (const Writer::Beside& file : writer_->beside) {
      BOUGH_TRY(options_.keepBeside(file.name, file.bytes));
    }
    writer_->beside.clear();
    if (text.empty()) return {};
    file_.endsLine = text.back() == '\n';
    file_.bytes += text.size();
    BOUGH_TRY(out_(text));
    text.clear();
    return {};
  }

  const EntryList& entries_;
  const WriteTranscriptOptions& options_;
  const Agent& agent_;
  std::unique_ptr<Writer> writer_;
  const std::function<Result<void>(std::string_view)>& out_;
  EntryTree tree_;
  CarrierWriter carrierWriter_;
  CarrierLines carriers_;
  std::vector<bool> isKept_ = allKept(entries_, tree_);
  LineTable lines_;
  CleanParents parents_ = CleanParents(agent_);
  std::vector<bool> own_ = std::vector<bool>(entries_.size());  // by place: the agent wrote it itself
  std::vector<bool> needsPlaceholder_;  // by place: hidden, but it has a line in the agent's file
  WrittenTranscript result_;
  std::vector<std::size_t> path_;   // the branch of the head
  std::vector<std::size_t> order_;  // places of the entries to write
  std::optional<MessageConversion> messages_;
  std::unordered_map<std::string, std::string> replacementIds_;
  std::size_t head_ = kNone;
  std::vector<bool> inherited_ =
      std::vector<bool>(entries_.size());      // entries that the agent has in the file that this file continues
  std::unordered_set<std::string> firstKept_;  // first kept entries of the summaries that come after what they keep
  NumberSet answers_;                          // hashes of the ids of answers that were written with their cost
  std::size_t fileHead_ = kNone;
  struct Shape {
    bool isWhole = false;
    bool copies = false;  // the agent's own lines are copied
    bool leavesSubagent = false;
    bool lacksHeader = false;
    bool relinks = false;  // lines whose parent is missing get another parent
  };
  Shape shape_;
  bool skippedLine_ = false;
  LossReport losses_;
  // What the file contains so far.
  struct FileState {
    bool endsLine = true;
    std::uint64_t copiedEnd = 0;  // where the last copied line ends in the agent's file
    std::uint64_t bytes = 0;
    std::uint64_t pastBytes = 0;  // length of the part that represents the agent's lines before `pastOffset`
    bool isPast = false;
  };
  FileState file_;
};

}  // namespace

Result<WrittenTranscript> writeTranscript(const TranscriptSource& entries, const WriteTranscriptOptions& options,
                                          const std::function<Result<void>(std::string_view)>& out) {
  const Agent* agent = findAgent(options.agent);
  if (agent == nullptr) {
    return fail(ErrorCode::InvalidArgument, fmt::format("bough knows no agent \"{}\"", options.agent), "");
  }
  if (agent->makeWriter == nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("transcripts of {} are only read", options.agent), "");
  }
  return TranscriptWriting(entries.list(), options, *agent, out).run();
}

}  // namespace bough
