// Writes a transcript: copies the lines that the agent wrote itself, and lets the agent's writer write the others.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/model/facts.h"
#include "transcript/model/items.h"
#include "transcript/model/origin.h"

namespace bough {
namespace {

using namespace transcript;

constexpr std::size_t kNone = EntryTree::kNone;

// A line with another folder in place of the old one, or of the beginning of one below it: in its own member `cwd`, or
// in that of its payload.
std::string withFolder(std::string line, const std::string& before, const std::string& now) {
  for (const bool inPayload : {false, true}) {
    const std::string_view object = inPayload ? json::findMember(line, "payload").value_or("") : std::string_view(line);
    const auto member = json::findMember(object, "cwd");
    const auto folder = member ? json::decodeString(*member) : std::nullopt;
    if (!folder || (*folder != before && !folder->starts_with(before + "/"))) continue;
    const auto at = static_cast<std::size_t>(member->data() - line.data());
    line.replace(at, member->size(), json::quoted(now + folder->substr(before.size())));
  }
  return line;
}

class TranscriptWriting {
 public:
  TranscriptWriting(const std::vector<Entry>& entries, const WriteTranscriptOptions& options, const Agent& agent,
                    const std::function<Result<void>(std::string_view)>& out)
      : entries_(entries), options_(options), agent_(agent), writer_(agent.makeWriter()), out_(out), tree_(entries) {}

  Result<WrittenTranscript> run() {
    BOUGH_TRY(choose());
    std::vector<std::size_t> leaves;
    for (const std::size_t leaf : whole_ ? tree_.leaves() : std::vector{head_}) {
      if (leaf != kNone && needsConversion(leaf)) leaves.push_back(leaf);
    }
    messages_ = convertEntries(entries_, tree_, leaves, agent_.dialect, done_.report);
    std::string text;
    if (!beginsWithCopy()) writer_->begin(options_.facts, text);
    for (const std::size_t place : order_) {
      write(place, text);
      BOUGH_TRY(flush(text));
    }
    const bool headMoved = head_ != fileHead_;
    done_.sameBytes = whole_ && done_.verbatim == done_.entries && !headMoved && !skippedLine_ && beginsWithCopy();
    if (!done_.sameBytes) writer_->end(head_ == kNone ? std::string() : standIn(head_), text);
    BOUGH_TRY(flush(text));
    done_.sameBytes = done_.sameBytes && options_.movedFrom.empty();
    for (const std::string& field : writer_->notHeld) addLossy(field);
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
    if (agent_.headLast && head_ != fileHead_) moveBranchToEnd();
    return {};
  }

