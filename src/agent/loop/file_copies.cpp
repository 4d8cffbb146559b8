#include "agent/loop/file_copies.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "agent/loop/interruption.h"
#include "agent/loop/journal.h"
#include "agent/parts/json_parts.h"
#include "agent/tools/builtin.h"
#include "base/bytes/base64.h"
#include "base/bytes/sha256.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::string_view kCopyKind = "file_copy";

struct Copy {
  bool existed = false;
  bool notCopied = false;
  std::uint64_t newFolders = 0;  // How many folders above it were not there either.
  std::string bytes{};
};

// What a turn did to a file.
struct ChangedFile {
  std::optional<Copy> before{};       // the oldest copy
  std::set<std::string> sumsAfter{};  // what it held after each change
};

struct ChangedTurn {
  std::string entryId{};  // of what the user said
  std::map<std::string, ChangedFile> files{};
};

std::optional<Copy> copyIn(const Entry& entry) {
  if (entry.type != entry_type::kCustom || entry.redacted) return std::nullopt;
  if (json::findString(entry.payload, "kind") != kCopyKind) return std::nullopt;
  Copy copy{.existed = memberOr(entry.payload, "existed") == "true",
            .notCopied = memberOr(entry.payload, "notCopied") == "true",
            .newFolders = json::findUnsigned(entry.payload, "newFolders").value_or(0)};
  if (auto text = json::findString(entry.payload, "content")) copy.bytes = std::move(*text);
  if (const auto coded = json::findString(entry.payload, "base64")) {
    auto bytes = fromBase64(*coded);
    if (!bytes) return std::nullopt;
    copy.bytes = std::move(*bytes);
  }
  return copy;
}

// A call that failed has left a copy, and the file as it was.
bool isAsBefore(const ChangedFile& file) {
  if (!file.before || !file.before->existed || file.before->notCopied || file.sumsAfter.empty()) return false;
  return file.sumsAfter.size() == 1 && *file.sumsAfter.begin() == Sha256::of(file.before->bytes);
}

// The newest turn with changes that was not undone, from the end of a branch; none when it does not reach back so far.
std::optional<ChangedTurn> findTurn(const std::vector<Entry>& entries) {
  ChangedTurn turn;
  std::set<std::string> undone;
  for (const Entry& entry : std::views::reverse(entries)) {
    if (auto copy = copyIn(entry)) {
      // Going back, so that the oldest one stays.
      turn.files[json::findString(entry.payload, "path").value_or("")].before = std::move(copy);
    }
    if (entry.meta.empty()) continue;
    if (auto which = json::findString(entry.meta, "undo")) undone.insert(std::move(*which));
    if (const auto changed = json::findMember(entry.meta, "changedFile")) {
      turn.files[json::findString(*changed, "path").value_or("")].sumsAfter.insert(
          json::findString(*changed, "sha256").value_or(""));
    }
    const auto message = holdsMessage(entry) ? normalizeEntry(entry) : Result<Message>(std::unexpected(Error{}));
    if (!message || message->role != Role::User || json::findString(entry.meta, "agent") != kAgentName) continue;
    turn.entryId = entry.id;
    std::erase_if(turn.files, [](const auto& each) { return isAsBefore(each.second); });
    if (!turn.files.empty() && !undone.contains(entry.id)) return turn;
    turn = {};
  }
  return std::nullopt;
}

// Empty when it was done; else why not.
std::string putBack(const WorkingFolder& folder, const std::string& path, const ChangedFile& file, bool& removed) {
  if (!file.before) return "there is no copy of it";
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

using Folders = std::set<std::string, std::greater<>>;  // What is below a folder comes before it.

// The folders that were made for a file.
void addNewFolders(std::string path, std::uint64_t count, Folders& folders) {
  for (; count > 0 && path.rfind('/') != std::string::npos; --count) {
    path.resize(path.rfind('/'));
    folders.insert(path);
  }
}

// Folders that hold something else by now stay.
void removeFolders(const WorkingFolder& folder, const Folders& folders, UndoReport& report) {
  for (const std::string& path : folders) {
    const auto removed = folder.removeEmptyFolder(path);
    if (!removed) report.notDone.push_back(fmt::format("{}: {}", path, removed.error().message));
    if (removed && *removed) report.removed.push_back(path + "/");
  }
}

}  // namespace

std::string fileCopyPayload(std::string_view toolCallId, const Place& place, const Secrets& secrets) {
  const auto content = WorkingFolder::read(place, kMostCopiedBytes + 1);
  json::Writer writer;
  writer.beginObject().member("kind", kCopyKind).member("toolCallId", toolCallId).member("path", place.path);
  const bool unreadable = !content && content.error().code != ErrorCode::NotFound;
  writer.member("existed", content.has_value() || unreadable);
  if (place.names.size() > 1) writer.member("newFolders", static_cast<std::uint64_t>(place.names.size() - 1));
  if (unreadable || (content && (content->bytes.size() > kMostCopiedBytes || secrets.areIn(content->bytes)))) {
    writer.member("notCopied", true);
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

Result<UndoReport> undoFileChanges(SessionStore& store, const StartingPoint& at, const WorkingFolder& folder) {
  std::optional<ChangedTurn> turn;
  if (!at.headId.empty()) {
    BOUGH_TRY(loadBack(store, at.sessionId, at.headId, [&](const std::vector<Entry>& read) {
      turn = findTurn(read);
      return turn.has_value();
    }));
  }
  if (!turn)
    return fail(ErrorCode::NotFound, "no turn of this branch has changed files that can be put back",
                "only what the tools write and edit have changed can be put back; `git diff` shows other changes");
  UndoReport report{.turnId = turn->entryId};
  Folders folders;
  for (const auto& [path, file] : turn->files) {
    bool removed = false;
    const std::string problem = putBack(folder, path, file, removed);
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

}  // namespace bough::agent
