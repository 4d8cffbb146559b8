#include "cli/commands/agents/watch_import.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/system/file_io.h"
#include "base/system/tree_watcher.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "cli/names/foreign.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

// Some file systems send no notifications, and an agent's folder may appear later, so everything is checked from time
// to time.
constexpr int kLookAgainMs = 600'000;
// A file may be in use, the store full, or its server restarting.
constexpr int kTryAgainMs = 60'000;
// An agent writes many lines in a row; they are imported together.
constexpr int kLeastRestMs = 1'000;
constexpr int kMaxRestMs = 60'000;

// Returns the file that holds a session; for a session in a database, the database.
std::string fileOf(const std::string& path) {
  const std::size_t mark = path.find(".sqlite#");
  return mark == std::string::npos ? path : path.substr(0, path.find('#', mark));
}

// Makes Ctrl-C and SIGTERM available as a descriptor that can be polled.
class StopSignals {
 public:
  StopSignals() {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGINT);
    ::sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopSignals() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  bool hasArrived() {
    signalfd_siginfo info{};
    return ::read(descriptor_, &info, sizeof info) > 0;
  }

 private:
  sigset_t signals_{};
  int descriptor_ = -1;
};

class SourceWatcher {
 public:
  SourceWatcher(std::vector<std::string> agents, std::vector<std::string> paths, const ImportFiles& import)
      : agents_(std::move(agents)), paths_(std::move(paths)), import_(import), home_(transcriptHome()) {}

  Result<ExitCode> run() {
    BOUGH_TRY(watcher_, orError(TreeWatcher::make(), "watch", "the agents' folders"));
    BOUGH_TRY(importAll());
    printMessage(fmt::format("watching {}; Ctrl-C ends", counted(watcher_->folderCount(), "folder")));
    if (watcher_->refusedCount() > 0) {
      printMessage(
          fmt::format("note: the system does not watch {} more (fs.inotify.max_user_watches); they are looked "
                      "at every {} minutes",
                      watcher_->refusedCount(), kLookAgainMs / 60'000));
    }
    while (!outputClosed()) {
      const int restMs = failed_.empty() ? kLookAgainMs : kTryAgainMs;
      BOUGH_TRY(auto changed, orError(watcher_->wait(restMs, stop_.descriptor()), "watch", "the agents' folders"));
      if (stop_.hasArrived()) break;
      const bool idle = !changed.all && changed.paths.empty();
      if (idle && !failed_.empty() && SteadyClock::now() < nextLook_) {
        importChanged(std::exchange(failed_, {}));
        continue;
      }
      if (!idle) {
        BOUGH_TRY(const auto more, changesMeanwhile());
        changed.all = changed.all || more.all;
        changed.paths.insert(more.paths.begin(), more.paths.end());
      }
      if (idle || changed.all) {
        BOUGH_TRY(importAll());
      } else {
        importChanged(changed.paths);
      }
      if (stop_.hasArrived()) break;
    }
    return kDone;
  }

 private:
  using State = std::pair<std::uintmax_t, std::int64_t>;  // size and time

  // Collects further changes for a while. Reading a long session takes time, so it is not read after every change.
  Result<TreeWatcher::Changed> changesMeanwhile() {
    TreeWatcher::Changed all;
    const auto end =
        SteadyClock::now() + std::chrono::milliseconds(std::clamp(lastImportMs_ * 5, kLeastRestMs, kMaxRestMs));
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now()).count();
      if (left <= 0) return all;
      BOUGH_TRY(const auto more,
                orError(watcher_->wait(static_cast<int>(left), stop_.descriptor()), "watch", "the agents' folders"));
      all.all = all.all || more.all;
      all.paths.insert(more.paths.begin(), more.paths.end());
      if (!more.all && more.paths.empty()) return all;  // the time is over, or a stop was requested
    }
  }

