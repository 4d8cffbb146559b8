// Rewrites one file of a store without the erased payloads.

#include <fmt/format.h>

#include <cerrno>

#include "base/system/file_io.h"
#include "base/try.h"
#include "log/file/archive.h"
#include "log/file/new_file.h"
#include "log/source/scan.h"
#include "store/file/file_erasure.h"
#include "store/rules/header.h"
#include "store/rules/renamed_places.h"

namespace bough {
namespace {

// Collects output and writes it to a new file in large pieces.
class Pieces {
 public:
  explicit Pieces(NewFile& file) : file_(file) {}
  Result<void> add(std::string_view bytes) {
    constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
    buffer_ += bytes;
    return buffer_.size() < kPieceBytes ? Result<void>() : flush();
  }
  Result<void> flush() {
    BOUGH_TRY(file_.add(buffer_));
    buffer_.clear();
    return {};
  }

 private:
  NewFile& file_;
  std::string buffer_;
};

}  // namespace

Result<void> FileErasure::eraseLog(const Place& place, const LogFolders& folders) {
  constexpr int kTries = 8;
  const AskElsewhere askers = place.isTrash ? AskElsewhere() : store_.askElsewhere(place.id);
  bool packed = false;
  std::uint64_t countedBytes = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    {
      BOUGH_TRY(auto log, openLocked(folders, place.id, LockKind::Exclusive, store_.options.lockTimeoutMs));
      if (place.form != LogForm::Plain && log.form == LogForm::Plain) {
        // A compressed file beside the log, left by an interrupted archiving or put there by somebody.
        BOUGH_TRY(dropRedundantCopies(folders, place.id, log));
        const auto left = place.folder->info(place.name);
        if (left || left.error() != ENOENT) {
          giveUp(place, fmt::format("it is not read and holds something else than {}", log.path()));
        }
        return {};
      }
      packed = packed || log.form != LogForm::Plain;
    }
    if (packed) {
      BOUGH_TRY(restoreArchive(folders, place.id, store_.options.lockTimeoutMs));
    }
    {
      BOUGH_TRY(const auto log,
                SessionLog::open(
                    folders, place.id, store_.serializer, store_.environment,
                    {.lockTimeoutMs = store_.options.lockTimeoutMs, .writeIndex = false, .askElsewhere = askers}));
      BOUGH_TRY(SessionState state, log->state());
      if (state.trailingBytes > 0) {
        BOUGH_TRY(log->repair());
        BOUGH_TRY(state, log->state());
      }
      countedBytes = state.bytes - state.trailingBytes;
    }
    BOUGH_TRY(const bool done, rewriteLog(place, folders, countedBytes));
    if (!done) continue;
    if (packed && folders.archive) {
      BOUGH_TRY(archiveLog(folders, place.id, store_.options.lockTimeoutMs));
    }
    return {};
  }
  return fail(ErrorCode::Busy, fmt::format("session {} is replaced again and again", place.id), "try again");
}

Result<bool> FileErasure::rewriteLog(const Place& place, const LogFolders& folders, std::uint64_t countedBytes) {
  BOUGH_TRY(auto log, openLocked(folders, place.id, LockKind::Exclusive, store_.options.lockTimeoutMs));
  if (log.form != LogForm::Plain) return false;
  BOUGH_TRY(dropRedundantCopies(folders, place.id, log));
  ScanState state{.countedBytes = countedBytes};
  NullSink sink;
  const auto trailing = scanLog(*log.source, store_.serializer, state, sink);
  if (!trailing) return std::unexpected(readError(log, trailing.error(), "read"));
  if (*trailing > 0) return false;
  NewFile file(*folders.sessions, logName(place.id));
  BOUGH_TRY(file.create());
  Pieces pieces(file);
  LineEraser eraser(plan_, store_.serializer, traces_, namedPlaces_, place.sessionId,
                    [&](std::string_view bytes) { return pieces.add(bytes); });
  BOUGH_TRY(const auto found, eraser.run(*log.source, log.path()));
  const int format = store_.serializer.schemaVersion();
  if (found.format > format) {
    giveUp(place, unknownFormat(found.format));
    return true;
  }
  std::vector<const ErasureTarget*> lacking;
  for (const std::string& id : found.targets) {
    const ErasureTarget* const target = plan_.find(id);
    if (found.format == format && !found.receipts.contains(target->receiptId)) lacking.push_back(target);
  }
  if (!found.changed && lacking.empty()) {
    finishedPaths_.insert(place.path());
    return true;
  }
  if (found.lacksLineEnd) {
    BOUGH_TRY(pieces.add("\n"));
  }
  std::vector<Entry> added;
  for (const ErasureTarget* const target : lacking) added.push_back(receiptOf(plan_, *target, found.headId));
  // The index and the catalog may have counted damage at the end of the old log, but they do not know the new one. The
  // end of the new log therefore needs a complete batch after it; otherwise the damage and the earlier lines of its
  // batch would count as torn.
  const bool endsOpen = added.empty() && !found.endsBatch;
  if (found.format == format && (!found.renamed.empty() || endsOpen)) added.push_back(renamedPlacesInfo(found));
  SealDigits seal = found.lastSeal;
  for (std::size_t i = 0; i < added.size(); ++i) {
    std::string text;
    BOUGH_TRY(store_.serializer.encode(added[i], text));
    std::string line;
    seal =
        appendSealedLine(line, text, seal, static_cast<std::uint32_t>(i) + 1, static_cast<std::uint32_t>(added.size()));
    BOUGH_TRY(pieces.add(line));
  }
  BOUGH_TRY(pieces.flush());
  BOUGH_TRY(file.sync());
  BOUGH_TRY(file.publish());
  (void)folders.sessions->remove(indexName(place.id));
  return true;
}

// The entry is part of the new log, so nobody sees the log without it.
Entry FileErasure::renamedPlacesInfo(const ErasedLines& found) {
  Entry info{.id = store_.ids.next(), .parentId = found.headId, .timestamp = plan_.timestamp};
  info.type = entry_type::kSessionInfo;
  info.payload = renamedPlacesPayload(found.renamed);
  return info;
}

Result<void> FileErasure::eraseSideFile(const Place& place, const LogFolders& folders) {
  // A process that adds torn bytes holds the log's lock. Without a log, no process adds any.
  const auto locked = openLocked(folders, place.id, LockKind::Exclusive, store_.options.lockTimeoutMs);
  if (!locked && locked.error().code != ErrorCode::NotFound) return std::unexpected(locked.error());
  auto old = place.folder->open(place.name, OpenMode::Read);
  if (!old) return std::unexpected(systemError(old.error(), "open", place.path()));
  const auto source = plainSource(std::move(*old));
  NewFile file(*place.folder, place.name);
  BOUGH_TRY(file.create());
  Pieces pieces(file);
  LineEraser eraser(plan_, store_.serializer, traces_, namedPlaces_, place.sessionId,
                    [&](std::string_view bytes) { return pieces.add(bytes); });
  BOUGH_TRY(const auto found, eraser.run(*source, place.path()));
  if (!found.changed) return {};
  BOUGH_TRY(pieces.flush());
  BOUGH_TRY(file.sync());
  return file.publish();
}

}  // namespace bough
