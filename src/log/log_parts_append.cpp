// How a session's log grows; session_log.h says which steps in which order, and why.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/file_io.h"
#include "base/timestamp.h"
#include "base/try.h"
#include "log/archive.h"
#include "log/log_parts.h"

namespace bough {

// The log as an append sees it. What stands before it in the group is among the group's lines.
class LogParts::View final : public LogView {
 public:
  explicit View(LogParts& log) : log_(log) {}

  Result<std::optional<Entry>> entryOf(std::string_view id) override {
    const auto ordinal = log_.index_.find(id, log_.confirmer());
    if (!ordinal) return std::nullopt;
    auto lines = log_.fetch({*ordinal});
    if (!lines) return std::unexpected(lines.error());
    if (lines->empty() || log_.readMismatch_) return fail(ErrorCode::Damaged, "the index is damaged");
    auto entry = log_.serializer_.decode(lines->front());
    if (!entry) return std::unexpected(entry.error());
    return std::move(*entry);
  }

  Result<bool> contains(std::string_view id) override {
    return id == log_.tailId_ || log_.index_.find(id, log_.confirmer()).has_value();
  }

  [[nodiscard]] std::string_view tailId() const override {
    return log_.groupLines_.empty() ? std::string_view(log_.tailId_) : log_.groupLines_.back().id();
  }
  [[nodiscard]] std::string_view headId() override {
    return log_.groupLines_.headAfter(movedHead_).value_or(log_.headId_);
  }
  [[nodiscard]] std::uint64_t generation() const override { return log_.generation_; }
  [[nodiscard]] LogCondition condition() const override {
    return {.tornBytes = log_.movedBytes_, .problemCount = log_.index_.summary().problemCount};
  }

