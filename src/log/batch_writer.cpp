#include "log/batch_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/model/unreadable.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/file/archive.h"

namespace bough {
namespace {

constexpr std::size_t kGroupBytes = std::size_t{64} << 20;

Error replacedError(const std::string& path) {
  return {.code = ErrorCode::Io,
          .message = fmt::format("{} was replaced while it was appended to", path),
          .hint = "look what replaced it; then append again",
          .retryable = false,
          .actualTail = {}};
}

}  // namespace

// The log as an append sees it. The lines of earlier appends in the group are in lines_.
class BatchWriter::View final : public LogView {
 public:
  View(LogFile& file, LogIndex& index, StoredLines& stored, const BatchLines& lines, std::uint64_t tornBytes)
      : file_(file), index_(index), stored_(stored), lines_(lines), tornBytes_(tornBytes) {}

  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    const auto sequence = index_.find(id);
    if (!sequence) return std::nullopt;
    auto entries = stored_.entries({*sequence});
    if (!entries && !entries.error().isStaleIndex()) return std::unexpected(entries.error().error());
    stale_ = stale_ || !entries;
    if (!entries) return std::unexpected(damaged());
    return std::move(entries->front());
  }
  Result<bool> contains(std::string_view id) override {
    return id == index_.ends().tailId || index_.find(id).has_value();
  }
  [[nodiscard]] std::string_view tailId() const override {
    return lines_.empty() ? std::string_view(index_.ends().tailId) : lines_.back().id();
  }
  [[nodiscard]] std::string_view headId() override {
    return lines_.headAfter(movedHead_).value_or(index_.ends().headId);
  }
  Result<std::string> headOfFork(const IsShared& isShared) override {
    if (const auto moved = lines_.headAfter(movedHead_)) return std::string(*moved);
    auto head = stored_.headOfFork(isShared);
    if (head) return std::move(*head);
    if (!head.error().isStaleIndex()) return std::unexpected(head.error().error());
    stale_ = true;
    return std::unexpected(damaged());
  }
  [[nodiscard]] std::uint64_t generation() const override { return index_.generation(); }
  [[nodiscard]] LogCondition condition() const override {
    return {.tornBytes = tornBytes_, .problemCount = index_.summary().problemCount + stored_.notEntries().size()};
  }

  [[nodiscard]] bool isStale() const { return stale_ || index_.records().damaged(); }
  [[nodiscard]] Error damaged() const {
    return fail(ErrorCode::Damaged, fmt::format("{} is damaged", file_.path()), "run `bough verify`").error();
  }

 private:
  LogFile& file_;
  LogIndex& index_;
  StoredLines& stored_;
  const BatchLines& lines_;
  std::uint64_t tornBytes_;
  bool stale_ = false;
  std::string movedHead_;
};

BatchWriter::BatchWriter(LogParts& parts, MayAppend mayAppend, Environment& environment)
    : parts_(parts),
      mayAppend_(std::move(mayAppend)),
      environment_(environment),
      commits_([this](const Group& group) { commit(group); }, kGroupBytes) {}

void BatchWriter::commit(const Group& group) {
  const MutexLock writing(writing_);
  const MutexLock lock(parts_.mutex);
  constexpr int kTries = 3;
  Result<Outcome> outcome = Outcome::OtherFile;
  for (int tries = 0; tries < kTries && outcome && *outcome != Outcome::Written; ++tries) {
    outcome = tryCommit(group, tries == 0 ? NameCheck::DuringSync : NameCheck::BeforeWrite);
  }
  if (outcome && *outcome == Outcome::OtherFile) outcome = std::unexpected(replacedError(parts_.file.path()));
  if (outcome && *outcome == Outcome::StaleIndex) {
    outcome = fail(ErrorCode::Damaged, fmt::format("{} is damaged", parts_.file.path()), "run `bough verify`");
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (outcome && outcomes_[i]) torn_.takeUnreportedBytes();
    group[i]->setOutcome(outcome ? std::move(outcomes_[i]) : std::unexpected(outcome.error()));
  }
}

