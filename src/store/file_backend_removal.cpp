// How FileBackend takes sessions away, for good or to the trash, and brings them back.
//
// The trash is the folder `trash`. A session's files go there under the name <id>~<when>, an id that no session can
// have: `trash/a~1763164800000.jsonl` was `sessions/a.jsonl`. A file gets its new name before it loses the old one, so
// that it has one at every moment.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/file_io.h"
#include "log/archive.h"
#include "log/line_reader.h"
#include "log/new_file.h"
#include "store/file_backend.h"
#include "store/header.h"

namespace bough {
namespace {

class LogHold final : public Hold {
 public:
  explicit LogHold(OpenLog log) : log_(std::move(log)) {}

 private:
  OpenLog log_;
};

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

// What an interrupted run has done already counts.
Result<void> linkOver(Directory& from, const std::string& name, Directory& to, const std::string& newName) {
  const std::string path = fmt::format("{}/{}", from.path(), name);
  if (const auto info = from.info(name); info && !info->isRegular) {
    // Opening it tells what it is instead.
    const auto opened = from.open(name, OpenMode::Read);
    return std::unexpected(systemError(opened ? EISDIR : opened.error(), "move", path));
  }
  auto linked = from.linkTo(name, to, newName);
  if (!linked && linked.error() == EEXIST) {
    if (isSameFile(from, name, to, newName)) return {};
    return fail(ErrorCode::AlreadyExists, fmt::format("{}/{} stands in the way of {}", to.path(), newName, path),
                "move it out of the store, then try again");
  }
  return orError(std::move(linked), "move", path);
}

// Gives all of a file to `use`, a mebibyte at a time. Each part begins with the last bytes of the one before it, so
// that a name that stands across its end is whole in one of them.
Result<void> forEachPart(Directory& folder, const std::string& name, const std::function<void(std::string_view)>& use) {
  constexpr std::size_t kPartBytes = std::size_t{1} << 20;
  constexpr std::size_t kAgainBytes = 128;
  const std::string path = folder.path() + "/" + name;
  auto file = folder.open(name, OpenMode::Read);
  if (!file && file.error() == ENOENT) return {};
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  std::string part(kPartBytes, '\0');
  for (std::uint64_t at = 0;; at += kPartBytes - kAgainBytes) {
    const auto got = readFully(**file, at, part);
    if (!got) return std::unexpected(systemError(got.error(), "read", path));
    use(std::string_view(part).substr(0, *got));
    if (*got < part.size()) return {};
  }
}

Result<void> syncAll(std::initializer_list<Directory*> folders) {
  for (Directory* folder : folders) {
    if (folder == nullptr) continue;
    if (auto synced = orError(folder->sync(), "sync", folder->path()); !synced) return synced;
  }
  return {};
}

}  // namespace

// Whatever is written to a log changes its size or its time, and whatever replaces it its identity.
Result<std::string> FileBackend::stamp(const std::string& sessionId) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  const std::pair<Directory*, std::string> places[] = {{folders_.sessions.get(), logName(sessionId)},
                                                       {folders_.archive.get(), zstdName(sessionId)},
                                                       {folders_.archive.get(), gzipName(sessionId)},
                                                       {folders_.sessions.get(), gzipName(sessionId)}};
  for (std::size_t i = 0; i < std::size(places); ++i) {
    const auto& [folder, name] = places[i];
    if (folder == nullptr) continue;
    auto info = folder->info(name);
    if (!info && info.error() == ENOENT) continue;
    if (!info) return std::unexpected(systemError(info.error(), "look at", folder->path() + "/" + name));
    return fmt::format("{}:{}:{}:{}", i, info->identity.inode, info->sizeBytes, info->modifiedNs);
  }
  return fail(ErrorCode::NotFound, fmt::format("there is no session {} in {}", sessionId, root_->path()),
              "`bough ls` lists the sessions of a store");
}