  [[nodiscard]] bool hasHeadEntry() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.type == entry_type::kHead; });
  }

  static bool isTalk(const Entry& entry) { return isConversation(entryKind(entry.type)); }

  // Whether the branch goes on where the agent's own lines leave it: then all of them are copied, with the branches
  // that only they hold.
  [[nodiscard]] bool continuesFile() const {
    const auto last = std::ranges::find_if(path_.rbegin(), path_.rend(), [&](std::size_t i) { return isOwn(i); });
    return last != path_.rend() && *last == fileHead_;
  }

  // The entry that the agent continues from when it reads its own lines again; kNone when there are none.
  [[nodiscard]] std::size_t findFileHead(bool oneBranch) const {
    std::string bytes;
    std::size_t last = kNone;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!isOwn(i) || inherited_.contains(i)) continue;
      if (isTalk(entries_[i])) last = i;
      if (!oneBranch) bytes += lineOf(entries_[i]).value_or("");
    }
    if (oneBranch || last == kNone) return last;
    const auto report = readBytes(agent_, bytes, [](Entry&&) -> Result<void> { return {}; });
    const std::size_t head = report ? tree_.find(report->headId) : kNone;
    return head == kNone ? last : head;
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

  [[nodiscard]] bool isCopied(std::size_t place) const { return copies_ && isOwn(place); }

  [[nodiscard]] bool isOwn(std::size_t place) const {
    const auto origin = originOf(entries_[place]);
    return origin && origin->agent == agent_.name && !(options_.clean && origin->fixed);
  }

  [[nodiscard]] std::size_t lastOwn() {
    if (lastOwn_ != kNone) return lastOwn_;
    for (std::size_t i = entries_.size(); i-- > 0 && lastOwn_ == kNone;) {
      if (isOwn(i)) lastOwn_ = i;
    }
    return lastOwn_;
  }

  [[nodiscard]] bool needsConversion(std::size_t leaf) const {
    return std::ranges::any_of(tree_.path(leaf), [&](std::size_t place) { return !isCopied(place); });
  }

  [[nodiscard]] bool beginsWithCopy() const { return whole_ && !order_.empty() && isCopied(order_.front()); }

  void write(std::size_t place, std::string& text) {
    const Entry& entry = entries_[place];
    Item item{.entry = &entry, .parentId = {}, .messages = {}};
    if (const std::size_t parent = tree_.parent(place); parent != kNone) item.parentId = standIn(parent);
    item.kept = keptBy(entries_, tree_, place);
    std::erase_if(item.kept, [&](const std::string& id) { return standIns_.contains(id); });
    item.beginsKept = firstKept_.contains(entry.id);
    if (isCopied(place)) {
      ++done_.entries;
      ++done_.verbatim;
      // What the file continues is in another file.
      const auto line = inherited_.contains(place) ? std::optional<std::string>("") : lineOf(entry);
      const auto origin = originOf(entry);
      skippedLine_ |= origin->hasLine ? !line.has_value() : origin->sizeBytes > 0;
      std::string bytes = options_.clean ? cleanLines(line.value_or(""), *origin) : line.value_or("");
      if (!options_.movedFrom.empty()) bytes = withFolder(std::move(bytes), options_.movedFrom, options_.facts.cwd);
      writer_->copied(item, bytes);
      text += bytes;
      return;
    }
    // A line that was cut short must not swallow the next one.
    if (!lastByteIsLineEnd_ && text.empty()) text += '\n';
    if (const auto found = messages_.find(place); found != messages_.end()) item.messages = found->second;
    const std::size_t before = text.size();
    writer_->item(item, text);
    // Entries after one that left nothing continue from what that one continues.
    if (text.size() == before) {
      standIns_[entry.id] = item.parentId;
    } else {
      ++done_.entries;
    }
  }

  // The records alone, one a line, in UTF-8.
  static std::string cleanLines(std::string_view bytes, const Origin& origin) {
    constexpr std::string_view kAround("\xEF\xBB\xBF \t\r,\0", 8);
    std::string out;
    if (origin.what == "blank" || origin.what == "damaged" || origin.torn) return out;
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      const std::string_view line = bytes.substr(0, end);
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
      const std::size_t first = line.find_first_not_of(kAround);
      if (first == std::string_view::npos) continue;
      out += repairUtf8(line.substr(first, line.find_last_not_of(kAround) + 1 - first)) + "\n";
    }
    return out;
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
  WrittenTranscript done_;
  std::vector<std::size_t> path_;   // the branch of the head
  std::vector<std::size_t> order_;  // places of what is written
  std::unordered_map<std::size_t, std::vector<std::string>> messages_;
  std::unordered_map<std::string, std::string> standIns_;
  std::size_t head_ = kNone;
  std::size_t lastOwn_ = kNone;
  std::unordered_set<std::size_t> inherited_;  // entries that the agent has in the file that this one continues
  std::unordered_set<std::string> firstKept_;  // of the summaries that come after what they keep
  std::size_t fileHead_ = kNone;
  bool whole_ = false;
  bool copies_ = false;  // the agent's own lines are copied
  bool skippedLine_ = false;
  bool lastByteIsLineEnd_ = true;
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