  Result<void> importAll() {
    nextLook_ = SteadyClock::now() + std::chrono::milliseconds(kLookAgainMs);
    failed_.clear();  // the walk finds them again
    std::set<std::string> found;
    const auto take = [&](FoundTranscript&& file) {
      constexpr std::size_t kAtOnce = 1'000;
      found.insert(fileOf(file.path));
      if (found.size() >= kAtOnce) importChanged(std::exchange(found, {}));
      return !outputClosed();
    };
    if (watchesAgents()) {
      for (const std::string& folder : transcriptFolders(home_, agents_)) watcher_->add(folder);
      BOUGH_TRY(const auto walk, eachTranscript(home_, agents_, take));
      reportUnreadableFolders(walk);
    }
    for (const std::string& path : paths_) {
      std::error_code error;
      if (!fs::is_directory(path, error)) {
        watcher_->add(fs::path(path).parent_path().string());
        found.insert(path);
        continue;
      }
      watcher_->add(path);
      reportUnreadableFolders(eachFileBelow(path, take));
    }
    importChanged(found);
    return {};
  }

  [[nodiscard]] bool watchesAgents() const { return !agents_.empty() || paths_.empty(); }

  [[nodiscard]] bool isWanted(const std::string& path) const {
    if (watchesAgents() && isTranscriptPath(home_, agents_, path)) return true;
    return std::ranges::any_of(paths_, [&](const std::string& each) {
      return path == each || (path.starts_with(each) && path[each.size()] == '/');
    });
  }

  // Adds the path; for a database, those of its sessions that changed.
  void noteChanged(const std::string& file, std::vector<std::string>& changed) {
    if (file.ends_with(".sqlite")) {
      const auto sessions = transcriptsInDatabase(file);
      if (!sessions) return;  // in use; its next change is reported again
      for (const FoundTranscript& session : *sessions) {
        const State state{session.sizeBytes, static_cast<std::int64_t>(session.modifiedNs)};
        if (hasChanged(session.path, state)) changed.push_back(session.path);
      }
      return;
    }
    std::error_code error;
    const State state{fs::file_size(file, error), fs::last_write_time(file, error).time_since_epoch().count()};
    if (!error && hasChanged(file, state)) changed.push_back(file);
  }

  // Stores only hashes, because there may be very many files.
  bool hasChanged(const std::string& path, const State& state) {
    const std::uint64_t stamp = std::hash<std::string>{}(fmt::format("{} {} {}", path, state.first, state.second));
    return std::exchange(seen_[std::hash<std::string>{}(path)], stamp) != stamp;
  }

  void importChanged(const std::set<std::string>& paths) {
    std::vector<std::string> changed;
    for (const std::string& path : paths) {
      std::error_code error;
      // A database's log is in a file beside it.
      const std::string file = path.ends_with(".sqlite-wal") ? path.substr(0, path.size() - 4) : path;
      if (isWanted(file) && !fs::is_symlink(file, error)) noteChanged(file, changed);
    }
    if (changed.empty()) return;
    const auto begin = SteadyClock::now();
    for (const std::string& path : import_(changed)) {
      seen_.erase(std::hash<std::string>{}(path));
      failed_.insert(fileOf(path));
    }
    lastImportMs_ = static_cast<int>(std::min<std::int64_t>(
        kMaxRestMs, std::chrono::ceil<std::chrono::milliseconds>(SteadyClock::now() - begin).count()));
  }

  std::vector<std::string> agents_;
  std::vector<std::string> paths_;
  const ImportFiles& import_;
  TranscriptHome home_;
  StopSignals stop_;
  std::unique_ptr<TreeWatcher> watcher_;
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;  // by the hash of a path
  std::set<std::string> failed_;                           // to be retried
  SteadyClock::time_point nextLook_;
  int lastImportMs_ = 0;
};

}  // namespace

Result<ExitCode> watchAndImport(const std::vector<std::string>& sources, const ImportFiles& import) {
  std::vector<std::string> agents;
  std::vector<std::string> paths;
  const auto known = transcriptAgents();
  for (const std::string& name : sources) {
    std::error_code error;
    if (fs::exists(name, error)) {
      paths.push_back(fs::canonical(name, error).string());
    } else if (std::ranges::find(known, name) != known.end()) {
      agents.push_back(name);
    } else {
      return fail(ErrorCode::NotFound, fmt::format("there is no file, folder or agent {}", name),
                  "`bough help import` lists the agents");
    }
  }
  return SourceWatcher(std::move(agents), std::move(paths), import).run();
}

}  // namespace bough::cli
