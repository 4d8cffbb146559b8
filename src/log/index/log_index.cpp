#include "log/index/log_index.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "base/model/ids.h"
#include "base/try.h"
#include "log/index/index_file.h"

namespace bough {
namespace {

// A log shorter than this needs no index file; a longer rest is added to the file.
constexpr std::uint64_t kExtendAfterBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kRewriteAfterBytes = std::uint64_t{8} << 20;

// Never the same twice in a process, whichever log asks.
std::uint64_t nextGeneration() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// Tells whether a file is the one that was read, and nobody has written to it since.
std::uint32_t stampOf(const FileInfo& info) {
  Crc32c crc;
  for (const std::uint64_t number : {info.identity.inode, info.sizeBytes, info.changedNs}) {
    crc.add({reinterpret_cast<const char*>(&number), sizeof number});
  }
  return crc.value();
}

// Runs when a scope ends early, by an error or an exception.
template <typename Undo>
class OnFailure {
 public:
  explicit OnFailure(Undo undo) : undo_(std::move(undo)) {}
  OnFailure(const OnFailure&) = delete;
  OnFailure& operator=(const OnFailure&) = delete;
  ~OnFailure() {
    if (!succeeded_) undo_();
  }
  void succeed() { succeeded_ = true; }

 private:
  Undo undo_;
  bool succeeded_ = false;
};

// Most questions are for the last entry, whose id is at hand.
IdMatch confirm(ByteSource& source, const LogEnds& ends, const IndexRecord& record, std::string_view id) {
  const auto match = [](bool same) { return same ? IdMatch::Same : IdMatch::Different; };
  if (record.unreadable != 0) return IdMatch::Same;  // by its hash, which is all that is known
  if (!ends.tailId.empty() && record.offset == ends.tailOffset) return match(ends.tailId == id);
  std::array<char, 160> head{};
  const std::size_t want = std::min<std::size_t>(head.size(), record.length);
  const auto got = readFully(source, record.offset, std::span(head).first(want));
  if (!got) return IdMatch::Unreadable;
  const std::string_view text(head.data(), *got);
  constexpr std::string_view kBegin = R"({"id":")";
  if (text.starts_with(kBegin)) {
    const std::string_view value = text.substr(kBegin.size());
    if (value.starts_with(id) && value.substr(id.size()).starts_with('"')) return IdMatch::Same;
    // Other tools may write an id with escapes.
    if (!value.substr(0, value.find('"')).contains('\\')) return IdMatch::Different;
  }
  // Members in another order, or an id with escapes in it.
  std::string line(record.length, '\0');
  if (!readFully(source, record.offset, line)) return IdMatch::Unreadable;
  std::string storage;
  std::string_view reason;
  const auto keys = readAnyKeys(bareLine(line), storage, reason);
  return match(keys && keys->id == id);
}

// The end of a damaged line. Where its line end was destroyed, the next line begins with `{` after a byte that no JSON
// has there.
std::size_t endOfLine(std::string_view run, std::size_t begin) {
  const std::size_t end = std::min(run.find('\n', begin), run.size() - 1) + 1;
  const std::string_view line = run.substr(begin, end - begin);
  constexpr std::string_view kBegin = R"({"id":")";
  for (std::size_t at = line.find(kBegin, 1); at != std::string_view::npos; at = line.find(kBegin, at + 1)) {
    const bool isNested = std::string_view("[,: \t").contains(line[at - 1]);
    if (!isNested && readCanonicalKeys(line.substr(at))) return begin + at;
  }
  return end;
}

}  // namespace

// Feeds what a scan finds into the index.
class LogIndex::Sink final : public ScanSink {
 public:
  explicit Sink(LogIndex& log) : log_(log), confirmId_(log.confirmer()) {
    if (log.summary().count > 0) {
      constexpr std::size_t kHeaderBytes = std::size_t{64} << 10;
      isFork_ = beginningOf(log.file_.source(), log.index_.record(0), kHeaderBytes).contains(kForkMember);
    }
  }