Result<BatchWriter::Outcome> BatchWriter::tryCommit(const Group& group, NameCheck nameCheck) {
  if (parts_.file.poison()) return std::unexpected(*parts_.file.poison());
  BOUGH_TRY(LockedFile locked, lockFile(nameCheck));
  BOUGH_TRY(checkHeader());
  BOUGH_TRY(setTornTailAside());
  BOUGH_TRY(syncCovered());
  BOUGH_TRY(const Outcome prepared, prepare(group));
  if (prepared == Outcome::StaleIndex) {
    // The index is stale, so nothing is written yet: rebuild the index and ask again.
    BOUGH_TRY(parts_.index.rebuild());
    BOUGH_TRY(parts_.index.refresh());
    return prepared;
  }
  if (parts_.file.opened().file != locked.file) return Outcome::OtherFile;
  if (lines_.empty())
    return parts_.file.isReplacedOrGone(parts_.file.namedFileInfo()) ? Outcome::OtherFile : Outcome::Written;
  seal();
  return write(group, locked);
}

// Locks the file that has the session's name now: another process may have archived or replaced the file after we
// opened it and before we locked it. With NameCheck::DuringSync, a file that is unchanged since our last append is not
// looked up by name here: there is nothing to catch up with and nothing to sync, and write() checks the name before
// anything is acknowledged.
Result<LockedFile> BatchWriter::lockFile(NameCheck nameCheck) {
  LogFile& file = parts_.file;
  if (!file.isOpen()) {
    BOUGH_TRY(parts_.index.reopen());
  }
  for (int tries = 0; tries < 8; ++tries) {
    if (file.opened().form != LogForm::Plain) {
      BOUGH_TRY(unpackArchive());
      continue;
    }
    const OpenLog& log = file.opened();
    if (log.writeError != 0) return std::unexpected(systemError(log.writeError, "write to", log.path()));
    BOUGH_TRY(LockedFile locked, waitForLock());
    const bool isOurs = file.opened().file == locked.file;
    if (nameCheck == NameCheck::DuringSync && isOurs) {
      const auto left = locked.file->info();
      if (left && left->linkCount > 0 && file.lastKnown().isSame(*left) &&
          file.synced().bytes == *file.lastKnown().bytes() && file.synced().isNameSynced) {
        return locked;
      }
    }
    const auto info = file.namedFileInfo();
    if (isOurs && info && !file.isReplacedOrGone(info)) {
      BOUGH_TRY(parts_.index.refreshFrom(*info));
      return locked;
    }
    locked.lock.unlock();
    if (!info && info.error() != ENOENT) return std::unexpected(file.ioError(info.error(), "look at"));
    BOUGH_TRY(parts_.index.reopen());
  }
  return fail(ErrorCode::Busy, fmt::format("{} is replaced again and again", file.path()), "try again");
}

LockOrder LockTurns::nextOrder() {
  constexpr unsigned kAppends = 16;
  constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;
  if (++appends_ < kAppends && bytes_ < kBytes) return LockOrder::Immediate;
  appends_ = 0;
  bytes_ = 0;
  return LockOrder::Queued;
}

Result<LockedFile> BatchWriter::waitForLock() {
  std::shared_ptr<File> opened = parts_.file.opened().file;
  const LockOrder order = turns_.nextOrder();
  const int timeoutMs = parts_.file.lockTimeoutMs();
  const std::string& path = parts_.file.plainPath();
  const MutexUnlock unlocked(parts_.mutex);
  return LogFile::lock(std::move(opened), order, timeoutMs, path);
}

Result<void> BatchWriter::unpackArchive() {
  BOUGH_TRY(checkHeader());
  const LogFolders folders = parts_.file.folders();
  const std::string sessionId = parts_.file.sessionId();
  const int timeoutMs = parts_.file.lockTimeoutMs();
  {
    const MutexUnlock unlocked(parts_.mutex);
    BOUGH_TRY(restoreArchive(folders, sessionId, timeoutMs));
  }
  return parts_.index.reopen();
}

