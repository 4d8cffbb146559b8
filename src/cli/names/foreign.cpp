#include "cli/names/foreign.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "base/system/file_system.h"
#include "base/system/threads.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/catalog.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kInMemoryBytes = std::uintmax_t{32} << 20;

}  // namespace

Result<std::shared_ptr<std::string>> makeTemporaryFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "bough-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::Io, "cannot make a temporary folder", "set TMPDIR to a folder that can be written to");
  }
  const auto remove = [](std::string* path) {
    std::error_code ignored;
    fs::remove_all(*path, ignored);
    delete path;
  };
  return std::shared_ptr<std::string>(new std::string(std::move(pattern)), remove);
}

Result<std::string> cacheFolder() {
  if (const auto cache = userFolder(UserFolder::Cache); !cache.empty()) return cache + "/bough";
  return fail(ErrorCode::InvalidArgument, "there is no folder for the cache",
              "set HOME, or XDG_CACHE_HOME, to an absolute path");
}

TranscriptHome transcriptHome() {
  return {.home = homeFolder(), .variable = environmentVariable};
}

Result<std::string> agentOfFile(const std::string& path) {
  return recognizeTranscript(path);
}

std::string damageText(const TranscriptReport& report, const std::string& path) {
  const std::string text = damageText(report);
  return text.empty() ? text : fmt::format("{}: {}", path, text);
}

Result<NamedSession> openTranscript(const std::string& path) {
  return openTranscript(std::vector<std::string>{path});
}

namespace {

// Returns the approximate unpacked size of a file; std::nullopt when it is unknown.
std::optional<std::uintmax_t> unpackedBytes(const std::string& path) {
  constexpr std::uintmax_t kPackedTimes = 16;  // a typical ratio for JSON lines, which repeat their names
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return std::nullopt;
  return path.ends_with(".gz") || path.ends_with(".zst") ? size * kPackedTimes : size;
}

// Creates an empty store for the copies of these files.
Result<NamedSession> storeFor(const std::vector<std::string>& paths) {
  NamedSession session;
  session.isCopy = true;
  std::string location = "memory:";
  std::uintmax_t size = 0;
  bool isUnknown = false;  // a session in a database has no file whose size could be used
  for (const std::string& path : paths) {
    const auto own = unpackedBytes(path);
    isUnknown = isUnknown || !own;
    size += own.value_or(0);
  }
  if (isUnknown || size > kInMemoryBytes) {
    BOUGH_TRY(const auto folder, makeTemporaryFolder());
    location = *folder;
    session.temporaryFiles = folder;
  }
  BOUGH_TRY(session.store, SessionStore::open(location));
  return session;
}

}  // namespace

bool isLargeTranscript(const std::string& path) {
  return unpackedBytes(path).value_or(0) > kInMemoryBytes;
}

Result<NamedSession> openTranscript(const std::string& path, TranscriptReport& report) {
  BOUGH_TRY(auto session, storeFor({path}));
  BOUGH_TRY(auto imported, importTranscript(*session.store, path));
  session.sessionId = std::move(imported.sessionId);
  report = std::move(imported.report);
  return session;
}

Result<NamedSession> openTranscript(const std::vector<std::string>& paths) {
  BOUGH_TRY(auto session, storeFor(paths));
  for (const std::string& path : paths) {
    BOUGH_TRY(const auto imported, importTranscript(*session.store, path));
    session.sessionId = imported.sessionId;
    session.reportedDamage = damageText(imported.report, path);
    if (!session.reportedDamage.empty()) printMessage("note: " + session.reportedDamage);
  }
  return session;
}

namespace {

class GrowingCopy {
 public:
  GrowingCopy(const NamedSession& copy, std::unique_ptr<Directory> folder, std::unique_ptr<Watcher> watcher,
              std::string stamp)
      : folder_(std::move(folder)),
        watcher_(std::move(watcher)),
        sessionId_(copy.sessionId),
        stamp_(std::move(stamp)),
        reported_(copy.reportedDamage) {}
  Result<void> start(SessionStore& copy, const std::string& path) {
    BOUGH_TRY(thread_,
              startThread("to read what is added to the file", [this, &copy, path] { growGuarded(copy, path); }));
    return {};
  }
  GrowingCopy(const GrowingCopy&) = delete;
  GrowingCopy& operator=(const GrowingCopy&) = delete;
  ~GrowingCopy() {
    stopped_ = true;
    watcher_->wake();
  }