  void onLine(const ScannedLine& line) override {
    if (log_.summary().count == 0) isFork_ = line.text.contains(kForkMember);
    nameLost(line);
    const Sequence head = log_.summary().head;
    const Sequence headEntry = log_.summary().headEntry;
    if (log_.summary().problemCount > 0) giveBackId(line.keys.id);
    const Sequence lost = isFork_ ? kElsewhere : lastLost_.value_or(kElsewhere);
    if (!log_.index_.add(line, confirmId_, log_.ends_.tailId, lost)) {
      log_.index_.addProblem();
      return;
    }
    if (!isFork_ && log_.summary().head == kElsewhere) log_.index_.keepHead(head, headEntry);
    log_.ends_.tailId = line.keys.id;
    log_.ends_.tailOffset = line.offset;
  }
  /// Scans on from `state`. Returns how many bytes follow there that look torn.
  Result<std::uint64_t> scan(ScanState& state) {
    const auto trailing = scanLog(log_.file_.source(), log_.serializer_, state, *this);
    if (!trailing) return std::unexpected(log_.file_.ioError(trailing.error(), "read"));
    return *trailing;
  }
  /// Scans once more what looks torn, up to where others have counted it, whatever the index before says.
  Result<void> scanCounted(ScanState& state) {
    BOUGH_TRY(state.countedBytes, countedEnd(state.offset));
    if (state.countedBytes <= state.offset) return {};
    trustsOthers_ = true;
    BOUGH_TRY(scan(state));
    return {};
  }
  bool isAsCounted() override { return trustsOthers_ || isAsBefore(); }
  void onUpcoming(std::string_view text) override { log_.index_.prepareFor(text); }
  void onProblem(ProblemKind kind, std::uint64_t offset, std::uint64_t bytes, std::string_view /*message*/) override {
    if (isNote(kind)) return;
    log_.index_.addProblem();
    // What cannot be read before the first entry is the header's business.
    if (kind == ProblemKind::Damage && log_.summary().count > 0) addRun(offset, bytes);
  }

 private:
  static constexpr std::string_view kForkMember = R"("parentSession")";

  // Up to which offset others have counted the log; 0 when nobody has.
  Result<std::uint64_t> countedEnd(std::uint64_t from) {
    constexpr std::size_t kHeaderBytes = std::size_t{64} << 10;
    OffsetIndex& index = log_.index_;
    ByteSource& source = log_.file_.source();
    if (!log_.options_.askElsewhere || index.summary().count == 0) return 0;
    CountedElsewhere counted = log_.options_.askElsewhere(beginningOf(source, index.record(0), kHeaderBytes));
    std::erase_if(counted.entryIds, [&](const std::string& id) { return index.find(id, confirmId_).has_value(); });
    const auto end = endOfCounted(source, from, counted);
    if (!end) return std::unexpected(log_.file_.ioError(end.error(), "read"));
    return *end;
  }

  // Whether the index before the damage ends its first entries as this one.
  bool isAsBefore() {
    OffsetIndex& index = log_.index_;
    const Sequence count = index.summary().count;
    if (!log_.earlier_ || count == 0 || count > log_.earlier_->summary().count) return false;
    const IndexRecord mine = index.record(count - 1);
    const IndexRecord before = log_.earlier_->record(count - 1);
    return !log_.earlier_->damaged() && mine.offset == before.offset && mine.idHash == before.idHash;
  }

  // Damaged lines side by side come as one problem; each was an entry, which the index before the damage may know. A
  // run that is too long to look for lines in it stays one.
  void addRun(std::uint64_t offset, std::uint64_t bytes) {
    if (addKnown(offset, offset + bytes)) return;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
    std::string run(bytes <= kMostBytes ? static_cast<std::size_t>(bytes) : 0, '\0');
    if (run.empty() || readFully(log_.file_.source(), offset, run) != run.size()) return addUnreadable(offset, bytes);
    for (std::size_t begin = 0; begin < run.size();) {
      const std::size_t end = endOfLine(run, begin);
      if (end - begin > 1) addUnreadable(offset + begin, end - begin);
      begin = end;
    }
  }