 private:
  LogParts& log_;
  std::string movedHead_;
};

void LogParts::append(AppendWork& work, std::size_t weightBytes) {
  commits_.run(work, weightBytes);
}

// An append without a pause behind the one before it would leave other processes no gap. So now and then we ask for the
// lock behind those who wait for it; not each time, since that costs two calls.
LockOrder LogParts::nextOrder() {
  constexpr unsigned kAppends = 16;
  constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;
  if (++appendsSinceTurn_ < kAppends && bytesSinceTurn_ < kBytes) return LockOrder::AtOnce;
  appendsSinceTurn_ = 0;
  bytesSinceTurn_ = 0;
  return LockOrder::InTurn;
}

// Whether the file is as our last append left it: nothing to catch up with, nothing to settle.
bool LogParts::isAsLeft(const FileInfo& info) const {
  return info.linkCount > 0 && info.sizeBytes == seenSize_ && info.modifiedNs == seenModifiedNs_ &&
         syncedBytes_ == seenSize_ && nameSynced_;
}

// Locks the file that has the session's name now: between opening it and locking it another process may have archived
// or replaced it. With NameLook::Later a file that is as we left it is taken at its word, and the caller looks at the
// name before anything is acknowledged. `lock` is open while we wait.
Result<std::shared_ptr<File>> LogParts::lockForAppend(std::unique_lock<std::mutex>& lock, NameLook look) {
  if (!isOpen()) {
    BOUGH_TRY(reopen());
  }
  for (int tries = 0; tries < 8; ++tries) {
    if (log_.form != LogForm::Plain) {
      if (auto may = checkHeader(); !may) return std::unexpected(may.error());
      lock.unlock();
      auto restored = restoreArchive(folders_, sessionId_, options_.lockTimeoutMs);
      lock.lock();
      if (!restored) return std::unexpected(restored.error());
      if (auto opened = reopen(); !opened) return std::unexpected(opened.error());
      continue;
    }
    if (log_.writeError != 0) return std::unexpected(systemError(log_.writeError, "write to", log_.path()));
    std::shared_ptr<File> file = log_.file;
    const LockOrder order = nextOrder();
    lock.unlock();
    auto locked = lockWithin(*file, LockKind::Exclusive, options_.lockTimeoutMs, plainPath_, order);
    lock.lock();
    if (!locked) return std::unexpected(locked.error());
    if (look == NameLook::Later && log_.file == file) {
      if (const auto left = file->info(); left && isAsLeft(*left)) return file;
    }
    const auto info = log_.folder->info(log_.name);
    if (log_.file == file && info && info->identity == log_.info.identity) {
      if (auto fresh = refreshFrom(*info); !fresh) {
        (void)file->unlock();
        return std::unexpected(fresh.error());
      }
      return file;
    }
    (void)file->unlock();
    if (!info && info.error() != ENOENT) return std::unexpected(ioError(info.error(), "look at"));
    if (auto opened = reopen(); !opened) return std::unexpected(opened.error());
  }
  return fail(ErrorCode::Busy, fmt::format("{} is replaced again and again", log_.path()), "try again");
}

Error LogParts::syncError(int number) const {
  return {.code = ErrorCode::Poisoned,
          .message = fmt::format("{} could not be synced ({}), so it is unknown what the disk holds", log_.path(),
                                 std::strerror(number)),
          .hint = "check the disk, then open the store again and repeat the batch: what is there is known by its ids",
          .retryable = false,
          .actualTail = {}};
}

Result<void> LogParts::syncFile() {
  const auto synced = log_.file->sync();
  if (synced) return {};
  poison_ = syncError(synced.error());
  return std::unexpected(*poison_);
}

// Under the lock: what is behind the last complete batch was never acknowledged, and what is before it becomes durable.
Result<void> LogParts::settle() {
  if (index_.summary().count == 0) {
    return fail(ErrorCode::Damaged, fmt::format("{} holds no entry that can be read", log_.path()),
                "it is empty or no session file; see `bough verify`");
  }
  const std::uint64_t covered = index_.summary().coveredBytes;
  if (seenSize_ > covered) {
    if (auto moved = moveTornAside(covered, seenSize_); !moved) return moved;
    movedBytes_ += seenSize_ - covered;
    syncedBytes_ = 0;
  }
  return syncCovered();
}

Result<void> LogParts::syncCovered() {
  const std::uint64_t covered = index_.summary().coveredBytes;
  if (syncedBytes_ < covered) {
    if (auto renewed = renewLastBatch(covered); !renewed) return renewed;
    if (auto synced = syncFile(); !synced) return synced;
    syncedBytes_ = covered;
  }
  return syncName();
}

// Whoever made or replaced the file may have died before its name was durable.
Result<void> LogParts::syncName() {
  if (nameSynced_) return {};
  if (const auto synced = log_.folder->sync(); !synced) {
    return std::unexpected(ioError(synced.error(), "sync the folder of"));
  }
  nameSynced_ = true;
  return {};
}

// Where the last batch begins. The ones before it are durable: a writer syncs what is there before it adds to it.
Result<Ordinal> LogParts::lastBatch() {
  const Ordinal last = index_.summary().count - 1;
  auto line = fetch({last});
  if (!line) return std::unexpected(line.error());
  const auto seal = line->empty() ? std::nullopt : findSeal(line->front());
  return last - (seal ? std::min<Ordinal>(seal->place - 1, last) : 0);
}

// Writes the last batch once more, as it stands, before it is synced. Its writer may have died over a sync that failed:
// the system then takes its pages for clean though the disk never got them, and no later sync would write them.
Result<void> LogParts::renewLastBatch(std::uint64_t covered) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  if (index_.summary().count == 0 || log_.writeError != 0) return {};
  const auto first = lastBatch();
  if (!first) return std::unexpected(first.error());
  std::string piece;
  for (std::uint64_t at = index_.record(*first).offset; at < covered; at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, covered - at)));
    const auto got = readFully(*log_.source, at, piece);
    if (!got) return std::unexpected(ioError(got.error(), "read"));
    if (*got != piece.size()) return {};  // it shrinks; the next look finds out
    if (const auto put = writeFully(*log_.file, at, piece); !put) return std::unexpected(appendError(put.error(), at));
  }
  // It was nobody else.
  if (const auto info = log_.file->info(); info && info->sizeBytes == seenSize_) noteSeen(*info);
  return {};
}

void LogParts::noteSeen(const FileInfo& info) {
  seenSize_ = info.sizeBytes;
  seenModifiedNs_ = info.modifiedNs;
  if (index_.summary().doubtful != 0) readStamp_ = stampOf(info);
}

Error LogParts::appendError(int number, std::uint64_t offset) {
  return ioError(number, fmt::format("append at byte {} to", offset));
}

