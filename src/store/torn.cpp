#include "bough/torn.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_set>

#include "base/model/head.h"
#include "base/model/ids.h"
#include "base/system/environment.h"
#include "base/system/file_io.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "log/file/new_file.h"
#include "log/torn_records.h"
#include "store/file/parts/catalog_row.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/entry_rules.h"
#include "store/rules/lost_payloads.h"
#include "store/sharing/fork_history.h"

namespace bough {
namespace {

constexpr int kLockTimeoutMs = 10'000;

Result<std::shared_ptr<Directory>> openFolder(const std::string& path) {
  BOUGH_TRY(auto opened, orError(systemEnvironment().files.openRoot(path, /*create=*/false), "open", path));
  return std::shared_ptr<Directory>(std::move(opened));
}

Result<LogFolders> foldersOf(const SessionStore& store, const std::string& sessionId) {
  std::error_code error;  // the folder of a database has no sessions in it
  if (store.folder().empty() || !std::filesystem::is_directory(store.folder() + "/sessions", error)) {
    return fail(ErrorCode::Unsupported, "this kind of store sets nothing aside", "use a store in a folder");
  }
  if (!isSessionId(sessionId)) {
    return fail(ErrorCode::InvalidArgument, "that is not a session id", "`bough ls` lists the sessions");
  }
  LogFolders folders;
  BOUGH_TRY(folders.sessions, openFolder(store.folder() + "/sessions"));
  if (auto archive = openFolder(store.folder() + "/archive")) folders.archive = std::move(*archive);
  return folders;
}

// Returns whether the session has the entry. Fails when that cannot be determined.
Result<bool> has(SessionStore& store, const std::string& sessionId, const std::string& entryId) {
  const auto entry = store.loadEntry(sessionId, entryId);
  if (!entry && entry.error().code != ErrorCode::NotFound) return std::unexpected(entry.error());
  return entry.has_value();
}

// Replaces a reference to an attachment by its payload, as every load does. Returns false when the attachment is
// missing.
Result<bool> resolveAttachment(SessionStore& store, Entry& entry) {
  const auto reference = readAttachmentReference(entry.payload);
  if (!reference) return true;
  auto bytes = store.readAttachment(*reference);
  if (!bytes && !LostPayloads::isLoss(bytes.error())) return std::unexpected(bytes.error());
  if (bytes) entry.payload = std::move(*bytes);
  return bytes.has_value();
}

// A batch of the intact entries that the session does not have yet.
class IntactEntries {
 public:
  IntactEntries(SessionStore& store, SessionState state) : store_(store), state_(std::move(state)) {}

  Result<void> add(TornRecord& record) {
    done_.keptBytes += record.unreadableBytes;
    std::string before = state_.headId;
    for (Entry& entry : record.entries) {
      if (entry.type == entry_type::kSessionHeader || batchIds_.contains(entry.id)) continue;
      const std::string id = entry.id;
      BOUGH_TRY(const bool isStored, has(store_, state_.sessionId, id));
      if (isStored) {
        ++done_.storedCount;
      } else {
        BOUGH_TRY(const bool isWhole, canBeAppended(entry));
        if (!isWhole) {
          done_.keptBytes += entry.payload.size();
          continue;
        }
        BOUGH_TRY(add(std::move(entry), before));
      }
      before = id;
    }
    return {};
  }

  // If `continued` is set, also restores the previous head.
  Result<TornPutBack> append(bool continued) {
    done_.appendedCount = batch_.size();
    if (batch_.empty()) return done_;
    if (movesHead_ && continued && !state_.headId.empty()) {
      Entry head;
      head.type = entry_type::kHead;
      head.parentId = state_.headId;
      head.payload = headPayload(state_.headId);
      batch_.push_back(std::move(head));
    }
    BOUGH_TRY(store_.appendSessionEntries(state_.sessionId, std::move(batch_), {.durability = Durability::Sync}));
    return done_;
  }

 private:
  [[nodiscard]] Result<bool> isKnown(const std::string& id) {
    if (batchIds_.contains(id)) return true;
    return has(store_, state_.sessionId, id);
  }
  // Also loads the entry's payload.
  [[nodiscard]] Result<bool> canBeAppended(Entry& entry) {
    if (!isAcceptable(entry)) return false;
    BOUGH_TRY(const bool namesKnownEntry, hasKnownTarget(entry));
    return namesKnownEntry ? resolveAttachment(store_, entry) : false;
  }
  // Damage may have left a line readable that no append would accept.
  [[nodiscard]] bool isAcceptable(const Entry& entry) const {
    const EntryKind kind = entryKind(entry.type);
    const EntryDefaults anyTime{.timestamp = "1970-01-01T00:00:00.000Z"};
    std::string text;
    return checkType(entry, kind) && store_.serializer().encodeWith(entry, anyTime, text) &&
           checkSize(entry, text.size()) && checkPayload(entry, kind);
  }
  // An entry that names a lost entry cannot be appended.
  [[nodiscard]] Result<bool> hasKnownTarget(const Entry& entry) {
    const auto target = targetOf(entry, entryKind(entry.type));
    if (!target) return true;
    return isKnown(target->entryId);
  }

