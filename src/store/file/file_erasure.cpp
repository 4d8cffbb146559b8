#include "store/file/file_erasure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/system/file_io.h"
#include "base/try.h"
#include "store/file/parts/catalog_row.h"
#include "store/file/parts/erasure_journal.h"
#include "store/rules/lost_payloads.h"
#include "store/sharing/erasure_plan.h"

namespace bough {
namespace {

constexpr int kRounds = 8;
constexpr std::size_t kSha256Digits = 64;

std::string withoutTime(std::string_view trashId) {
  return std::string(trashId.substr(0, trashId.rfind('~')));
}

bool isGone(const Error& error) {
  return error.code == ErrorCode::NotFound;
}

}  // namespace

Result<ErasureReport> FileErasure::run(const Erasure& erasure) {
  BOUGH_TRY(store_.checkWritable(erasure.sessionId));
  BOUGH_TRY(store_.syncFolders());
  BOUGH_TRY(auto journal, ErasureJournal::lock(*store_.root, store_.options.lockTimeoutMs));
  BOUGH_TRY(auto unfinished, journal.read());
  if (unfinished) {
    // Uses the lock that is already held: taking it again here would wait forever.
    FileErasure before(backend_, store_, logs_);
    before.plan_ = std::move(*unfinished);
    BOUGH_TRY(before.rewriteAll({}));
    BOUGH_TRY(journal.remove());
  }
  canPlanGrow_ = true;
  BOUGH_TRY(plan_, planErasure(backend_, erasure, store_.ids, store_.environment.clock,
                               [&](const Entry& entry) { addTraces(traces_, entry.payload); }));
  BOUGH_TRY(readDamaged());
  BOUGH_TRY(auto places, findPlaces());
  canPlanGrow_ = false;
  report_ = reportOf(plan_);
  BOUGH_TRY(journal.write(plan_));
  BOUGH_TRY(rewriteAll(std::move(places)));
  BOUGH_TRY(journal.remove());
  return std::move(report_);
}

Result<void> FileErasure::resumeInterrupted() {
  if (store_.readOnlyReason || !ErasureJournal::exists(*store_.root)) return {};
  auto journal = ErasureJournal::lock(*store_.root, 0);
  if (!journal && journal.error().code == ErrorCode::Busy) return {};
  if (!journal) return std::unexpected(journal.error());
  BOUGH_TRY(auto plan, journal->read());
  if (!plan) return {};
  plan_ = std::move(*plan);
  BOUGH_TRY(rewriteAll({}));
  return journal->remove();
}

Result<void> FileErasure::readDamaged() {
  for (auto& [id, target] : plan_.targets) {
    if (!target.damaged) continue;
    BOUGH_TRY(const auto log,
              openLocked(store_.folders, target.sessionId, LockKind::Shared, store_.options.lockTimeoutMs));
    std::string line(static_cast<std::size_t>(std::min<std::uint64_t>(target.bytes, kMaxLineBytes + 2)), '\0');
    const auto got = readFully(*log.source, target.damaged->offset, line);
    if (!got) return std::unexpected(readError(log, got.error(), "read"));
    line.resize(*got);
    while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
    target.setLine(line);
    addTracesOfLine(traces_, line);
  }
  return {};
}

Result<std::vector<FileErasure::Place>> FileErasure::listPlaces() {
  struct Ending {
    std::string_view text;
    LogForm form = LogForm::Plain;
    bool isLog = false;
  };
  constexpr Ending kEndings[] = {{".jsonl", LogForm::Plain, true},
                                 {".jsonl.zst", LogForm::Zstd, true},
                                 {".jsonl.gz", LogForm::Gzip, true},
                                 {".torn", LogForm::Plain, false},
                                 {".v0", LogForm::Plain, false}};
  auto trash = store_.trashFolder(false);
  if (!trash && !isGone(trash.error())) return std::unexpected(trash.error());
  trash_ = trash ? *trash : nullptr;
  std::vector<Place> places;
  for (const auto& folder : {store_.folders.sessions, store_.folders.archive, trash_}) {
    if (!folder) continue;
    BOUGH_TRY(auto names, orError(folder->list(), "list", folder->path()));
    std::ranges::sort(names);
    for (const std::string& name : names) {
      const auto* const ending =
          std::ranges::find_if(kEndings, [&](const Ending& each) { return name.ends_with(each.text); });
      if (ending == std::end(kEndings)) continue;
      Place place{.folder = folder,
                  .name = name,
                  .id = name.substr(0, name.size() - ending->text.size()),
                  .sessionId = {},
                  .form = ending->form,
                  .isLog = ending->isLog,
                  .isTrash = folder == trash_};
      place.sessionId = place.isTrash ? withoutTime(place.id) : place.id;
      if (isSessionId(place.sessionId)) places.push_back(std::move(place));
    }
  }
  return places;
}

Result<ErasedLines> FileErasure::search(const Place& place) {
  const auto info = place.folder->info(place.name);
  if (!info && info.error() != ENOENT) return std::unexpected(systemError(info.error(), "look at", place.path()));
  if (!info || !info->isRegular) return ErasedLines();
  std::unique_ptr<ByteSource> source;
  if (place.form == LogForm::Plain) {
    auto file = place.folder->open(place.name, OpenMode::Read);
    if (!file && file.error() == ENOENT) return ErasedLines();
    if (!file) return std::unexpected(systemError(file.error(), "open", place.path()));
    source = plainSource(std::move(*file));
  } else {
    auto packed = openPacked(place.folder, place.name, place.form);
    if (!packed && isGone(packed.error())) return ErasedLines();
    if (!packed) return std::unexpected(packed.error());
    source = std::move(packed->source);
  }
  auto found =
      LineEraser(plan_, store_.serializer, traces_, namedPlaces_, place.sessionId, {}).run(*source, place.path());
  if (source->damagedAt() || (!found && found.error().code == ErrorCode::Damaged)) {
    giveUp(place, "not all of it can be unpacked, so it may hold more");
    return found ? std::move(*found) : ErasedLines();
  }
  return found;
}

Result<std::vector<FileErasure::Place>> FileErasure::findPlaces() {
  BOUGH_TRY(const auto all, listPlaces());
  std::vector<Place> places;
  std::set<std::string> wayBackAttachments;
  doubtful_.clear();
  bool again = false;
  for (const Place& place : all) {
    BOUGH_TRY(auto found, search(place));
    if (canPlanGrow_) {
      for (const Entry& entry : found.derivedEntries) {
        if (isErasedPayload(entry.payload) || plan_.find(entry.id) != nullptr) continue;
        BOUGH_TRY(addTarget(plan_, place.sessionId, entry, store_.ids));
        addTraces(found.traces, entry.payload);
        again = true;
      }
    }
    if (place.isLog) foundTargets_.insert(found.targets.begin(), found.targets.end());
    if (found.mayRemain) doubtful_.insert(place.path());
    wayBackAttachments.merge(found.wayBackAttachments);
    namedPlaces_.merge(found.namedPlaces);
    BOUGH_TRY(checkNamedPlaces(namedPlaces_, place.path()));
    const std::size_t known = traces_.size();
    traces_.merge(found.traces);
    again = again || traces_.size() != known;
    const bool lacksReceipt = place.isLog && std::ranges::any_of(found.targets, [&](const std::string& id) {
                                return !found.receipts.contains(plan_.find(id)->receiptId);
                              });
    if ((found.changed || lacksReceipt) && !finishedPaths_.contains(place.path())) places.push_back(place);
  }
  // What was learned from later files may be in files that were searched before.
  if (again) return findPlaces();
  for (const std::string& sha256 : wayBackAttachments) {
    if (!canPlanGrow_) break;
    const auto bytes = store_.attachments.get(sha256);
    if (!bytes && !LostPayloads::isLoss(bytes.error())) return std::unexpected(bytes.error());
    if (!bytes && bytes.error().code == ErrorCode::NotFound) continue;
    const auto isIn = [&](const std::string& trace) { return bytes->contains(trace); };
    // Nobody can use a damaged way back, and it cannot be determined what it contains of the plan.
    if (!bytes || std::ranges::any_of(traces_.certain, isIn) || wayBackNamesTarget(plan_, *bytes)) {
      plan_.wayBackAttachments.push_back(sha256);
    }
  }
  return places;
}

Result<void> FileErasure::rewriteAll(std::vector<Place> places) {
  const auto isOwner = [&](const Place& place) {
    return place.isLog && !place.isTrash && std::ranges::any_of(plan_.targets, [&](const auto& each) {
             return each.second.sessionId == place.sessionId;
           });
  };
  for (int round = 0;; ++round) {
    if (places.empty()) {
      BOUGH_TRY(places, findPlaces());
      if (places.empty()) break;
    }
    if (round == kRounds) {
      return fail(ErrorCode::Busy, fmt::format("{} changes again and again", places.front().path()),
                  "the erasure continues when the store is next opened");
    }
    std::ranges::stable_partition(places, [&](const Place& place) { return !isOwner(place); });
    for (const Place& place : places) BOUGH_TRY(eraseAt(place));
    places.clear();
  }
  std::erase_if(report_.entries, [&](const ErasedEntry& entry) {
    if (foundTargets_.contains(entry.entryId)) return false;
    report_.unreached.push_back(fmt::format("entry {}: its bytes changed meanwhile, or are too long", entry.entryId));
    return true;
  });
  for (const std::string& path : doubtful_) {
    report_.unreached.push_back(path + ": a line in it that cannot be read, or compared, may hold the same");
  }
  BOUGH_TRY(removeAttachments());
  return removeCatalog();
}

Result<void> FileErasure::eraseAt(const Place& place) {
  const LogFolders folders = place.isTrash ? LogFolders{.sessions = trash_, .archive = trash_} : store_.folders;
  const ChangeMark mark(store_.changes, place.sessionId);
  auto done = place.isLog ? eraseLog(place, folders) : eraseSideFile(place, folders);
  if (!place.isTrash) logs_.drop(place.id);
  if (!done && isGone(done.error())) return {};  // the file was moved: the next look finds it
  if (!done && done.error().code == ErrorCode::Damaged) {
    giveUp(place, done.error().message);
    return {};
  }
  if (done && (report_.rewritten.empty() || report_.rewritten.back() != place.id))
    report_.rewritten.push_back(place.id);
  return done;
}

// Checks every file for references, under the lock that keeps others from adding attachments.
Result<void> FileErasure::removeAttachments() {
  std::vector<std::string> names = plan_.attachments;
  names.insert(names.end(), plan_.wayBackAttachments.begin(), plan_.wayBackAttachments.end());
  if (names.empty()) return {};
  const std::vector<std::string> whole = names;
  BOUGH_TRY(const auto all, store_.attachments.list());
  for (const std::string& name : all) {
    // The file of an interrupted write of one of the attachments.
    const bool unfinished = std::ranges::any_of(
        whole, [&](const std::string& sha256) { return name.size() > sha256.size() && name.starts_with(sha256); });
    if (unfinished) names.push_back(name);
  }
  std::optional<std::set<std::string>> named;
  const auto isUnused = [&](const std::string& name) -> Result<bool> {
    const std::string sha256 = name.substr(0, kSha256Digits);
    if (std::ranges::find(plan_.wayBackAttachments, sha256) != plan_.wayBackAttachments.end()) return true;
    if (!named) {
      BOUGH_TRY(named, namedAttachments());
    }
    return !named->contains(sha256);
  };
  BOUGH_TRY(report_.removedAttachments, store_.attachments.remove(names, isUnused));
  if (named) report_.keptAttachments.assign(named->begin(), named->end());
  return store_.attachments.syncFoldersOf(whole);
}

Result<std::set<std::string>> FileErasure::namedAttachments() {
  std::set<std::string> named;
  BOUGH_TRY(const auto places, listPlaces());
  for (const Place& place : places) {
    BOUGH_TRY(auto found, search(place));
    named.merge(found.attachments);
  }
  return named;
}

// Lists and searches rebuild the catalog. A catalog that was set aside as damaged contains the same texts.
Result<void> FileErasure::removeCatalog() {
  constexpr std::string_view kNames[] = {"catalog.db.damaged", "catalog.db.damaged-wal", "catalog.db.damaged-shm",
                                         "catalog.db",         "catalog.db-wal",         "catalog.db-shm",
                                         "catalog.db-journal"};
  constexpr std::size_t kSetAside = 3;
  const std::span<const std::string_view> names(kNames);
  for (const std::string_view name :
       emptyCatalog(store_.root->path(), report_.rewritten) ? names.first(kSetAside) : names) {
    if (auto gone = store_.root->remove(name); !gone && gone.error() != ENOENT) {
      return std::unexpected(systemError(gone.error(), "remove", fmt::format("{}/{}", store_.root->path(), name)));
    }
  }
  return orError(store_.root->sync(), "sync", store_.root->path());
}

void FileErasure::giveUp(const Place& place, std::string_view why) {
  if (finishedPaths_.insert(place.path()).second) report_.unreached.push_back(fmt::format("{}: {}", place.path(), why));
}

}  // namespace bough
