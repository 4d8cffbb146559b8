#include "agent/loop/file_copies.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "agent/loop/journal.h"
#include "agent/parts/json_parts.h"
#include "agent/tools/builtin.h"
#include "base/bytes/base64.h"
#include "base/bytes/sha256.h"
#include "base/model/typed_text.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::string_view kCopyKind = "file_copy";
constexpr std::string_view kUndoSkippedKind = "undo_passed";

struct Copy {
  bool existed = false;
  bool notCopied = false;
  bool heldKey = false;          // the reason for notCopied
  std::uint64_t newFolders = 0;  // how many folders above it did not exist either
  std::string bytes{};
  std::string sum{};  // the checksum of the old content; empty when unknown
};

// What a turn did to a file.
struct ChangedFile {
  std::optional<Copy> before{};       // the oldest copy in the turn
  std::set<std::string> sumsAfter{};  // checksums of the content after each change
};

struct ChangedTurn {
  std::string entryId{};  // the user's message
  std::map<std::string, ChangedFile> files{};
  bool isUndoSkipped = false;  // an earlier undo skipped this turn
};

// Returns the turn that an earlier undo skipped, if the entry records one.
std::optional<std::string> undoSkippedIn(const Entry& entry) {
  if (entry.type != entry_type::kCustom || json::findString(entry.payload, "kind") != kUndoSkippedKind)
    return std::nullopt;
  return json::findString(entry.payload, "turn");
}

// Returns true when the message begins a turn: the user said it, or another program in the user's name.
bool beginsTurn(const Entry& entry) {
  const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>(std::unexpected(Error{}));
  if (!message || message->role != Role::User || message->blocks.empty()) return false;
  return !isChatReport(entry, message->blocks.front().text.escaped);
}

std::optional<Copy> copyIn(const Entry& entry) {
  if (entry.type != entry_type::kCustom || entry.redacted) return std::nullopt;
  if (json::findString(entry.payload, "kind") != kCopyKind) return std::nullopt;
  Copy copy{.existed = memberOr(entry.payload, "existed") == "true",
            .notCopied = memberOr(entry.payload, "notCopied") == "true",
            .heldKey = memberOr(entry.payload, "heldKey") == "true",
            .newFolders = json::findUnsigned(entry.payload, "newFolders").value_or(0)};
  if (auto text = json::findString(entry.payload, "content")) copy.bytes = std::move(*text);
  if (const auto coded = json::findString(entry.payload, "base64")) {
    auto bytes = fromBase64(*coded);
    if (!bytes) return std::nullopt;
    copy.bytes = std::move(*bytes);
  }
  copy.sum = copy.notCopied ? json::findString(entry.payload, "sha256").value_or("") : Sha256::of(copy.bytes);
  return copy;
}

// Returns true when the file is unchanged: a call that failed left a copy, but the file as it was.
bool isUnchanged(const ChangedFile& file) {
  if (!file.before || !file.before->existed || file.before->sum.empty()) return false;
  return file.sumsAfter.size() == 1 && *file.sumsAfter.begin() == file.before->sum;
}

// Returns the newest turn with changes that is not in `undone`, searching from the end of a branch. Returns
// std::nullopt when `entries` do not reach back far enough.
std::optional<ChangedTurn> findTurn(const std::vector<Entry>& entries, std::set<std::string> undone) {
  ChangedTurn turn;
  std::set<std::string> skipped;
  for (const Entry& entry : std::views::reverse(entries)) {
    if (auto copy = copyIn(entry)) {
      // The walk goes backwards, so the oldest copy stays.
      turn.files[json::findString(entry.payload, "path").value_or("")].before = std::move(copy);
    }
    if (auto which = undoSkippedIn(entry)) skipped.insert(std::move(*which));
    if (auto which = entry.meta.empty() ? std::nullopt : json::findString(entry.meta, kUndoMember)) {
      undone.insert(std::move(*which));
    }
    if (const auto changed = entry.meta.empty() ? std::nullopt : json::findMember(entry.meta, "changedFile")) {
      turn.files[json::findString(*changed, "path").value_or("")].sumsAfter.insert(
          json::findString(*changed, "sha256").value_or(""));
    }
    if (!beginsTurn(entry)) continue;
    turn.entryId = entry.id;
    turn.isUndoSkipped = skipped.contains(entry.id);
    std::erase_if(turn.files, [](const auto& each) { return isUnchanged(each.second); });
    if (!turn.files.empty() && !undone.contains(entry.id)) return turn;
    turn = {};
  }
  return std::nullopt;
}

