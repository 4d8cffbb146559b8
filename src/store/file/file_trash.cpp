// Moves sessions of a file backend to the trash and restores them.
//
// The trash is the folder `trash`. A session's files are moved there under the name <id>~<when>, which cannot be the id
// of a session: `trash/a~1763164800000.jsonl` was `sessions/a.jsonl`. A file gets its new name before it loses the old
// one, so that it has a name at every moment.
//
// A process that dies in between leaves a session with both names. The session is shown once, where it still counts.
// The next list of the trash finishes the move (removeSecondName), under the lock that the dead process held. A move
// that is still running is therefore left alone.
//
// The files beside the logs (torn bytes, the file of format 0) lose their names in the store after the logs, and get
// them back before the logs, with a sync in between. So while a log has its name in the store, the store's own file
// beside it counts, if there is one: the file in the trash is only an earlier version.

#include "store/file/file_trash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/system/file_io.h"
#include "base/try.h"
#include "log/file/archive.h"
#include "log/file/new_file.h"
#include "log/source/line_reader.h"
#include "store/file/parts/removed_list.h"

namespace bough {
namespace {

struct TrashName {
  std::string sessionId;
  std::uint64_t removedMs = 0;
};

std::optional<TrashName> parseTrashId(std::string_view trashId) {
  const std::size_t mark = trashId.rfind('~');
  if (mark == std::string_view::npos || !isSessionId(trashId.substr(0, mark))) return std::nullopt;
  TrashName name{.sessionId = std::string(trashId.substr(0, mark))};
  const char* end = trashId.data() + trashId.size();
  const auto read = std::from_chars(trashId.data() + mark + 1, end, name.removedMs);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return name;
}

Error noSuchTrash(const std::string& trashId) {
  return fail(ErrorCode::NotFound, fmt::format("there is no {} in the trash", trashId.substr(0, 130)),
              "`bough trash` lists what is")
      .error();
}

bool isSameFile(Directory& one, const std::string& name, Directory& other, const std::string& otherName) {
  const auto first = one.info(name);
  const auto second = other.info(otherName);
  return first && second && first->identity == second->identity;
}

// Links a file under a new name. What an interrupted run has already linked counts as done.
Result<void> linkUnlessLinked(Directory& from, const std::string& name, Directory& to, const std::string& newName) {
  const std::string path = fmt::format("{}/{}", from.path(), name);
  if (const auto info = from.info(name); info && !info->isRegular) {
    // Opening the file tells what it is instead.
    const auto opened = from.open(name, OpenMode::Read);
    return std::unexpected(systemError(opened ? EISDIR : opened.error(), "move", path));
  }
  auto linked = from.linkTo(name, to, newName);
  if (!linked && linked.error() == EEXIST) {
    if (isSameFile(from, name, to, newName)) return {};
    return fail(ErrorCode::AlreadyExists, fmt::format("{}/{} is in the way of {}", to.path(), newName, path),
                "move it out of the store, then try again");
  }
  return orError(std::move(linked), "move", path);
}

Result<void> syncAll(std::initializer_list<Directory*> folders) {
  for (Directory* folder : folders) {
    if (folder == nullptr) continue;
    BOUGH_TRY(orError(folder->sync(), "sync", folder->path()));
  }
  return {};
}

}  // namespace

// The logs come first, with the one that takes precedence last among them; then the files beside them.
std::vector<FileTrash::FilePlace> FileTrash::placesOf(const std::string& sessionId, const std::string& trashId) const {
  Directory* sessions = store_.folders.sessions.get();
  Directory* archive = store_.folders.archive.get();
  std::vector<FilePlace> places = {{sessions, gzipName(sessionId), gzipName(trashId), true},
                                   {archive, gzipName(sessionId), gzipName(trashId), true},
                                   {archive, zstdName(sessionId), zstdName(trashId), true},
                                   {sessions, logName(sessionId), logName(trashId), true},
                                   {sessions, tornName(sessionId), tornName(trashId), false},
                                   {sessions, formatZeroName(sessionId), formatZeroName(trashId), false}};
  std::erase_if(places, [](const FilePlace& place) { return place.folder == nullptr; });
  return places;
}

Result<TrashedSession> FileTrash::moveIf(const std::string& sessionId, const Allowed& allowed) {
  BOUGH_TRY(store_.checkWritable(sessionId));
  const LogFolders& folders = store_.folders;
  BOUGH_TRY(const auto locked, openLocked(folders, sessionId, LockKind::Exclusive, store_.options.lockTimeoutMs));
  BOUGH_TRY(allowed());
  // Both files would get the same name in the trash. Two such files exist only when somebody put one there.
  if (folders.archive && folders.archive->info(gzipName(sessionId)) && folders.sessions->info(gzipName(sessionId))) {
    return fail(ErrorCode::AlreadyExists,
                fmt::format("{0} and {1} both hold a {2}", folders.sessions->path(), folders.archive->path(),
                            gzipName(sessionId)),
                "move one of them out of the store first");
  }
  BOUGH_TRY(const auto trash, store_.trashFolder(true));
  BOUGH_TRY(undoInterrupted(sessionId, trash));
  TrashedSession moved{.sessionId = sessionId, .removedMs = store_.environment.clock.nowMs()};
  const auto taken = [&](const std::string& name) { return trash->info(name).has_value(); };
  do {
    moved.trashId = fmt::format("{}~{}", sessionId, moved.removedMs++);
  } while (taken(logName(moved.trashId)) || taken(zstdName(moved.trashId)) || taken(gzipName(moved.trashId)));
  --moved.removedMs;
  const ChangeMark mark(store_.changes, sessionId, ChangeKind::Names);
  const auto places = placesOf(sessionId, moved.trashId);
  bool anyBeside = false;
  for (const FilePlace& place : places) {
    const auto info = place.folder->info(place.name);
    if (!info && info.error() == ENOENT) continue;
    if (!info) return std::unexpected(systemError(info.error(), "look at", place.folder->path() + "/" + place.name));
    BOUGH_TRY(linkUnlessLinked(*place.folder, place.name, *trash, place.trashName));
    moved.bytes += info->sizeBytes;
    anyBeside = anyBeside || !place.isLog;
  }
  BOUGH_TRY(syncAll({trash.get()}));
  // Remove the names in the same order: the session exists while the log that takes precedence has its name.
  for (const FilePlace& place : places) {
    if (!place.isLog && std::exchange(anyBeside, false)) {
      BOUGH_TRY(syncAll({folders.sessions.get(), folders.archive.get()}));
    }
    if (auto gone = place.folder->remove(place.name); !gone && gone.error() != ENOENT) {
      return std::unexpected(systemError(gone.error(), "remove", place.folder->path() + "/" + place.name));
    }
  }
  (void)folders.sessions->remove(indexName(sessionId));
  logs_.drop(sessionId);
  BOUGH_TRY(syncAll({folders.sessions.get(), folders.archive.get()}));
  return moved;
}

// Undoes what an interrupted move of the session left in the trash, so that the session is not there twice after this
// move. The caller holds the session's lock.
Result<void> FileTrash::undoInterrupted(const std::string& sessionId, const std::shared_ptr<Directory>& trash) {
  const bool hasTwoNames = std::ranges::any_of(placesOf(sessionId, sessionId), [](const FilePlace& place) {
    const auto info = place.folder->info(place.name);
    return place.isLog && info && info->linkCount > 1;
  });
  if (!hasTwoNames) return {};
  BOUGH_TRY(const auto names, orError(trash->list(), "list", trash->path()));
  for (const std::string& name : names) {
    const std::string trashId = name.substr(0, name.find('.', std::min(name.rfind('~'), name.size())));
    const auto parsed = parseTrashId(trashId);
    if (!parsed || parsed->sessionId != sessionId || !hasNameInStore(sessionId, trashId, *trash)) continue;
    BOUGH_TRY(moveBackLocked(sessionId, trashId, trash));
  }
  return {};
}

bool FileTrash::hasNameInStore(const std::string& sessionId, const std::string& trashId, Directory& trash) const {
  return std::ranges::any_of(placesOf(sessionId, trashId), [&](const FilePlace& place) {
    return place.isLog && isSameFile(*place.folder, place.name, trash, place.trashName);
  });
}

Result<OpenLog> FileTrash::lockLog(const std::string& sessionId, const std::string& trashId,
                                   const std::shared_ptr<Directory>& trash, int timeoutMs) const {
  auto live = openLocked(store_.folders, sessionId, LockKind::Exclusive, timeoutMs);
  if (live || live.error().code != ErrorCode::NotFound) return live;
  return openLocked({.sessions = trash, .archive = trash}, trashId, LockKind::Exclusive, timeoutMs);
}

// While the log has its name in the store, the session is in the store, and the names in the trash are removed.
// Otherwise the session is in the trash, and the files beside its log are removed from the store.
Result<void> FileTrash::removeSecondName(const TrashedSession& found, const std::shared_ptr<Directory>& trash) {
  BOUGH_TRY(store_.checkWritable(found.sessionId));
  BOUGH_TRY(const auto locked, lockLog(found.sessionId, found.trashId, trash, /*timeoutMs=*/0));
  if (locked.folder != trash) {
    if (!hasNameInStore(found.sessionId, found.trashId, *trash)) return {};
    return moveBackLocked(found.sessionId, found.trashId, trash);
  }
  bool removed = false;
  for (const FilePlace& place : placesOf(found.sessionId, found.trashId)) {
    if (place.isLog || !isSameFile(*place.folder, place.name, *trash, place.trashName)) continue;
    BOUGH_TRY(orError(place.folder->remove(place.name), "remove", place.folder->path() + "/" + place.name));
    removed = true;
  }
  return removed ? syncAll({store_.folders.sessions.get()}) : Result<void>();
}

Result<std::vector<TrashedSession>> FileTrash::list() {
  std::vector<TrashedSession> found;
  std::set<std::string> twoNames;
  auto trash = store_.trashFolder(false);
  if (!trash && trash.error().code == ErrorCode::NotFound) return found;
  if (!trash) return std::unexpected(trash.error());
  auto names = (*trash)->list();
  if (!names) return std::unexpected(systemError(names.error(), "list", (*trash)->path()));
  std::ranges::sort(*names);
  for (const std::string& name : *names) {
    const std::size_t dot = name.find('.', name.rfind('~') == std::string::npos ? name.size() : name.rfind('~'));
    const std::string trashId = name.substr(0, dot);
    const auto parsed = parseTrashId(trashId);
    if (!parsed || dot == std::string::npos) continue;
    const bool isLog = name == logName(trashId) || name == zstdName(trashId) || name == gzipName(trashId);
    const auto info = (*trash)->info(name);
    if (!info && info.error() == ENOENT) continue;  // somebody has emptied the trash meanwhile
    if (!info) return std::unexpected(systemError(info.error(), "look at", (*trash)->path() + "/" + name));
    if (info->linkCount > 1) twoNames.insert(trashId);
    // The names are sorted, so the files of one session are together, the log first.
    if (!found.empty() && found.back().trashId == trashId) {
      found.back().bytes += info->sizeBytes;
    } else if (isLog) {
      found.push_back({trashId, parsed->sessionId, parsed->removedMs, info->sizeBytes});
    }
  }
  // A process that cannot finish a move leaves it to the next list. The session is shown once, where it is.
  std::erase_if(found, [&](const TrashedSession& each) {
    if (!twoNames.contains(each.trashId)) return false;
    const bool there = hasNameInStore(each.sessionId, each.trashId, **trash);
    (void)removeSecondName(each, *trash);
    return there;
  });
  std::ranges::stable_sort(found, std::greater<>(), &TrashedSession::removedMs);
  return found;
}

Result<std::shared_ptr<SessionLog>> FileTrash::trashedLog(const std::string& trashId) {
  if (!parseTrashId(trashId)) return std::unexpected(noSuchTrash(trashId));
  auto trash = store_.trashFolder(false);
  if (!trash && trash.error().code == ErrorCode::NotFound) return std::unexpected(noSuchTrash(trashId));
  if (!trash) return std::unexpected(trash.error());
  auto log = SessionLog::open({.sessions = *trash, .archive = *trash}, trashId, store_.serializer, store_.environment,
                              {.lockTimeoutMs = store_.options.lockTimeoutMs, .writeIndex = false});
  if (!log && log.error().code == ErrorCode::NotFound) return std::unexpected(noSuchTrash(trashId));
  return log;
}

Result<SessionState> FileTrash::stateOf(const std::string& trashId) {
  BOUGH_TRY(const auto log, trashedLog(trashId));
  BOUGH_TRY(auto state, stateOfLog(*log, store_.serializer));
  BOUGH_TRY(const auto trash, store_.trashFolder(false));
  const LogFolders folders{.sessions = trash, .archive = trash};
  BOUGH_TRY(auto counting, openLog(folders, trashId));
  BOUGH_TRY(const auto copies, copiesBeside(folders, trashId, counting));
  state.problemCount += static_cast<std::uint64_t>(std::ranges::count(copies, false, &PackedCopy::isRedundant));
  return state;
}

Result<SeenOrigin> FileTrash::originOf(const std::string& trashId) {
  return originSeenIn(trashedLog(trashId), store_.serializer);
}

Result<void> FileTrash::exportLines(const std::string& trashId, const std::function<bool(std::string_view)>& line) {
  BOUGH_TRY(const auto log, trashedLog(trashId));
  return log->readAll([&](Sequence, const std::string& text) { return line(text); });
}

Result<void> FileTrash::moveBack(const std::string& trashId) {
  const auto name = parseTrashId(trashId);
  if (!name) return std::unexpected(noSuchTrash(trashId));
  auto trash = store_.trashFolder(false);
  if (!trash) return std::unexpected(noSuchTrash(trashId));
  const auto locked = lockLog(name->sessionId, trashId, *trash, store_.options.lockTimeoutMs);
  if (!locked && locked.error().code == ErrorCode::NotFound) return std::unexpected(noSuchTrash(trashId));
  if (!locked) return std::unexpected(locked.error());
  if (locked->folder != *trash && !hasNameInStore(name->sessionId, trashId, **trash)) {
    return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", name->sessionId),
                "move that one to the trash first; both are kept there");
  }
  return moveBackLocked(name->sessionId, trashId, *trash);
}