  // Adds the entries that the index before the damage has between two offsets. False when it does not know the first:
  // it must go on from the same entry.
  bool addKnown(std::uint64_t offset, std::uint64_t end) {
    if (!log_.earlier_) return false;
    OffsetIndex& earlier = *log_.earlier_;
    OffsetIndex& index = log_.index_;
    const auto found = recordAt(earlier, offset);
    if (!found || found->first == 0 || found->first != index.summary().count) return false;
    if (!isAsBefore()) return false;
    for (Sequence at = found->first; at < earlier.summary().count; ++at) {
      const IndexRecord record = earlier.record(at);
      if (earlier.damaged() || record.offset >= end) break;
      log_.ends_.tailId.clear();
      lastLost_ = index.summary().count;
      const bool known = record.unreadable == 0;
      const std::uint64_t length = std::uint64_t{record.length} + (known ? 1 : 0);  // with its line end
      index.addUnreadable({.offset = record.offset,
                           .idHash = record.idHash,
                           .length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, end - record.offset)),
                           .parent = record.parent},
                          known ? isConversation(record.kind) : record.unreadable == kUnreadableTurn);
    }
    return true;
  }

  // Bridges a gap. The lost entry's id and parent are known from the readable beginning of the line; else its parent is
  // the entry before it in the log.
  void addUnreadable(std::uint64_t offset, std::uint64_t bytes) {
    OffsetIndex& index = log_.index_;
    IndexRecord record{.offset = offset,
                       .length = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX))};
    record.parent = index.summary().head;
    bool movesHead = true;
    const std::string beginning = beginningOf(log_.file_.source(), record);
    const auto keys = readCanonicalKeys(beginning);
    if (keys && isEntryId(keys->id) && !index.find(keys->id, confirmId_)) {
      record.idHash = hashId(keys->id, index.seed());
      const auto parent = keys->parentId ? index.find(*keys->parentId, confirmId_) : std::optional(kNoSequence);
      if (parent || isFork_) record.parent = parent.value_or(kElsewhere);
      movesHead = isConversation(entryKind(keys->type));
    } else {
      record.idHash = hashId(unreadableId(offset), index.seed());
    }
    unsure_ = lastLost_ = index.summary().count;  // the damage may have hit the id, too
    log_.ends_.tailId.clear();
    index.addUnreadable(record, movesHead);
  }

  // A damaged line has no right to the id of one that can be read, which it may be a copy of.
  void giveBackId(std::string_view id) {
    const auto found = log_.index_.find(id, confirmId_);
    if (!found) return;
    const IndexRecord record = log_.index_.record(*found);
    if (record.unreadable != 0) log_.index_.nameUnreadable(*found, unreadableId(record.offset));
  }

  // An entry that is not there, though this line has it as its parent or moves the head to it, is the last unreadable
  // one whose id is not sure. In a fork it may be one of the shared history.
  void nameLost(const ScannedLine& line) {
    if (!unsure_ || isFork_) return;
    if (line.keys.parentId) nameLost(*line.keys.parentId);
    if (!unsure_ || entryKind(line.keys.type) != EntryKind::Head) return;
    const std::string head = headNamedBy(json::findMember(line.text, "payload").value_or(""));
    if (!head.empty()) nameLost(head);
  }
  void nameLost(std::string_view id) {
    const auto found = log_.index_.find(id, confirmId_);
    if (!found) log_.index_.nameUnreadable(*unsure_, id);
    if (!found || found == unsure_) unsure_.reset();
  }

  LogIndex& log_;
  OffsetIndex::ConfirmId confirmId_;
  bool trustsOthers_ = false;
  std::optional<Sequence> unsure_;    // the last unreadable entry whose id is not known for certain
  std::optional<Sequence> lastLost_;  // the last unreadable entry: it stands for all that was lost there
  bool isFork_ = false;
};

LogIndex::LogIndex(LogFile& file, const EntrySerializer& serializer, Environment& environment, LogIndexOptions options)
    : file_(file),
      serializer_(serializer),
      environment_(environment),
      options_(std::move(options)),
      index_(environment.random.next()),
      generation_(nextGeneration()) {}