Result<void> FileBackend::remove(const std::string& sessionId, const std::function<Result<void>()>& allowed) {
  if (auto valid = checkSessionId(sessionId); !valid) return valid;
  auto locked = openLocked(folders_, sessionId, LockKind::Exclusive, options_.lockTimeoutMs);
  if (!locked) return std::unexpected(locked.error());
  if (auto may = allowed(); !may) return may;
  const ChangeMark mark(changes_, sessionId, ChangeKind::Names);
  // The log last: while it is there, the session is. Before it, for good, what an interrupted archiving or restoring
  // has left: it would bring the session back.
  const std::pair<Directory*, std::string> copies[] = {{folders_.sessions.get(), logName(sessionId)},
                                                       {folders_.archive.get(), zstdName(sessionId)},
                                                       {folders_.archive.get(), gzipName(sessionId)},
                                                       {folders_.sessions.get(), gzipName(sessionId)}};
  Result<void> removed;
  for (const auto& [folder, name] : copies) {
    if (folder == nullptr || (folder == locked->folder.get() && name == locked->name)) continue;
    if (auto gone = folder->remove(name); !gone && gone.error() != ENOENT) {
      return orError(std::move(gone), "remove", folder->path() + "/" + name);
    }
  }
  for (const auto& folder : {folders_.sessions, folders_.archive}) {
    if (folder && removed) removed = orError(folder->sync(), "sync", folder->path());
  }
  if (!removed) return removed;
  for (const std::string& name : {indexName(sessionId), tornName(sessionId), formatZeroName(sessionId)}) {
    (void)folders_.sessions->remove(name);
  }
  removed = removeDurably(*locked->folder, locked->name);
  forget(sessionId);
  return removed;
}

Result<std::unique_ptr<Hold>> FileBackend::pin(const std::string& sessionId, const std::string& entryId) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  auto locked = openLocked(folders_, sessionId, LockKind::Shared, options_.lockTimeoutMs);
  if (!locked) return std::unexpected(locked.error());
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  if (auto durable = (*session)->makeDurable(entryId); !durable) return std::unexpected(durable.error());
  return std::make_unique<LogHold>(std::move(*locked));
}

// The logs first, the one that counts last among all; then what lies beside it.
std::vector<FilePlace> FileBackend::placesOf(const std::string& sessionId, const std::string& trashId) const {
  Directory* sessions = folders_.sessions.get();
  Directory* archive = folders_.archive.get();
  std::vector<FilePlace> places = {{sessions, gzipName(sessionId), gzipName(trashId), true},
                                   {archive, gzipName(sessionId), gzipName(trashId), true},
                                   {archive, zstdName(sessionId), zstdName(trashId), true},
                                   {sessions, logName(sessionId), logName(trashId), true},
                                   {sessions, tornName(sessionId), tornName(trashId), false},
                                   {sessions, formatZeroName(sessionId), formatZeroName(trashId), false}};
  std::erase_if(places, [](const FilePlace& place) { return place.folder == nullptr; });
  return places;
}

Result<std::shared_ptr<Directory>> FileBackend::trashFolder(bool create) {
  auto folder = root_->openDirectory("trash", create);
  if (!folder) return std::unexpected(systemError(folder.error(), "open", root_->path() + "/trash"));
  if (create) {
    if (auto synced = orError(root_->sync(), "sync", root_->path()); !synced) return std::unexpected(synced.error());
  }
  return std::shared_ptr<Directory>(std::move(*folder));
}

