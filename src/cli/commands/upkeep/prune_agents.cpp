#include "cli/commands/upkeep/prune_agents.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/maintenance.h"
#include "bough/transcript.h"
#include "cli/names/foreign.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"

namespace bough::cli {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

struct OldFile {
  FoundTranscript file;
  std::string sessionId;  ///< Its id in the store; empty when it was not imported.
  bool removed = false;
};

Result<std::vector<OldFile>> findOld(const std::string& agents, std::uint64_t ageMs) {
  BOUGH_TRY(const auto names, parseAgents(agents));
  const std::uint64_t now = nowMs();
  std::vector<OldFile> old;
  BOUGH_TRY(const auto walk, eachTranscript(transcriptHome(), names, [&](FoundTranscript&& file) {
              if (file.modifiedNs / kNsPerMs + ageMs < now) old.push_back({.file = std::move(file), .sessionId = {}});
              return true;
            }));
  reportUnreadableFolders(walk);
  return old;
}

Result<void> moveIntoStore(SessionStore& store, OldFile& old) {
  BOUGH_TRY(const auto imported, importTranscript(store, old.file.path));
  old.sessionId = imported.sessionId;
  BOUGH_TRY(store.flush());
  BOUGH_TRY(store.maintenance().archive(imported.sessionId));
  BOUGH_TRY(removeTranscript(store, imported.sessionId, old.file));
  old.removed = true;
  return {};
}

bool isGone(const std::string& path) {
  std::error_code error;
  // For a session in a database, the database counts.
  const std::size_t ending = path.rfind(".sqlite#");
  const std::string file = path.substr(0, ending == std::string::npos ? path.size() : path.find('#', ending));
  return std::filesystem::symlink_status(file, error).type() == std::filesystem::file_type::not_found;
}

void printJson(const std::vector<OldFile>& files, bool apply, std::uint64_t removed, std::uint64_t bytes) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("applied", apply).member("removed", removed);
  writer.member("bytes", bytes).key("files").beginArray();
  for (const OldFile& old : files) {
    writer.beginObject().member("agent", old.file.agent).member("file", old.file.path);
    writer.member("bytes", old.file.sizeBytes).member("modified", formatTimestamp(old.file.modifiedNs / kNsPerMs));
    if (!old.sessionId.empty()) writer.member("sessionId", old.sessionId);
    writer.member("removed", old.removed).endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

// Some file systems store times before 1970; then nothing more precise is known.
std::string writtenAt(const FoundTranscript& file) {
  return file.modifiedNs < kNsPerMs ? "before 1970" : formatAge(file.modifiedNs / kNsPerMs, nowMs());
}

void printList(const std::vector<OldFile>& files) {
  Table table(
      {{.title = "agent"}, {.title = "written"}, {.title = "size", .align = Table::Align::Right}, {.title = "file"}});
  for (const OldFile& old : files) {
    table.add({old.file.agent, writtenAt(old.file), formatBytes(old.file.sizeBytes), old.file.path});
  }
  table.print();
}

}  // namespace

Result<ExitCode> pruneAgents(const Context& context, const std::string& agents, const std::string& olderThan,
                             bool apply) {
  if (olderThan.empty()) {
    return fail(ErrorCode::InvalidArgument, "--agents needs --older-than: other agents' sessions have no time to live",
                "bough prune --agents claude-code --older-than 30d");
  }
  BOUGH_TRY(const std::uint64_t age, parseAge(olderThan));
  BOUGH_TRY(auto files, findOld(agents, age));
  std::uint64_t removed = 0;
  std::uint64_t gone = 0;
  std::map<std::string, std::uint64_t> staying;  // how many files, by the reason
  std::uint64_t bytes = 0;
  ExitCode code = kDone;
  if (apply && !files.empty()) {
    BOUGH_TRY(const auto store, context.openStore(/*create=*/true));
    for (OldFile& old : files) {
      if (const auto moved = moveIntoStore(*store, old); !moved) {
        // Imported, but the agent has a list that would name a missing file.
        if (moved.error().code == ErrorCode::Unsupported && !old.sessionId.empty()) {
          ++staying[moved.error().message];
          continue;
        }
        // Its agent or another prune has already removed it.
        if (isGone(old.file.path)) {
          ++gone;
          continue;
        }
        printError(moved.error(), context.json);
        code = kProblem;
        continue;
      }
      ++removed;
      bytes += old.file.sizeBytes;
    }
    BOUGH_TRY(store->close());
  } else {
    for (const OldFile& old : files) bytes += old.file.sizeBytes;
  }
  if (context.json) {
    printJson(files, apply, removed, bytes);
    return code;
  }
  if (files.empty()) {
    printMessage(fmt::format("no files are older than {}", olderThan));
    return kDone;
  }
  if (!apply) {
    printList(files);
    printMessage(
        fmt::format("{} in total; nothing was changed; --apply archives these sessions in the store and then "
                    "removes the files, except of agents that keep a list of their files",
                    formatBytes(bytes)));
    return kDone;
  }
  for (const auto& [reason, count] : staying) {
    printMessage(fmt::format("note: {}: {}", counted(count, "file stays", "files stay"), reason));
  }
  if (gone > 0) printMessage(fmt::format("note: {} gone already", counted(gone, "file was", "files were")));
  printMessage(
      fmt::format("{} removed, {}; the sessions are in the store", counted(removed, "file"), formatBytes(bytes)));
  return code;
}

}  // namespace bough::cli