// Copies the bytes to <session>.torn, each time under a line that says where they stood, and only then cuts them off.
Result<void> LogParts::moveTornAside(std::uint64_t begin, std::uint64_t end) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const std::string name = tornName(sessionId_);
  const std::string path = log_.folder->path() + "/" + name;
  auto torn = log_.folder->open(name, OpenMode::OpenOrCreate);
  if (!torn) return std::unexpected(systemError(torn.error(), "open", path));
  const auto info = (*torn)->info();
  if (!info) return std::unexpected(systemError(info.error(), "look at", path));

  std::uint64_t at = info->sizeBytes;
  const auto put = [&](std::string_view bytes) {
    auto written = writeFully(**torn, at, bytes);
    at += bytes.size();
    return orError(std::move(written), "write", path);
  };
  auto done = put(fmt::format("{{\"torn\":{{\"offset\":{},\"bytes\":{},\"timestamp\":\"{}\"}}}}\n", begin, end - begin,
                              formatTimestamp(environment_.clock.nowMs())));
  std::string piece;
  for (std::uint64_t from = begin; done && from < end; from += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end - from)));
    const auto got = readFully(*log_.source, from, piece);
    if (!got) return std::unexpected(ioError(got.error(), "read"));
    if (*got == 0) break;
    piece.resize(*got);
    done = put(piece);
  }
  if (done) done = put("\n");
  if (done) done = orError((*torn)->sync(), "sync", path);
  if (done) done = orError(log_.folder->sync(), "sync the folder of", path);
  if (!done) return done;
  if (const auto cut = log_.file->truncate(begin); !cut) return std::unexpected(ioError(cut.error(), "cut"));
  return syncFile();
}

// Makes groupBytes_ of the lines, and notes where each one ends.
void LogParts::sealGroup() {
  constexpr std::size_t kKeptBytes = std::size_t{1} << 20;
  const std::size_t total = 1 + groupLines_.totalBytes() + groupLines_.size() * kSealTailBytes;
  if (groupBytes_.capacity() > kKeptBytes && total < kKeptBytes) groupBytes_ = std::string();
  groupBytes_.clear();
  groupBytes_.reserve(total);
  lineEnds_.clear();
  const ScanState state = index_.scanState();
  if (state.lacksLineEnd) groupBytes_ += '\n';
  groupSeal_ = state.lastSeal;
  const auto count = static_cast<std::uint32_t>(groupLines_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    groupSeal_ = appendSealedLine(groupBytes_, groupLines_[i].text(), groupSeal_, i + 1, count);
    lineEnds_.push_back(groupBytes_.size() - 1);
  }
}

// Adds the written lines to the index without reading them back.
void LogParts::indexGroup(std::uint64_t offset) {
  const std::string_view bytes = groupBytes_;
  std::size_t begin = bytes.starts_with('\n') ? 1 : 0;
  const OffsetIndex::ConfirmId confirmId = confirmer();
  for (std::size_t i = 0; i < groupLines_.size(); ++i) {
    const NewLines::Line line = groupLines_[i];
    ScannedLine scanned{.offset = offset + begin,
                        .length = static_cast<std::uint32_t>(lineEnds_[i] - begin),
                        .keys = {},
                        .chained = true,
                        .text = bytes.substr(begin, lineEnds_[i] - begin)};
    scanned.keys.id = line.id();
    if (!line.parentId().empty()) scanned.keys.parentId = line.parentId();
    scanned.keys.type = line.type();
    BOUGH_CHECK(index_.add(scanned, confirmId, tailId_));
    tailId_ = line.id();
    tailOffset_ = scanned.offset;
    begin = lineEnds_[i] + 1;
  }
  // A reader that came by while we wrote may have dropped the head; it is found again when it is asked for.
  std::string movedHead;
  if (const auto head = groupLines_.headAfter(movedHead)) headId_ = *head;
  edge_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kEdgeBytes)));
  // Not for each append: moving what is kept to the front costs more than the rest of this.
  if (edge_.size() > 4 * kEdgeBytes) edge_.erase(0, edge_.size() - kEdgeBytes);
  index_.setScanState({.offset = offset + bytes.size(), .lastSeal = groupSeal_, .lacksLineEnd = false});
}