Result<TrashedSession> FileBackend::trash(const std::string& sessionId, const std::function<Result<void>()>& allowed) {
  if (auto valid = checkSessionId(sessionId); !valid) return std::unexpected(valid.error());
  auto locked = openLocked(folders_, sessionId, LockKind::Exclusive, options_.lockTimeoutMs);
  if (!locked) return std::unexpected(locked.error());
  if (auto may = allowed(); !may) return std::unexpected(may.error());
  // Both would have one name in the trash. Only somebody else's hand makes two.
  if (folders_.archive && folders_.archive->info(gzipName(sessionId)) && folders_.sessions->info(gzipName(sessionId))) {
    return fail(ErrorCode::AlreadyExists,
                fmt::format("{0} and {1} both hold a {2}", folders_.sessions->path(), folders_.archive->path(),
                            gzipName(sessionId)),
                "move one of them out of the store first");
  }
  auto trash = trashFolder(true);
  if (!trash) return std::unexpected(trash.error());
  TrashedSession moved{.sessionId = sessionId, .removedMs = environment_.clock.nowMs()};
  const auto taken = [&](const std::string& name) { return (*trash)->info(name).has_value(); };
  do {
    moved.trashId = fmt::format("{}~{}", sessionId, moved.removedMs++);
  } while (taken(logName(moved.trashId)) || taken(zstdName(moved.trashId)) || taken(gzipName(moved.trashId)));
  --moved.removedMs;
  const ChangeMark mark(changes_, sessionId, ChangeKind::Names);
  for (const FilePlace& place : placesOf(sessionId, moved.trashId)) {
    const auto info = place.folder->info(place.name);
    if (!info && info.error() == ENOENT) continue;
    if (!info) return std::unexpected(systemError(info.error(), "look at", place.folder->path() + "/" + place.name));
    if (auto linked = linkOver(*place.folder, place.name, **trash, place.trashName); !linked) {
      return std::unexpected(linked.error());
    }
    moved.bytes += info->sizeBytes;
  }
  if (auto synced = syncAll({trash->get()}); !synced) return std::unexpected(synced.error());
  // In the same order: while the log that counts has its name, the session is there.
  for (const FilePlace& place : placesOf(sessionId, moved.trashId)) {
    if (auto gone = place.folder->remove(place.name); !gone && gone.error() != ENOENT) {
      return std::unexpected(systemError(gone.error(), "remove", place.folder->path() + "/" + place.name));
    }
  }
  (void)folders_.sessions->remove(indexName(sessionId));
  forget(sessionId);
  if (auto synced = syncAll({folders_.sessions.get(), folders_.archive.get()}); !synced) {
    return std::unexpected(synced.error());
  }
  return moved;
}

Result<std::vector<TrashedSession>> FileBackend::listTrash() {
  std::vector<TrashedSession> found;
  auto trash = trashFolder(false);
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
    if (!info) continue;
    const auto known = std::ranges::find(found, trashId, &TrashedSession::trashId);
    if (known != found.end()) {
      known->bytes += info->sizeBytes;
    } else if (isLog) {
      found.push_back({trashId, parsed->sessionId, parsed->removedMs, info->sizeBytes});
    }
  }
  std::ranges::stable_sort(found, std::greater<>(), &TrashedSession::removedMs);
  return found;
}

Result<std::shared_ptr<SessionLog>> FileBackend::trashedLog(const std::string& trashId) {
  if (!parseTrashId(trashId)) return std::unexpected(noSuchTrash(trashId));
  auto trash = trashFolder(false);
  if (!trash && trash.error().code == ErrorCode::NotFound) return std::unexpected(noSuchTrash(trashId));
  if (!trash) return std::unexpected(trash.error());
  auto log = SessionLog::open({.sessions = *trash, .archive = *trash}, trashId, serializer_, environment_,
                              {.lockTimeoutMs = options_.lockTimeoutMs, .writeIndex = false});
  if (!log && log.error().code == ErrorCode::NotFound) return std::unexpected(noSuchTrash(trashId));
  return log;
}

Result<SessionState> FileBackend::trashedState(const std::string& trashId) {
  auto state = stateOf(trashedLog(trashId));
  if (!state) return state;
  auto trash = trashFolder(false);
  if (!trash) return std::unexpected(trash.error());
  const LogFolders folders{.sessions = *trash, .archive = *trash};
  auto counting = openLog(folders, trashId);
  if (!counting) return std::unexpected(counting.error());
  const auto copies = copiesBeside(folders, trashId, *counting);
  if (!copies) return std::unexpected(copies.error());
  state->problemCount += static_cast<std::uint64_t>(std::ranges::count(*copies, false, &PackedCopy::covered));
  return state;
}