// Asks mayAppend_ whether the file that has the session's name now may be written to. Called before anything is
// changed.
Result<void> BatchWriter::checkHeader() {
  if (!mayAppend_ || checkedGeneration_ == parts_.index.generation()) return {};
  BOUGH_TRY(const std::string* header, parts_.withIndex([](LogIndex&, StoredLines& lines) { return lines.header(); }));
  if (header->empty()) return {};  // setTornTailAside reports what is wrong
  BOUGH_TRY(
      mayAppend_({.text = *header, .offset = parts_.index.records().record(0).offset, .path = parts_.file.path()}));
  checkedGeneration_ = parts_.index.generation();
  return {};
}

// Moves the bytes after the last complete batch aside. We hold the lock, so nobody is writing them, and they were never
// acknowledged, unless a catalog, an archive or a fork has counted them. When one of these cannot be asked, the bytes
// stay where they are and this fails.
Result<void> BatchWriter::setTornTailAside() {
  if (parts_.index.summary().count == 0) {
    return fail(ErrorCode::Damaged, fmt::format("{} holds no entry that can be read", parts_.file.path()),
                "it is empty or not a session file; see `bough verify`");
  }
  const auto seen = parts_.file.lastKnown().bytes();
  if (!seen || *seen <= parts_.index.summary().coveredBytes) return {};
  BOUGH_TRY(parts_.index.addCountedElsewhere());
  const std::uint64_t covered = parts_.index.summary().coveredBytes;
  if (*seen <= covered) return {};
  if (parts_.index.doubt()) return std::unexpected(*parts_.index.doubt());
  return torn_.setAside(parts_.file, covered, *seen, environment_.clock);
}

Result<void> BatchWriter::syncCovered() {
  const std::uint64_t covered = parts_.index.summary().coveredBytes;
  if (parts_.file.synced().bytes < covered) {
    BOUGH_TRY(rewriteLastBatch(covered));
    BOUGH_TRY(parts_.file.sync());
    parts_.file.synced().bytes = covered;
  }
  return parts_.file.syncName();
}

// Returns the first sequence of the last batch. The batches before it are durable: a writer syncs the existing bytes
// before it appends.
Result<Sequence> BatchWriter::lastBatch() {
  const Sequence last = parts_.index.summary().count - 1;
  const auto line = parts_.lines.text(last);
  if (!line && !line.error().isStaleIndex()) return std::unexpected(line.error().error());
  const auto seal = line ? findSeal(*line) : std::nullopt;
  return last - (seal ? std::min<Sequence>(seal->place - 1, last) : 0);
}

// Writes the last batch again, unchanged, before it is synced. Its writer may have died after a failed sync. The kernel
// then regards the pages as clean although the disk never received them, and a later sync would not write them.
Result<void> BatchWriter::rewriteLastBatch(std::uint64_t covered) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  LogFile& file = parts_.file;
  if (parts_.index.summary().count == 0 || file.opened().writeError != 0) return {};
  BOUGH_TRY(const Sequence first, lastBatch());
  std::string piece;
  for (std::uint64_t at = parts_.index.records().record(first).offset; at < covered; at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, covered - at)));
    const auto got = readFully(file.source(), at, piece);
    if (!got) return std::unexpected(file.ioError(got.error(), "read"));
    if (*got != piece.size()) return {};  // the file is shrinking; the next look detects that
    if (const auto put = writeFully(*file.opened().file, at, piece); !put) {
      return std::unexpected(file.ioError(put.error(), fmt::format("append at byte {} to", at)));
    }
  }
  // The size is the one that was seen last, so only we have written to the file.
  if (const auto info = file.opened().file->info(); info && file.lastKnown().bytes() == info->sizeBytes) {
    parts_.index.setLastKnownFile(*info);
  }
  return {};
}