// Only what is durable: an index must not vouch for bytes that a crash may take.
void LogParts::extendIndex() {
  const bool trusted = options_.writeIndex && !readMismatch_ && !index_.damaged();
  if (!trusted || !index_.hasFile() || index_.unsavedBytes() <= kExtendAfterBytes) return;
  if (index_.summary().coveredBytes != syncedBytes_) return;
  sumEdge();
  index_.extendFile();
}

Error LogParts::replacedError() const {
  return {.code = ErrorCode::Io,
          .message = fmt::format("{} was replaced while it was appended to", log_.path()),
          .hint = "look what replaced it; then append again",
          .retryable = false,
          .actualTail = {}};
}

// What a look at the session's name has found: whether it leads to another file than ours, or to none.
bool LogParts::hasLostName(const SysResult<FileInfo>& named) const {
  return named ? named->identity != log_.info.identity : named.error() == ENOENT;
}

// Takes note of lines that are written but not yet durable: all that can be done while the disk works. False when the
// file has lost the session's name, and nothing was noted.
bool LogParts::noteWritten(const std::vector<AppendWork*>& group, std::uint64_t offset) {
  const auto info = log_.folder->info(log_.name);
  if (hasLostName(info)) return false;
  // A reader of this process may have found the lines before us.
  if (index_.summary().coveredBytes == offset) indexGroup(offset);
  groupLines_.clear();
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (outcomes_[i]) group[i]->release();
  }
  if (info && index_.summary().coveredBytes == info->sizeBytes) noteSeen(*info);
  return true;
}

// Writes what the group wants to add. `lock` is open during the write and the sync, so that readers go on: only the
// holder of the file's lock comes here. False when the file turned out to have lost the session's name: then nothing of
// the batch is left in it, and what it was judged by is not the session.
//
// The file's lock ends before the sync. Whoever comes then finds a batch that is not known to be durable, and makes it
// so before it adds to it. So a batch whose sync fails stays: others may have answered for it by then.
Result<bool> LogParts::commitLines(const std::vector<AppendWork*>& group, File& file, FileLock& fileLock,
                                   std::unique_lock<std::mutex>& lock) {
  if (log_.file.get() != &file) return false;
  if (groupLines_.empty()) return !hasLostName(log_.folder->info(log_.name));
  const std::uint64_t offset = index_.summary().coveredBytes;
  sealGroup();

  lock.unlock();
  const auto written = writeFully(file, offset, groupBytes_);
  if (written) {
    file.startSync(offset, groupBytes_.size());
  } else {
    // Nothing of this was acknowledged. What is left when cutting fails too is moved aside by the next append.
    (void)file.truncate(offset);
  }
  lock.lock();
  if (!written) return std::unexpected(appendError(written.error(), offset));
  if (log_.file.get() != &file || !noteWritten(group, offset)) {
    (void)file.truncate(offset);
    return false;
  }

  lock.unlock();
  fileLock.unlock();
  const auto synced = file.sync();
  lock.lock();
  if (!synced) {
    forgetIndex();
    poison_ = syncError(synced.error());
  }
  // A reader that saved the index may have met the error that this sync would have reported.
  if (poison_) return std::unexpected(*poison_);
  bytesSinceTurn_ += groupBytes_.size();
  // When it was archived meanwhile, the batch is in the archive.
  if (log_.file.get() != &file) return true;
  syncedBytes_ = offset + groupBytes_.size();
  extendIndex();
  return true;
}

Result<void> LogParts::loadTail() {
  if (!tailId_.empty()) return {};
  const Ordinal last = index_.summary().count - 1;
  auto tail = idOf(last);
  if (!tail) return std::unexpected(tail.error());
  tailId_ = std::move(*tail);
  tailOffset_ = index_.record(last).offset;
  return {};
}

// Lets each work of the group check itself. Fails as a whole when the index cannot be trusted.
Result<void> LogParts::prepareGroup(const std::vector<AppendWork*>& group) {
  View view(*this);
  groupLines_.clear();
  outcomes_.clear();
  for (AppendWork* work : group) {
    const std::size_t before = groupLines_.size();
    auto prepared = work->prepare(view, groupLines_);
    if (index_.damaged() || readMismatch_) {
      return fail(ErrorCode::Damaged, fmt::format("{} is damaged", log_.path()), "run `bough verify`");
    }
    if (prepared && groupLines_.size() > kMaxBatchEntries) {
      prepared = fail(ErrorCode::InvalidArgument, "a batch of more than 1,000,000 entries", "append it in parts");
    }
    if (!prepared) groupLines_.shrinkTo(before);
    outcomes_.push_back(std::move(prepared));
  }
  return {};
}

