// How a session's log and its index keep up with the file, whoever writes to it.

#include <algorithm>
#include <cerrno>

#include "log/index_file.h"
#include "log/log_parts.h"

namespace bough {
namespace {

constexpr std::uint64_t kRewriteAfterBytes = std::uint64_t{8} << 20;

}  // namespace

// Feeds what a scan finds into the index.
class LogParts::IndexSink final : public ScanSink {
 public:
  explicit IndexSink(LogParts& log) : log_(log), confirmId_(log.confirmer()) {}

  void onLine(const ScannedLine& line) override {
    if (!log_.index_.add(line, confirmId_, log_.tailId_)) {
      log_.index_.addProblem();
      return;
    }
    log_.tailId_ = line.keys.id;
    log_.tailOffset_ = line.offset;
  }
  void onUpcoming(std::string_view text) override { log_.index_.prepareFor(text); }
  void onProblem(ProblemKind kind, std::uint64_t /*offset*/, std::uint64_t /*bytes*/,
                 std::string_view /*message*/) override {
    if (!isNote(kind)) log_.index_.addProblem();
  }

 private:
  LogParts& log_;
  OffsetIndex::ConfirmId confirmId_;
};

// Tells whether a file is the one that was read, and nobody has written to it since.
std::uint32_t LogParts::stampOf(const FileInfo& info) {
  Crc32c crc;
  for (const std::uint64_t number : {info.identity.inode, info.sizeBytes, info.changedNs}) {
    crc.add({reinterpret_cast<const char*>(&number), sizeof number});
  }
  return crc.value();
}

std::uint64_t LogParts::nextGeneration() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

Result<std::uint64_t> LogParts::freshGeneration() {
  const std::lock_guard lock(mutex_);
  if (auto fresh = refresh(); !fresh) return std::unexpected(fresh.error());
  return generation_;
}

// Opens the log wherever it lies now and begins with the index file, if that fits.
Result<void> LogParts::reopen() {
  auto log = openLog(folders_, sessionId_);
  if (!log) return std::unexpected(log.error());
  log_ = std::move(*log);
  readStamp_ = stampOf(log_.info);
  headerChecked_ = false;
  header_.clear();
  generation_ = nextGeneration();
  syncedBytes_ = 0;
  nameSynced_ = false;
  index_ = OffsetIndex(environment_.random.next());
  edge_.clear();
  tailId_.clear();
  headId_.clear();
  seenSize_ = kUnseen;
  const auto size = log_.form == LogForm::Plain ? log_.info.sizeBytes : log_.source->size();
  if (!size) return std::unexpected(ioError(size.error(), "look at"));
  loadIndex(*size);
  if (index_.wantsRewrite()) saveIndex();
  if (index_.summary().coveredBytes != *size) {
    if (auto known = scanFresh(); !known) return known;
  }
  seenSize_ = log_.info.sizeBytes;
  seenModifiedNs_ = log_.info.modifiedNs;
  return {};
}

void LogParts::loadIndex(std::uint64_t sizeBytes) {
  if (log_.source->damagedAt()) return;
  auto file = IndexFile::open(*folders_.sessions, indexName(sessionId_));
  if (!file || file->summary().coveredBytes > sizeBytes) return;
  const bool asItWas = file->summary().coveredBytes == sizeBytes && file->summary().fileStamp == readStamp_;
  if (file->summary().doubtful != 0 && !asItWas) return;
  auto edge = edgeBefore(file->summary().coveredBytes);
  if (!edge) return;
  Crc32c crc;
  crc.add(*edge);
  if (crc.value() != file->summary().edgeSum) return;
  index_ = OffsetIndex(std::move(file));
  edge_ = std::move(*edge);
}

Result<std::string> LogParts::edgeBefore(std::uint64_t offset) {
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(offset, kEdgeBytes)), '\0');
  const auto got = readFully(*log_.source, offset - bytes.size(), bytes);
  if (!got) return std::unexpected(ioError(got.error(), "read"));
  bytes.resize(*got);
  return bytes;
}

// Brings the index up to date with the file as it is now.
Result<void> LogParts::refresh() {
  if (!isOpen()) return reopen();
  const auto info = log_.folder->info(log_.name);
  if (!info && info.error() != ENOENT) return std::unexpected(ioError(info.error(), "look at"));
  if (!info || info->identity != log_.info.identity) return reopen();
  return refreshFrom(*info);
}