Result<BatchWriter::Outcome> BatchWriter::prepare(const Group& group) {
  if (const auto loaded = parts_.lines.loadEnds(); !loaded) {
    if (loaded.error().isStaleIndex()) return Outcome::StaleIndex;
    return std::unexpected(loaded.error().error());
  }
  View view(parts_.file, parts_.index, parts_.lines, lines_, torn_.unreportedBytes());
  lines_.clear();
  outcomes_.clear();
  for (AppendWork* work : group) {
    const std::size_t before = lines_.size();
    auto prepared = work->prepare(view, lines_);
    if (view.isStale()) return Outcome::StaleIndex;
    if (prepared && lines_.size() > kMaxBatchEntries) {
      prepared = fail(ErrorCode::InvalidArgument, "a batch of more than 1,000,000 entries", "append it in parts");
    }
    if (!prepared) lines_.shrinkTo(before);
    outcomes_.push_back(std::move(prepared));
  }
  return Outcome::Written;
}

// Builds sealed_ from the lines.
void BatchWriter::seal() {
  constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
  const std::size_t total = 1 + lines_.totalBytes() + lines_.size() * kSealTailBytes;
  if (sealed_.bytes.capacity() > kKeptBytes && total < kKeptBytes) sealed_.bytes = std::string();
  sealed_.bytes.clear();
  sealed_.bytes.reserve(total);
  sealed_.lineEnds.clear();
  sealed_.lineEnds.reserve(lines_.size());
  const ScanState state = parts_.index.records().scanState();
  if (state.lacksLineEnd) sealed_.bytes += '\n';
  sealed_.seal = state.lastSeal;
  const auto count = static_cast<std::uint32_t>(lines_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    sealed_.seal = appendSealedLine(sealed_.bytes, lines_[i].text(), sealed_.seal, i + 1, count);
    sealed_.lineEnds.push_back(sealed_.bytes.size() - 1);
  }
}

// The mutex is released during the write and the sync, so that readers can continue. Only the holder of the file's lock
// gets here.
//
// The file's lock is released before the sync. The next writer finds a batch that is not known to be durable, and makes
// it durable before it appends. A batch whose sync fails therefore stays in the file: others may have built on it by
// then.
Result<BatchWriter::Outcome> BatchWriter::write(const Group& group, LockedFile& locked) {
  File& file = *locked.file;
  const std::uint64_t offset = parts_.index.summary().coveredBytes;
  SysResult<void> written;
  {
    const MutexUnlock unlocked(parts_.mutex);
    written = writeFully(file, offset, sealed_.bytes);
    if (written) {
      file.startSync(offset, sealed_.bytes.size());
    } else {
      // Nothing of this batch was acknowledged. If the truncation fails too, the next append moves the rest aside.
      (void)file.truncate(offset);
    }
  }
  if (!written) {
    return std::unexpected(parts_.file.ioError(written.error(), fmt::format("append at byte {} to", offset)));
  }
  if (parts_.file.opened().file != locked.file || !noteWritten(group, offset)) {
    (void)file.truncate(offset);
    return Outcome::OtherFile;
  }
  SysResult<void> synced;
  {
    const MutexUnlock unlocked(parts_.mutex);
    locked.lock.unlock();
    synced = file.sync();
  }
  if (!synced) {
    parts_.index.drop();
    parts_.file.setPoison(synced.error());
  }
  // A reader that saved the index may have received the error that this sync would have reported.
  if (parts_.file.poison()) return std::unexpected(*parts_.file.poison());
  turns_.countWritten(sealed_.bytes.size());
  // If the log was archived meanwhile, the batch is in the archive.
  if (parts_.file.opened().file != locked.file) return Outcome::Written;
  parts_.file.synced().bytes = offset + sealed_.bytes.size();
  parts_.index.extend();
  return Outcome::Written;
}

// Records the lines that are written but not yet durable, and does everything else that can be done while the disk
// works. Returns false, and records nothing, when the file has lost the session's name.
bool BatchWriter::noteWritten(const Group& group, std::uint64_t offset) {
  const auto info = parts_.file.namedFileInfo();
  if (parts_.file.isReplacedOrGone(info)) return false;
  // A reader of this process may have indexed the lines before us.
  if (parts_.index.summary().coveredBytes == offset) indexBatch(offset);
  lines_.clear();
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (outcomes_[i]) group[i]->release();
  }
  if (info && parts_.index.summary().coveredBytes == info->sizeBytes) parts_.index.setLastKnownFile(*info);
  return true;
}