  Result<void> add(Entry entry, const std::string& before) {
    const std::string parent = entry.parentId.value_or("");
    bool known = parent.empty();
    if (!known) {
      BOUGH_TRY(known, isKnown(parent));
    }
    entry.parentId = known ? parent : before;
    done_.movedCount += known ? 0 : 1;
    const EntryKind kind = entryKind(entry.type);
    movesHead_ = movesHead_ || kind == EntryKind::Head || isConversation(kind);
    batchIds_.insert(entry.id);
    batch_.push_back(std::move(entry));
    return {};
  }

  SessionStore& store_;
  SessionState state_;
  std::vector<Entry> batch_;
  std::set<std::string> batchIds_;
  bool movesHead_ = false;
  TornPutBack done_;
};

}  // namespace

std::uint64_t tornBytes(const SessionStore& store, const std::string& sessionId) {
  if (store.folder().empty() || !isSessionId(sessionId)) return 0;
  std::error_code error;
  const auto size = std::filesystem::file_size(store.folder() + "/sessions/" + tornName(sessionId), error);
  return error ? 0 : size;
}

Result<TornReport> readTorn(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(const auto folders, foldersOf(store, sessionId));
  return readTornFile(folders, sessionId, store.serializer());
}

Result<TornPutBack> putBackTorn(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(auto torn, readTorn(store, sessionId));
  BOUGH_TRY(auto state, store.sessionState(sessionId));
  const bool continued = torn.records.empty() || state.bytes != torn.records.front().offset;
  IntactEntries entries(store, std::move(state));
  for (TornRecord& record : torn.records) BOUGH_TRY(entries.add(record));
  BOUGH_TRY(const TornPutBack done, entries.append(continued));
  if (done.keptBytes == 0) {
    BOUGH_TRY(dropTorn(store, sessionId, torn.fileBytes));
  }
  return done;
}

// Removes the file under the log's lock, so that nobody moves more bytes aside meanwhile.
Result<void> dropTorn(SessionStore& store, const std::string& sessionId, std::uint64_t fileBytes) {
  BOUGH_TRY(const auto folders, foldersOf(store, sessionId));
  BOUGH_TRY(const auto locked, openLocked(folders, sessionId, LockKind::Exclusive, kLockTimeoutMs));
  const std::string name = tornName(sessionId);
  BOUGH_TRY(const FileInfo info,
            orError(folders.sessions->info(name), "look at", store.folder() + "/sessions/" + name));
  if (info.sizeBytes != fileBytes) {
    return fail(ErrorCode::Conflict, fmt::format("more of session {} was set aside meanwhile", sessionId),
                "`bough torn` lists all of it");
  }
  return removeDurably(*folders.sessions, name);
}

Result<std::string> missingFromLog(SessionStore& store, const std::string& sessionId) {
  if (store.folder().empty() || !isSessionId(sessionId)) return {};
  BOUGH_TRY(const auto row, readCatalogRow(store.folder(), sessionId));
  if (!row) return {};
  const auto state = store.sessionState(sessionId);
  std::string headerId;
  const auto read =
      store.readOwnEntries(sessionId, 0, 1, [&](std::uint64_t, Entry& entry) { headerId = std::move(entry.id); });
  if (!state || !read || headerId != row->headerId) return {};
  // When the numbers of entries are equal, the log may have a damaged line in place of its last entry.
  const auto isMissing = [&](const std::string& id) -> Result<bool> {
    const auto isThere = has(store, sessionId, id);
    if (!isThere && isLostSession(isThere.error())) return true;
    BOUGH_TRY(const bool is, isThere);
    return !is;
  };
  bool isShorter = row->entries > state->entryCount;
  if (isShorter) {
    BOUGH_TRY(isShorter, isMissing(row->lastId));
  }
  bool isLost = !row->lostId.empty();
  if (isLost) {
    BOUGH_TRY(isLost, isMissing(row->lostId));
  }
  if (!isShorter && !isLost) return {};
  const bool before = isLost && (!isShorter || row->lostEntries >= row->entries);
  return fmt::format("the catalog had counted {} up to {}, and the log holds {} without it",
                     counted(before ? row->lostEntries : row->entries, "entry"), before ? row->lostId : row->lastId,
                     state->entryCount);
}

Result<std::vector<MissingSession>> missingSessions(SessionStore& store) {
  std::vector<MissingSession> found;
  if (store.folder().empty()) return found;
  // Read the rows first: a session that is created meanwhile is in none of them.
  BOUGH_TRY(const auto rows, readCatalogRows(store.folder()));
  BOUGH_TRY(const auto listed, store.listSessions());
  const std::unordered_set<std::string> present(listed.begin(), listed.end());
  std::vector<std::string> gone;
  for (const CatalogRow& row : rows) {
    if (!present.contains(row.sessionId)) gone.push_back(row.sessionId);
  }
  if (gone.empty()) return found;
  BOUGH_TRY(auto missing, store.maintenance().missing(std::move(gone)));
  const std::unordered_set<std::string> wanted(missing.begin(), missing.end());
  for (const CatalogRow& row : rows) {
    if (!wanted.contains(row.sessionId)) continue;
    const auto state = store.sessionStamp(row.sessionId);
    if (state || state.error().code != ErrorCode::NotFound) continue;
    found.push_back({.sessionId = row.sessionId, .entries = std::max(row.entries, row.lostEntries)});
  }
  return found;
}

}  // namespace bough