 private:
  void growGuarded(SessionStore& copy, const std::string& path) {
    ThreadFailure failure;
    failure.guard([&] { grow(copy, path); });
    if (!failure.failed()) return;
    ThreadFailure().guard([] { printMessage("note: the file is not followed any more: memory has run out"); });
  }

  void grow(SessionStore& copy, const std::string& path) {
    constexpr int kAgainMs = 2000;  // for file systems that send no notifications
    while (!stopped_) {
      // Look again at a file that is missing or being replaced. Skip an unchanged file: when there are several files,
      // each import would report again where the session continues.
      if (std::string now = stampOf(path); now.empty() || now != stamp_) {
        stamp_ = std::move(now);
        importAgain(copy, path);
      }
      if (const auto changed = watcher_->wait(kAgainMs); !changed) return;
    }
  }

  void importAgain(SessionStore& copy, const std::string& path) {
    const std::string problem = problemOf(importTranscript(copy, path), path);
    if (!problem.empty() && problem != reported_) printMessage("note: " + text::printable(problem));
    reported_ = problem;
  }

  // Returns true when the only problem is that the last line is incomplete.
  [[nodiscard]] static bool isBeingWritten(const TranscriptReport& report) {
    return report.recovered == 0 && report.unreadable == 1 && report.coveredBytes < report.bytes;
  }

  [[nodiscard]] std::string problemOf(const Result<ImportResult>& done, const std::string& path) const {
    if (!done && done.error().code == ErrorCode::NotFound)
      return path + " is gone; waiting for a new file in its place";
    if (!done) return done.error().message;
    if (done->sessionId == sessionId_) return isBeingWritten(done->report) ? "" : damageText(done->report, path);
    return fmt::format("{} holds another session now, {}, which is not shown", path, done->sessionId);
  }

  std::unique_ptr<Directory> folder_;
  std::unique_ptr<Watcher> watcher_;
  std::string sessionId_;  // the session that is followed
  std::string stamp_;      // the file that was imported last
  std::string reported_;   // the problem that was reported
  std::atomic<bool> stopped_ = false;
  std::jthread thread_;
};

}  // namespace

std::string stampOf(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

Result<std::shared_ptr<void>> followTranscript(const NamedSession& copy, const std::string& path, std::string stamp) {
  std::error_code error;
  // A session in a database is named after the database file, but changes may go to a `-wal` file beside it.
  const bool isInDatabase = !fs::exists(path, error) && path.contains('#');
  const fs::path whole = fs::canonical(isInDatabase ? path.substr(0, path.rfind('#')) : path, error);
  if (error) return fail(ErrorCode::Io, fmt::format("cannot follow {}: {}", path, error.message()), "");
  auto folder = posixFileSystem().openRoot(whole.parent_path().string(), false);
  if (!folder) return std::unexpected(systemError(folder.error(), "open", whole.parent_path().string()));
  const std::string name = whole.filename().string();
  auto watcher = (*folder)->watch(isInDatabase ? std::vector{name, name + "-wal"} : std::vector{name});
  if (!watcher) return std::unexpected(systemError(watcher.error(), "watch", whole.string()));
  auto growing = std::make_shared<GrowingCopy>(copy, std::move(*folder), std::move(*watcher), std::move(stamp));
  BOUGH_TRY(growing->start(*copy.store, path));
  return growing;
}

void reportUnreadableFolders(const TranscriptWalk& walk) {
  if (walk.folders == 0) return;
  printMessage(fmt::format("note: {} not be looked into: {}", counted(walk.folders, "folder could", "folders could"),
                           text::excerpt(walk.example, 160)));
}

Result<std::vector<std::string>> parseAgents(const std::string& list) {
  std::vector<std::string> names;
  if (list.empty() || list == "all") return names;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    const auto known = transcriptAgents();
    if (std::ranges::find(known, name) == known.end()) {
      std::string all;
      for (const std::string_view each : known) all += fmt::format("{}{}", all.empty() ? "" : ", ", each);
      return fail(ErrorCode::InvalidArgument, fmt::format("bough knows no agent \"{}\"", name), "one of " + all);
    }
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

}  // namespace bough::cli
