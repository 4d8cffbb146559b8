// Finds the attachments that no entry names any more.

#include <fmt/format.h>

#include <unordered_set>

#include "base/try.h"
#include "store/sharing/sharing_backend.h"

namespace bough {
namespace {

// Calls `use` for every run of exactly 64 hex digits in a line.
template <typename Use>
void forEachHash(std::string_view line, Use use) {
  const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (std::size_t at = 0; at < line.size();) {
    if (!isHex(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && isHex(line[at])) ++at;
    if (at - begin == 64) use(line.substr(begin, 64));
  }
}

// What the user can do about a session that cannot be read completely.
struct Remedies {
  std::string forDamage;
  std::string forTail;
};

Result<void> refuseDamaged(const std::string& name, const SessionState& state, const Remedies& remedies) {
  if (state.problemCount > 0) {
    return fail(ErrorCode::Damaged, fmt::format("{} is damaged, so it is unknown which attachments it names", name),
                fmt::format("{}; no attachment was removed", remedies.forDamage));
  }
  if (state.trailingBytes == 0) return {};
  return fail(
      ErrorCode::Damaged,
      fmt::format("the last {} bytes of {} are not a complete entry, so it is unknown which attachments they name",
                  state.trailingBytes, name),
      fmt::format("{}; no attachment was removed", remedies.forTail));
}

// Removes from the candidates everything that the sessions name. Fails at a session that cannot be read, because it is
// unknown what that session names.
class UnusedSearch {
 public:
  UnusedSearch(SharingBackend& backend, const std::vector<std::string>& candidates)
      : backend_(backend), unused_(candidates.begin(), candidates.end()) {}

  Result<std::unordered_set<std::string>> run() {
    BOUGH_TRY(readSessions());
    BOUGH_TRY(readTrash());     // a session in the trash may be restored
    BOUGH_TRY(readSessions());  // sessions that were restored before the trash was read
    BOUGH_TRY(backend_.exportSetAside([&](std::string_view part) { (void)removeNamed(part); }));
    return std::move(unused_);
  }

 private:
  bool removeNamed(std::string_view line) {
    forEachHash(line, [&](std::string_view hash) { unused_.erase(std::string(hash)); });
    return true;
  }

  // Reads the sessions that were not read yet. A session that was removed meanwhile names nothing, or is in the trash,
  // which is read later.
  Result<void> readSessions() {
    BOUGH_TRY(const auto sessions, backend_.listSessions());
    for (const std::string& id : sessions) {
      if (readSessions_.contains(id)) continue;
      auto read = readSession(id);
      if (!read && read.error().code == ErrorCode::NotFound) continue;
      if (!read) return read;
      readSessions_.insert(id);
    }
    return {};
  }

  Result<void> readSession(const std::string& id) {
    BOUGH_TRY(const auto session, backend_.session(id));
    BOUGH_TRY(session->exportLines([&](std::string_view line) { return removeNamed(line); }));
    BOUGH_TRY(const auto state, session->state());
    BOUGH_TRY(refuseDamaged(
        "session " + id, state,
        {.forDamage = "put a good copy in its place, or remove it for good: `bough rm`, then `bough trash --empty`",
         .forTail =
             fmt::format("put a good copy in its place, or run `bough repair {0}`: what {0}.torn names stays", id)}));
    // A second copy of a session is not read, but it may be the copy that the user wants to keep.
    BOUGH_TRY(const auto copies, backend_.otherCopies(id));
    if (copies.empty()) return {};
    return fail(ErrorCode::Damaged, copies.front(), "no attachment was removed: the other copy may name it");
  }

  Result<void> readTrash() {
    BOUGH_TRY(const auto trash, backend_.sharedTrash().list());
    for (const TrashedSession& each : trash) {
      auto read = readTrashedSession(each);
      if (!read && read.error().code == ErrorCode::NotFound) continue;
      if (!read) return read;
    }
    return {};
  }

  Result<void> readTrashedSession(const TrashedSession& trashed) {
    SharingTrash& trash = backend_.sharedTrash();
    BOUGH_TRY(trash.exportLines(trashed.trashId, [&](std::string_view line) { return removeNamed(line); }));
    BOUGH_TRY(const auto state, trash.stateOf(trashed.trashId));
    return refuseDamaged(
        trashed.trashId + " in the trash", state,
        {.forDamage =
             "remove it for good with `bough trash --empty`, or bring it back and put a good copy in its place",
         .forTail =
             fmt::format("remove it for good with `bough trash --empty`, or bring it back and run `bough repair {}`",
                         trashed.sessionId)});
  }

  SharingBackend& backend_;
  std::unordered_set<std::string> unused_;
  std::unordered_set<std::string> readSessions_;
};

}  // namespace

Result<std::vector<std::string>> SharingAttachments::unused() {
  BOUGH_TRY(auto all, list());
  BOUGH_TRY(const auto unused, UnusedSearch(backend_, all).run());
  std::erase_if(all, [&](const std::string& sha256) { return !unused.contains(sha256); });
  return all;
}

Result<std::size_t> SharingAttachments::removeUnused(const std::vector<std::string>& sha256s) {
  std::optional<std::unordered_set<std::string>> unused;
  return removeIf(sha256s, [&](const std::string& sha256) -> Result<bool> {
    if (!unused) {
      BOUGH_TRY(unused, UnusedSearch(backend_, sha256s).run());
    }
    return unused->contains(sha256);
  });
}

}  // namespace bough