Result<SeenOrigin> FileBackend::originSeenIn(const Result<std::shared_ptr<SessionLog>>& log) {
  const auto isDamage = [](const Error& error) { return error.code == ErrorCode::Damaged && !error.retryable; };
  if (!log && isDamage(log.error())) return SeenOrigin{.sure = false};
  if (!log) return std::unexpected(log.error());
  const auto first = (*log)->header();
  if (!first && !isDamage(first.error())) return std::unexpected(first.error());
  const auto entry = first ? serializer_.decode(first->text) : std::unexpected(first.error());
  if (entry && entry->type == entry_type::kSessionHeader) return SeenOrigin{.origin = readHeader(*entry).origin};
  // Either there never was a header, or it is among what cannot be read.
  const auto unread = (*log)->unreadBeginning();
  if (!unread) return std::unexpected(unread.error());
  if (unread->find_first_not_of(" \t\r\n") == std::string::npos) return SeenOrigin{.sure = entry || !first};
  return SeenOrigin{.origin = originNamedIn(*unread), .sure = false};
}

Result<void> FileBackend::exportTrashedLines(const std::string& trashId,
                                             const std::function<bool(std::string_view)>& line) {
  auto log = trashedLog(trashId);
  if (!log) return std::unexpected(log.error());
  return (*log)->readAll([&](Ordinal, const std::string& text) { return line(text); });
}

Result<void> FileBackend::exportSetAside(const std::function<void(std::string_view)>& use) {
  auto trash = trashFolder(false);
  if (!trash && trash.error().code != ErrorCode::NotFound) return std::unexpected(trash.error());
  for (const auto& folder : {folders_.sessions, trash ? *trash : nullptr}) {
    if (!folder) continue;
    auto names = folder->list();
    if (!names) return std::unexpected(systemError(names.error(), "list", folder->path()));
    for (const std::string& name : *names) {
      if (!name.ends_with(tornName("")) && !name.ends_with(formatZeroName(""))) continue;
      if (auto read = forEachPart(*folder, name, use); !read) return read;
    }
  }
  return {};
}

Result<void> FileBackend::restore(const std::string& trashId) {
  const auto name = parseTrashId(trashId);
  if (!name) return std::unexpected(noSuchTrash(trashId));
  auto trash = trashFolder(false);
  if (!trash) return std::unexpected(noSuchTrash(trashId));
  std::vector<FilePlace> places = placesOf(name->sessionId, trashId);
  std::ranges::reverse(places);
  // The very same one is there when throwing it away or bringing it back was interrupted: that is finished here.
  const bool begun = std::ranges::any_of(places, [&](const FilePlace& place) {
    return place.isLog && isSameFile(*place.folder, place.name, **trash, place.trashName);
  });
  const auto there = openLog(folders_, name->sessionId);
  if (!begun && (there || there.error().code != ErrorCode::NotFound)) {
    return fail(ErrorCode::AlreadyExists, fmt::format("there is a session {} already", name->sessionId),
                "move that one to the trash first; both are kept there");
  }
  const ChangeMark mark(changes_, name->sessionId, ChangeKind::Names);
  // What lies beside the log first: when the log has its name again, the session is back, whole.
  std::ranges::stable_partition(places, [](const FilePlace& place) { return !place.isLog; });
  bool any = false;
  for (const FilePlace& place : places) {
    if (!(*trash)->info(place.trashName)) continue;
    if (place.folder == folders_.sessions.get() && place.name.ends_with(".gz") && folders_.archive) continue;
    if (auto linked = linkOver(**trash, place.trashName, *place.folder, place.name); !linked) return linked;
    any = any || place.isLog;
  }
  if (!any) return std::unexpected(noSuchTrash(trashId));
  if (auto synced = syncAll({folders_.sessions.get(), folders_.archive.get()}); !synced) return synced;
  return removeTrashed(trashId);
}

Result<void> FileBackend::removeTrashed(const std::string& trashId) {
  const auto name = parseTrashId(trashId);
  auto trash = trashFolder(false);
  if (!name || !trash) return std::unexpected(noSuchTrash(trashId));
  bool any = false;
  std::vector<FilePlace> places = placesOf(name->sessionId, trashId);
  // The logs last: while one is there, it is listed, and who is interrupted can go on.
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