void LogIndex::resume(const IndexSummary& summary, std::uint64_t generation) {
  if (index_.summary().isSameLogAs(summary)) generation_ = generation;
}

// The id of an unreadable entry may be that of its place, which the table does not hold when its true id was known
// once.
std::optional<Sequence> LogIndex::find(std::string_view id) {
  if (const auto found = index_.find(id, confirmer())) return found;
  const auto offset = offsetOfUnreadableId(id);
  const auto at = offset ? recordAt(index_, *offset) : std::nullopt;
  return at && at->second.unreadable != 0 ? std::optional(at->first) : std::nullopt;
}

OffsetIndex::ConfirmId LogIndex::confirmer() {
  return [this](const IndexRecord& record, std::string_view id) { return confirm(file_.source(), ends_, record, id); };
}

Result<void> LogIndex::reopen() {
  forget();
  BOUGH_TRY(file_.open());
  const FileInfo& info = file_.opened().info;
  readStamp_ = stampOf(info);
  BOUGH_TRY(const std::uint64_t size, file_.size());
  loadFile(size);
  if (earlier_) forget(earlier_->seed());
  if (index_.wantsRewrite()) save();
  if (index_.summary().coveredBytes != size) {
    BOUGH_TRY(scanNew());
  }
  file_.seen().note(info);
  return {};
}

void LogIndex::loadFile(std::uint64_t sizeBytes) {
  if (file_.source().damagedAt()) return;
  auto saved = IndexFile::open(*file_.folders().sessions, indexName(file_.sessionId()));
  if (!saved) return;
  OnFailure keep([&] { earlier_.emplace(std::move(saved)); });
  if (saved->summary().coveredBytes > sizeBytes) return;
  const bool asItWas = saved->summary().coveredBytes == sizeBytes && saved->summary().fileStamp == readStamp_;
  if (saved->summary().doubtful != 0 && !asItWas) return;
  auto end = CoveredEnd::read(file_.source(), saved->summary().coveredBytes);
  if (!end || end->sum() != saved->summary().edgeSum) return;
  keep.succeed();
  index_ = OffsetIndex(std::move(saved));
  end_ = std::move(*end);
}

Result<void> LogIndex::refresh() {
  if (!file_.isOpen()) return reopen();
  const auto info = file_.look();
  if (!info && info.error() != ENOENT) return std::unexpected(file_.ioError(info.error(), "look at"));
  return file_.hasLostName(info) ? reopen() : refreshFrom(*info);
}

Result<void> LogIndex::refreshFrom(const FileInfo& info) {
  if (file_.seen().isSame(info)) return {};
  file_.seen().forget();  // until all of it is known
  ++foreignWrites_;
  readStamp_ = stampOf(info);
  BOUGH_TRY(catchUp());
  file_.seen().note(info);
  return {};
}

void LogIndex::noteSeen(const FileInfo& info) {
  file_.seen().note(info);
  if (index_.summary().doubtful != 0) readStamp_ = stampOf(info);
}

Result<void> LogIndex::catchUp() {
  const std::uint64_t covered = index_.summary().coveredBytes;
  BOUGH_TRY(const std::uint64_t size, file_.size());
  if (size < covered || index_.summary().doubtful != 0) return rebuild();
  if (covered > 0) {
    const auto end = CoveredEnd::read(file_.source(), covered);
    if (!end) return std::unexpected(file_.ioError(end.error(), "read"));
    if (!end_.fits(*end)) return rebuild();
  }
  return size == covered ? Result<void>() : scanNew();
}

// With the seed of the index before, so that ids can be compared by their hashes.
Result<void> LogIndex::rebuild() {
  if (!index_.damaged() && index_.summary().count > 0) earlier_.emplace(std::move(index_));
  forget(earlier_ ? std::optional(earlier_->seed()) : std::nullopt);
  return scanNew();
}

void LogIndex::forget(std::optional<std::uint64_t> seed) {
  index_ = OffsetIndex(seed ? *seed : environment_.random.next());
  end_.clear();
  ends_.clear();
  generation_ = nextGeneration();
  file_.synced().bytes = 0;
  file_.seen().forget();
}