// Adds the written lines to the index without reading them back. When there is no memory for the index, the index is
// dropped and the next call reads the lines from the file: the batch itself is written.
void BatchWriter::indexBatch(std::uint64_t offset) try {
  const std::string_view bytes = sealed_.bytes;
  std::size_t begin = bytes.starts_with('\n') ? 1 : 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const BatchLines::Line line = lines_[i];
    ScannedLine scanned{.offset = offset + begin,
                        .length = static_cast<std::uint32_t>(sealed_.lineEnds[i] - begin),
                        .keys = {},
                        .chained = true,
                        .text = bytes.substr(begin, sealed_.lineEnds[i] - begin)};
    scanned.keys.id = line.id();
    if (!line.parentId().empty()) scanned.keys.parentId = line.parentId();
    scanned.keys.type = line.type();
    parts_.index.addWritten(scanned);
    begin = sealed_.lineEnds[i] + 1;
  }
  // A reader may have cleared the head while we wrote. The head is read again when it is needed.
  std::string movedHead;
  const auto head = lines_.headAfter(movedHead);
  if (head) parts_.index.ends().headId = offsetOfUnreadableId(*head) ? std::string() : std::string(*head);
  parts_.index.setEnd(offset, bytes, sealed_.seal);
} catch (const std::bad_alloc&) {
  parts_.index.drop();
}

Result<void> BatchWriter::makeDurable(std::string_view id) {
  const MutexLock lock(parts_.mutex);
  if (parts_.file.poison()) return std::unexpected(*parts_.file.poison());
  BOUGH_TRY(parts_.index.refresh());
  // An archive gets its name only after it is durable.
  if (parts_.file.opened().form != LogForm::Plain || parts_.index.summary().count == 0) return {};
  const auto sequence = parts_.index.find(id);
  BOUGH_TRY(const Sequence last, lastBatch());
  return sequence && *sequence >= last ? syncCovered() : parts_.file.syncName();
}

Result<RepairReport> BatchWriter::repair() {
  const MutexLock writing(writing_);
  const MutexLock lock(parts_.mutex);
  RepairReport report{.sessionId = parts_.file.sessionId(),
                      .tornBytes = 0,
                      .damagedLines = 0,
                      .indexRebuilt = false,
                      .removedFiles = {},
                      .otherCopies = {},
                      .path = {},
                      .refusal = {}};
  if (parts_.file.poison()) return std::unexpected(*parts_.file.poison());
  if (!parts_.file.isOpen()) {
    BOUGH_TRY(parts_.index.reopen());
  }
  std::optional<LockedFile> locked;
  if (parts_.file.opened().form == LogForm::Plain) {
    BOUGH_TRY(LockedFile file, lockFile(NameCheck::BeforeWrite));
    locked.emplace(std::move(file));
  }
  const IndexSummary before = parts_.index.summary();
  const std::uint64_t generation = parts_.index.generation();
  BOUGH_TRY(parts_.index.rebuild());
  BOUGH_TRY(parts_.index.refresh());
  // If the log turns out to be unchanged, restore the generation, so that callers that know the log by its generation
  // need not start over.
  parts_.index.resume(before, generation);
  if (parts_.file.source().damagedAt()) {
    report.refusal = unpackError(parts_.file.opened());
  } else if (auto may = checkHeader(); !may) {
    report.refusal = may.error();
  } else if (locked) {
    BOUGH_TRY(setTornTailAside());
    BOUGH_TRY(syncCovered());
  }
  report.tornBytes = torn_.takeUnreportedBytes();
  report.damagedLines = parts_.index.summary().problemCount;
  parts_.index.save();
  report.indexRebuilt = parts_.index.records().hasFile();
  return report;
}

}  // namespace bough