// The same with a fresh look at the file, which is the one we have open.
Result<void> LogParts::refreshFrom(const FileInfo& info) {
  if (info.sizeBytes == seenSize_ && info.modifiedNs == seenModifiedNs_) return {};
  seenSize_ = kUnseen;  // until all of it is known
  kept_ = {};           // somebody else wrote
  readStamp_ = stampOf(info);
  if (auto known = catchUp(); !known) return known;
  seenSize_ = info.sizeBytes;
  seenModifiedNs_ = info.modifiedNs;
  return {};
}

Result<void> LogParts::catchUp() {
  const std::uint64_t covered = index_.summary().coveredBytes;
  const auto size = log_.source->size();
  if (!size) return std::unexpected(ioError(size.error(), "look at"));
  if (*size < covered || index_.summary().doubtful != 0) return rebuild();
  if (covered > 0) {
    const auto edge = edgeBefore(covered);
    if (!edge) return std::unexpected(edge.error());
    if (!edge_.ends_with(*edge)) return rebuild();
  }
  if (*size == covered) return {};
  return scanFresh();
}

Result<void> LogParts::rebuild() {
  forgetIndex();
  return scanFresh();
}

void LogParts::forgetIndex() {
  index_ = OffsetIndex(environment_.random.next());
  edge_.clear();
  tailId_.clear();
  headId_.clear();
  syncedBytes_ = 0;
  readMismatch_ = false;
  headerChecked_ = false;
  header_.clear();
  generation_ = nextGeneration();
  seenSize_ = kUnseen;
}

// Scans what the index does not cover, and keeps the index file within reach of the log.
Result<void> LogParts::scanFresh() {
  ScanState state = index_.scanState();
  IndexSink sink(*this);
  constexpr std::uint64_t kUsualBytes = 4096;  // an entry
  if (const auto size = log_.source->size(); size && *size > state.offset) {
    index_.reserve(static_cast<std::size_t>((*size - state.offset) / kUsualBytes));
  }
  // An index that took in a part of a scan says of what follows that it is not there, so it goes.
  const auto trailing = scanLog(*log_.source, serializer_, state, sink);
  if (!trailing) {
    forgetIndex();
    return std::unexpected(ioError(trailing.error(), "read"));
  }
  if (index_.damaged()) return rebuild();
  if (log_.source->damagedAt()) index_.addProblem();
  auto edge = edgeBefore(state.offset);
  if (!edge) {
    forgetIndex();
    return std::unexpected(edge.error());
  }
  edge_ = std::move(*edge);
  headId_.clear();
  index_.setScanState(state);
  // Writers extend the file as they go; whoever finds it far behind writes it anew.
  if (index_.unsavedBytes() > (index_.hasFile() ? kRewriteAfterBytes : kExtendAfterBytes) || index_.wantsRewrite()) {
    saveIndex();
  }
  return {};
}

// The index file says what the log's last covered bytes are. They are summed when it is written, not for each append.
void LogParts::sumEdge() {
  const std::string_view edge = edge_;
  Crc32c crc;
  crc.add(edge.substr(edge.size() - std::min(edge.size(), kEdgeBytes)));
  index_.setEdge(crc.value(), readStamp_);
}

// What the file says must be on the disk before it: a crash could tear a batch that an index vouches for.
void LogParts::saveIndex() {
  if (!options_.writeIndex || log_.writeError != 0 || readMismatch_) return;
  if (log_.form == LogForm::Plain && syncedBytes_ < index_.summary().coveredBytes) {
    // Not noted as synced: the next append still has to make the last batch safe.
    if (poison_ || !syncFile()) return;
  }
  sumEdge();
  if (!IndexFile::write(*folders_.sessions, indexName(sessionId_), index_, environment_.random.next())) return;
  if (auto file = IndexFile::open(*folders_.sessions, indexName(sessionId_))) {
    if (file->summary().coveredBytes == index_.summary().coveredBytes && file->seed() == index_.seed()) {
      index_ = OffsetIndex(std::move(file));
    }
  }
}

}  // namespace bough