// Scans what the index does not cover, and keeps the index file within reach of the log. An index that took in a part
// of a scan would say of what follows that it is not there, so it goes when the scan fails.
Result<void> LogIndex::scanNew() {
  OnFailure undo([this] { forget(); });
  ScanState state = index_.scanState();
  state.countedBytes = earlier_ ? earlier_->summary().coveredBytes : 0;
  constexpr std::uint64_t kUsualBytes = 4096;  // an entry
  if (const auto size = file_.source().size(); size && *size > state.offset) {
    index_.reserve(static_cast<std::size_t>((*size - state.offset) / kUsualBytes));
  }
  {
    Sink sink(*this);
    BOUGH_TRY(const std::uint64_t trailing, sink.scan(state));
    if (trailing > 0 && !isBeingWritten(file_.opened())) {
      BOUGH_TRY(sink.scanCounted(state));
    }
  }
  earlier_.reset();
  if (index_.damaged()) {
    undo.succeed();
    return rebuild();
  }
  if (file_.source().damagedAt()) index_.addProblem();
  auto end = CoveredEnd::read(file_.source(), state.offset);
  if (!end) return std::unexpected(file_.ioError(end.error(), "read"));
  end_ = std::move(*end);
  ends_.headId.clear();
  index_.setScanState(state);
  undo.succeed();
  // Writers extend the file as they go; whoever finds it far out of date writes it again.
  if (index_.unsavedBytes() > (index_.hasFile() ? kRewriteAfterBytes : kExtendAfterBytes) || index_.wantsRewrite()) {
    save();
  }
  return {};
}

Result<void> LogIndex::takeCounted() {
  OnFailure undo([this] { forget(); });
  ScanState state = index_.scanState();
  {
    Sink sink(*this);
    BOUGH_TRY(sink.scanCounted(state));
  }
  auto end = CoveredEnd::read(file_.source(), state.offset);
  if (!end) return std::unexpected(file_.ioError(end.error(), "read"));
  end_ = std::move(*end);
  ends_.headId.clear();
  index_.setScanState(state);
  undo.succeed();
  return {};
}

void LogIndex::addWritten(const ScannedLine& line) {
  BOUGH_CHECK(index_.add(line, confirmer(), ends_.tailId));
  ends_.tailId = line.keys.id;
  ends_.tailOffset = line.offset;
}

void LogIndex::setEnd(std::uint64_t offset, std::string_view bytes, const SealDigits& seal) {
  end_.add(bytes);
  index_.setScanState({.offset = offset + bytes.size(), .lastSeal = seal, .lacksLineEnd = false});
}

// What the file says must be on the disk before it: a crash could tear a batch that an index vouches for.
void LogIndex::save() {
  const OpenLog& log = file_.opened();
  if (!options_.writeFile || log.writeError != 0 || index_.damaged()) return;
  if (log.form == LogForm::Plain && file_.synced().bytes < index_.summary().coveredBytes) {
    // Not noted as synced: the next append still has to make the last batch safe.
    if (file_.poison() || !file_.sync()) return;
  }
  index_.setEdge(end_.sum(), readStamp_);
  Directory& folder = *file_.folders().sessions;
  const std::string name = indexName(file_.sessionId());
  if (!IndexFile::write(folder, name, index_, environment_.random.next())) return;
  if (auto saved = IndexFile::open(folder, name)) {
    if (saved->summary().coveredBytes == index_.summary().coveredBytes && saved->seed() == index_.seed()) {
      index_ = OffsetIndex(std::move(saved));
    }
  }
}

// Only what is durable: an index must not vouch for bytes that a crash may take.
void LogIndex::extend() {
  if (!options_.writeFile || index_.damaged() || !index_.hasFile() || index_.unsavedBytes() <= kExtendAfterBytes)
    return;
  if (index_.summary().coveredBytes != file_.synced().bytes) return;
  index_.setEdge(end_.sum(), readStamp_);
  index_.extendFile();
}

}  // namespace bough