void LogParts::commit(const std::vector<AppendWork*>& group) {
  const std::lock_guard writing(writing_);
  std::unique_lock lock(mutex_);
  const auto failAll = [&](const Error& error) {
    for (AppendWork* work : group) work->finish(std::unexpected(error));
  };
  if (poison_) return failAll(*poison_);
  // Again when the index turns out to have misled us, or the file to be another one.
  constexpr int kTries = 3;
  for (int tries = 1; tries <= kTries; ++tries) {
    const auto file = lockForAppend(lock, tries == 1 ? NameLook::Later : NameLook::Now);
    if (!file) return failAll(file.error());
    FileLock fileLock(**file);
    if (auto may = checkHeader(); !may) return failAll(may.error());
    if (auto settled = settle(); !settled) return failAll(settled.error());
    if (auto tail = loadTail(); !tail) return failAll(tail.error());
    if (auto head = loadHead(); !head) return failAll(head.error());
    auto prepared = prepareGroup(group);
    if (!prepared && tries == kTries) return failAll(prepared.error());
    if (!prepared) {
      // Nothing is written on the word of such an index: make it anew and ask again.
      forgetIndex();
      if (auto fresh = refresh(); !fresh) return failAll(fresh.error());
      continue;
    }
    const auto written = commitLines(group, **file, fileLock, lock);
    if (written && !*written) continue;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (outcomes_[i] && !written) outcomes_[i] = std::unexpected(written.error());
      if (outcomes_[i]) movedBytes_ = 0;
      group[i]->finish(std::move(outcomes_[i]));
    }
    return;
  }
  failAll(replacedError());
}

Result<void> LogParts::makeDurable(std::string_view id) {
  const std::lock_guard lock(mutex_);
  if (poison_) return std::unexpected(*poison_);
  if (auto fresh = refresh(); !fresh) return fresh;
  // An archive has its name only once it is durable.
  if (log_.form != LogForm::Plain || index_.summary().count == 0) return {};
  const auto ordinal = index_.find(id, confirmer());
  const auto last = lastBatch();
  if (!last) return std::unexpected(last.error());
  return ordinal && *ordinal >= *last ? syncCovered() : syncName();
}

Result<RepairReport> LogParts::repair() {
  const std::lock_guard writing(writing_);
  std::unique_lock lock(mutex_);
  RepairReport report{.sessionId = sessionId_,
                      .tornBytes = 0,
                      .damagedLines = 0,
                      .indexRebuilt = false,
                      .removedFiles = {},
                      .otherCopies = {},
                      .path = {},
                      .refusal = {}};
  if (poison_) return std::unexpected(*poison_);
  if (!isOpen()) {
    BOUGH_TRY(reopen());
  }
  std::shared_ptr<File> file;
  std::optional<FileLock> fileLock;
  if (log_.form == LogForm::Plain) {
    auto locked = lockForAppend(lock, NameLook::Now);
    if (!locked) return std::unexpected(locked.error());
    file = std::move(*locked);
    fileLock.emplace(*file);
  }
  const IndexSummary before = index_.summary();
  const std::uint64_t generation = generation_;
  forgetIndex();
  if (auto fresh = refresh(); !fresh) return std::unexpected(fresh.error());
  // Those who know the log by its generation need not begin anew when it turns out to be as it was.
  if (index_.summary().isSameLogAs(before)) generation_ = generation;
  if (log_.source->damagedAt()) {
    report.refusal = unpackError(log_);
  } else if (auto may = checkHeader(); !may) {
    report.refusal = may.error();
  } else if (file) {
    if (auto settled = settle(); !settled) return std::unexpected(settled.error());
  }
  report.tornBytes = std::exchange(movedBytes_, 0);
  report.damagedLines = index_.summary().problemCount;
  saveIndex();
  report.indexRebuilt = index_.hasFile();
  return report;
}

}  // namespace bough