// Returns an empty string on success, otherwise the reason.
std::string restoreFile(const WorkingFolder& folder, const std::string& path, const ChangedFile& file, bool& removed) {
  if (!file.before) return "there is no copy of it";
  if (file.before->heldKey) return "it held a key before, so there is no copy of it";
  if (file.before->notCopied) return "it could not be copied before";
  const auto place = folder.resolve(path);
  if (!place) return place.error().message;
  if (!place->inside) return "it is outside of the working folder";
  const auto now = WorkingFolder::digest(*place);
  if (!now || !file.sumsAfter.contains(*now)) return "it was changed since";
  removed = !file.before->existed;
  const auto done = removed ? WorkingFolder::remove(*place) : WorkingFolder::write(*place, file.before->bytes);
  return done ? std::string() : done.error().message;
}

using Folders = std::set<std::string, std::greater<>>;  // A subfolder comes before its parent.

// Adds the folders that were created for a file.
void addNewFolders(std::string path, std::uint64_t count, Folders& folders) {
  for (; count > 0 && path.rfind('/') != std::string::npos; --count) {
    path.resize(path.rfind('/'));
    folders.insert(path);
  }
}

// Removes the folders that are empty; a folder in which something else was put stays.
void removeFolders(const WorkingFolder& folder, const Folders& folders, UndoReport& report) {
  for (const std::string& path : folders) {
    const auto removed = folder.removeEmptyFolder(path);
    if (!removed) report.notDone.push_back(fmt::format("{}: {}", path, removed.error().message));
    if (removed && *removed) report.removed.push_back(path + "/");
  }
}

UndoReport restoreFiles(const ChangedTurn& turn, const WorkingFolder& folder) {
  UndoReport report{.turnId = turn.entryId};
  Folders folders;
  for (const auto& [path, file] : turn.files) {
    bool removed = false;
    const std::string problem = restoreFile(folder, path, file, removed);
    if (!problem.empty()) {
      report.notDone.push_back(fmt::format("{}: {}", path, problem));
    } else {
      (removed ? report.removed : report.restored).push_back(path);
      if (removed) addNewFolders(path, file.before->newFolders, folders);
    }
  }
  removeFolders(folder, folders, report);
  return report;
}

}  // namespace

std::string fileCopyPayload(std::string_view toolCallId, const Place& place, const Secrets& secrets) {
  const auto content = WorkingFolder::read(place, kMostCopiedBytes + 1);
  json::Writer writer;
  writer.beginObject().member("kind", kCopyKind).member("toolCallId", toolCallId).member("path", place.path);
  const bool unreadable = !content && content.error().code != ErrorCode::NotFound;
  writer.member("existed", content.has_value() || unreadable);
  if (place.names.size() > 1) writer.member("newFolders", static_cast<std::uint64_t>(place.names.size() - 1));
  const bool isLong = content && content->bytes.size() > kMostCopiedBytes;
  const bool heldKey = content && secrets.areIn(content->bytes);
  if (unreadable || isLong || heldKey) {
    writer.member("notCopied", true);
    if (heldKey) writer.member("heldKey", true);
    // The checksum shows later that a failed change did nothing.
    if (const auto sum = WorkingFolder::digest(place)) writer.member("sha256", *sum);
  } else if (content && json::check(json::quoted(content->bytes))) {
    writer.member("content", content->bytes);
  } else if (content) {
    writer.member("base64", toBase64(content->bytes));
  }
  return writer.endObject().take();
}

std::string changedFileMeta(const Place& place) {
  const auto sum = WorkingFolder::digest(place);
  if (!sum) return {};
  json::Writer writer;
  writer.beginObject().key("changedFile").beginObject().member("path", place.path);
  return writer.member("sha256", *sum).endObject().endObject().take();
}

std::string undoSkippedPayload(std::string_view turnId) {
  return json::Writer().beginObject().member("kind", kUndoSkippedKind).member("turn", turnId).endObject().take();
}

Result<UndoReport> undoFileChanges(SessionStore& store, const StartingPoint& at, const WorkingFolder& folder) {
  std::set<std::string> tried;
  while (!at.headId.empty()) {
    std::optional<ChangedTurn> turn;
    BOUGH_TRY(loadBack(store, at.sessionId, at.headId, [&](const std::vector<Entry>& read) {
      turn = findTurn(read, tried);
      return turn.has_value();
    }));
    if (!turn) break;
    UndoReport report = restoreFiles(*turn, folder);
    const bool isDone = !report.restored.empty() || !report.removed.empty();
    if (isDone || !turn->isUndoSkipped) return report;
    tried.insert(turn->entryId);
  }
  return fail(ErrorCode::NotFound, "no turn of this branch has changed files that can be put back",
              "only what the tools write and edit have changed can be put back; `git diff` shows other changes");
}

}  // namespace bough::agent
