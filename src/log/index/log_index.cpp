#include "log/index/log_index.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/check.h"
#include "base/model/ids.h"
#include "base/try.h"
#include "log/index/index_file.h"
#include "log/index/index_sink.h"

namespace bough {
namespace {

// A log shorter than kExtendAfterBytes needs no index file. A writer extends the file when the rest that the file does
// not cover is longer than that. Any process writes the file again when the rest is longer than kRewriteAfterBytes.
constexpr std::uint64_t kExtendAfterBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kRewriteAfterBytes = std::uint64_t{8} << 20;

// Returns a number that is unique in the process, across all logs.
std::uint64_t nextGeneration() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// Returns a stamp that changes when the file is replaced or written to.
std::uint32_t stampOf(const FileInfo& info) {
  Crc32c crc;
  for (const std::uint64_t number : {info.identity.inode, info.sizeBytes, info.changedNs}) {
    crc.add({reinterpret_cast<const char*>(&number), sizeof number});
  }
  return crc.value();
}

// Runs `undo` when a scope ends early, by an error or an exception.
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

Error beingWritten(std::string_view path) {
  return fail(ErrorCode::Busy, fmt::format("somebody is writing to {}", path)).error();
}

// Returns true when the file has changed since the last look at it began. `stamp` is its stamp at that time, and is
// updated.
bool wasWrittenTo(LogFile& file, std::uint32_t& stamp) {
  const auto info = file.namedFileInfo();
  const std::uint32_t before = stamp;
  if (info) stamp = stampOf(*info);
  return info && stamp != before;
}

}  // namespace

LogIndex::LogIndex(LogFile& file, const EntrySerializer& serializer, Environment& environment, LogIndexOptions options)
    : file_(file),
      serializer_(serializer),
      environment_(environment),
      options_(std::move(options)),
      index_(environment.random.next()),
      generation_(nextGeneration()),
      counted_(file, environment.clock) {}

void LogIndex::resume(const IndexSummary& summary, std::uint64_t generation) {
  if (index_.summary().isSameLogAs(summary)) generation_ = generation;
}

std::optional<Sequence> LogIndex::find(std::string_view id) {
  return index_.find(id, confirmer());
}

OffsetIndex::ConfirmId LogIndex::confirmer() {
  return
      [this](const IndexRecord& record, std::string_view id) { return confirmId(file_.source(), ends_, record, id); };
}

Result<void> LogIndex::reopen() {
  drop();
  BOUGH_TRY(file_.open());
  const FileInfo& info = file_.opened().info;
  readStamp_ = stampOf(info);
  BOUGH_TRY(const std::uint64_t size, file_.size());
  loadFile(size);
  if (counted_.earlier() != nullptr) drop(counted_.earlier()->seed());
  if (index_.shouldRewrite()) save();
  if (index_.summary().coveredBytes != size) {
    BOUGH_TRY(scanNew());
  }
  file_.lastKnown().note(info);
  return {};
}

void LogIndex::loadFile(std::uint64_t sizeBytes) {
  if (file_.source().damagedAt()) return;
  int refusal = 0;
  auto saved = IndexFile::open(*file_.folders().sessions, indexName(file_.sessionId()), &refusal);
  counted_.noteFile(refusal);
  if (!saved) return;
  OnFailure keep([&] { counted_.keepEarlier(OffsetIndex(std::move(saved))); });
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
  const auto info = file_.namedFileInfo();
  if (!info && info.error() != ENOENT) return std::unexpected(file_.ioError(info.error(), "look at"));
  return file_.isReplacedOrGone(info) ? reopen() : refreshFrom(*info);
}

Result<void> LogIndex::refreshFrom(const FileInfo& info) {
  if (file_.lastKnown().isSame(info) && !counted_.shouldAskAgain()) return {};
  file_.lastKnown().clear();  // until all of it is known
  ++foreignWrites_;
  readStamp_ = stampOf(info);
  BOUGH_TRY(catchUp());
  file_.lastKnown().note(info);
  return {};
}

void LogIndex::setLastKnownFile(const FileInfo& info) {
  file_.lastKnown().note(info);
  if (index_.summary().doubtful != 0) readStamp_ = stampOf(info);
}

Result<void> LogIndex::catchUp() {
  const std::uint64_t covered = index_.summary().coveredBytes;
  BOUGH_TRY(const std::uint64_t size, file_.size());
  if (size < covered || index_.summary().doubtful != 0 || index_.summary().count == 0) return rebuild();
  if (covered > 0) {
    const auto end = CoveredEnd::read(file_.source(), covered);
    if (!end) return std::unexpected(file_.ioError(end.error(), "read"));
    if (!end_.endsWith(*end)) return rebuild();
  }
  if (size != covered) return scanNew();
  counted_.clearDoubt();
  return {};
}

// Keeps the seed of the earlier index, so that ids can be compared by their hashes.
Result<void> LogIndex::rebuild() {
  const bool isKnown = !index_.damaged() && index_.summary().count > 0;
  if (isKnown) {
    counted_.keepEarlier(std::move(index_));
  } else {
    counted_.noteUnknown();
  }
  const OffsetIndex* const earlier = counted_.earlier();
  drop(earlier != nullptr ? std::optional(earlier->seed()) : std::nullopt);
  return scanNew();
}

void LogIndex::drop(std::optional<std::uint64_t> seed) {
  index_ = OffsetIndex(seed ? *seed : environment_.random.next());
  end_.clear();
  ends_.clear();
  generation_ = nextGeneration();
  file_.synced().bytes = 0;
  file_.lastKnown().clear();
  counted_.clearDoubt();
}

// Scans the part that the index does not cover, and saves the index file when it is far out of date. The index is
// dropped when the scan fails: an index with only a part of the scanned entries would claim that the others do not
// exist. A reader holds no lock. When a writer moves torn bytes aside during the scan, a mix of old and new bytes looks
// like damage, so the scan is repeated.
Result<void> LogIndex::scanNew(AskWhen when, int tries) {
  OnFailure undo([this] { drop(); });
  if (counted_.earlier() == nullptr && (index_.summary().count == 0 || counted_.doubt())) {
    counted_.readFile();
    if (counted_.earlier() != nullptr) drop(counted_.earlier()->seed());
  }
  OffsetIndex* const earlier = counted_.earlier();
  const std::uint32_t problems = index_.summary().problemCount;
  ScanState state = index_.scanState();
  state.countedBytes = earlier != nullptr ? earlier->summary().coveredBytes : 0;
  constexpr std::uint64_t kUsualBytes = 4096;  // of an entry
  if (const auto size = file_.source().size(); size && *size > state.offset) {
    index_.reserve(static_cast<std::size_t>((*size - state.offset) / kUsualBytes));
  }
  {
    IndexSink sink(
        {.file = file_, .serializer = serializer_, .index = index_, .ends = ends_, .earlier = counted_.earlier()});
    BOUGH_TRY(std::uint64_t trailing, sink.scan(state));
    const bool isWritten = trailing > 0 && when == AskWhen::NobodyWrites && isBeingWritten(file_.opened());
    if (trailing > 0 && !isWritten) {
      BOUGH_TRY(trailing, sink.scanCounted(state, trailing, options_.askElsewhere));
    }
    counted_.noteTrailing(trailing, isWritten ? std::optional(beingWritten(file_.path())) : sink.takeAskFailure());
  }
  if (index_.summary().problemCount > problems && tries > 1 && wasWrittenTo(file_, readStamp_)) {
    undo.succeed();
    if (counted_.earlier() == nullptr) counted_.noteUnknown();
    drop(counted_.earlier() != nullptr ? std::optional(counted_.earlier()->seed()) : std::nullopt);
    return scanNew(when, tries - 1);
  }
  counted_.dropEarlier();
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
  // Writers extend the file as they append. A process that finds it far out of date writes it again.
  if (index_.unsavedBytes() > (index_.hasFile() ? kRewriteAfterBytes : kExtendAfterBytes) || index_.shouldRewrite()) {
    save();
  }
  return {};
}

Result<void> LogIndex::addCountedElsewhere() {
  const std::optional<FileInfo> seen = file_.lastKnown().info();
  BOUGH_TRY(scanNew(AskWhen::Always));
  if (seen) file_.lastKnown().note(*seen);
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

// Syncs the log first: everything in the index file must already be on the disk. Otherwise a crash could tear a batch
// that the index has counted.
void LogIndex::save() {
  const OpenLog& log = file_.opened();
  if (!options_.writeFile || log.writeError != 0 || index_.damaged()) return;
  if (counted_.doubt()) return;  // the existing file may have counted more
  if (log.form == LogForm::Plain && file_.synced().bytes < index_.summary().coveredBytes) {
    // Not recorded as synced: the next append still has to make the last batch safe.
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

// Adds only durable entries: an index must not count bytes that a crash may take.
void LogIndex::extend() {
  if (!options_.writeFile || index_.damaged() || !index_.hasFile() || index_.unsavedBytes() <= kExtendAfterBytes)
    return;
  if (index_.summary().coveredBytes != file_.synced().bytes) return;
  index_.setEdge(end_.sum(), readStamp_);
  index_.extendFile();
}

}  // namespace bough