Result<void> FileTrash::moveBackLocked(const std::string& sessionId, const std::string& trashId,
                                       const std::shared_ptr<Directory>& trash) {
  std::vector<FilePlace> places = placesOf(sessionId, trashId);
  std::ranges::reverse(places);
  const ChangeMark mark(store_.changes, sessionId, ChangeKind::Names);
  // Restore the files beside the log first: once the log has its name again, the session is back and must be complete.
  std::ranges::stable_partition(places, [](const FilePlace& place) { return !place.isLog; });
  std::set<std::string> linked;
  for (const FilePlace& place : places) {
    if (isSameFile(*place.folder, place.name, *trash, place.trashName)) linked.insert(place.trashName);
  }
  // The files beside the log may have been replaced or removed by now.
  const bool wasThere = hasNameInStore(sessionId, trashId, *trash);
  bool any = wasThere;
  bool anyBeside = false;
  for (const FilePlace& place : places) {
    if (wasThere && !place.isLog) continue;
    const auto kept = trash->info(place.trashName);
    if (!kept && kept.error() == ENOENT) continue;
    if (!kept) return std::unexpected(systemError(kept.error(), "look at", trash->path() + "/" + place.trashName));
    anyBeside = anyBeside || !place.isLog;
    if (linked.contains(place.trashName)) continue;
    if (place.folder == store_.folders.sessions.get() && place.name.ends_with(".gz") && store_.folders.archive)
      continue;
    if (place.isLog && std::exchange(anyBeside, false)) {
      BOUGH_TRY(syncAll({store_.folders.sessions.get()}));
    }
    BOUGH_TRY(linkUnlessLinked(*trash, place.trashName, *place.folder, place.name));
    any = any || place.isLog;
  }
  if (!any) return std::unexpected(noSuchTrash(trashId));
  BOUGH_TRY(syncAll({store_.folders.sessions.get(), store_.folders.archive.get()}));
  return removeFiles(trashId);
}

Result<void> FileTrash::removeOne(const std::string& trashId) {
  if (const auto name = parseTrashId(trashId)) (void)noteRemoved(*store_.root, name->sessionId);
  return removeFiles(trashId);
}

// Look in the trash first: a session is recorded as removed before it leaves the trash.
Result<std::vector<std::string>> FileTrash::missing(std::vector<std::string> sessionIds) {
  std::unordered_set<std::string> rest(sessionIds.begin(), sessionIds.end());
  const auto trash = store_.trashFolder(false);
  if (!trash && trash.error().code != ErrorCode::NotFound) return std::unexpected(trash.error());
  if (trash) {
    BOUGH_TRY(const auto names, orError((*trash)->list(), "list", (*trash)->path()));
    for (const std::string& name : names) rest.erase(name.substr(0, name.rfind('~')));
  }
  BOUGH_TRY(orError(eraseRemoved(*store_.root, rest), "read", store_.root->path() + "/removed"));
  std::erase_if(sessionIds, [&](const std::string& id) { return !rest.contains(id); });
  return sessionIds;
}

Result<void> FileTrash::removeFiles(const std::string& trashId) {
  const auto name = parseTrashId(trashId);
  auto trash = store_.trashFolder(false);
  if (!name || !trash) return std::unexpected(noSuchTrash(trashId));
  bool any = false;
  std::vector<FilePlace> places = placesOf(name->sessionId, trashId);
  // Remove the logs last: while a log exists, the session is listed, and an interrupted removal can be repeated.
  std::ranges::reverse(places);
  for (const FilePlace& place : places) {
    auto gone = (*trash)->remove(place.trashName);
    if (!gone && gone.error() != ENOENT) {
      return orError(std::move(gone), "remove", (*trash)->path() + "/" + place.trashName);
    }
    any = any || gone.has_value();
  }
  if (!any) return std::unexpected(noSuchTrash(trashId));
  return syncAll({trash->get()});
}

}  // namespace bough
