#include "base/system/tree_watcher.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <vector>

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 16;
constexpr std::uint32_t kTreeEvents =
    IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
// Such a folder may also be part of a watched tree; IN_MASK_ADD keeps it watched for files then.
constexpr std::uint32_t kAboveEvents = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_ONLYDIR | IN_MASK_ADD;

bool isBelow(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

}  // namespace

SysResult<std::unique_ptr<TreeWatcher>> TreeWatcher::make() {
  const int events = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (events < 0) return std::unexpected(errno);
  return std::unique_ptr<TreeWatcher>(new TreeWatcher(events));
}

TreeWatcher::~TreeWatcher() {
  ::close(events_);
}

void TreeWatcher::add(const std::string& folder) {
  wanted_.insert(folder);
  addWanted(folder, nullptr);
}

std::size_t TreeWatcher::folderCount() const {
  std::error_code error;
  const auto trees = std::ranges::count_if(folders_, [](const auto& each) { return !each.second.isAbove; });
  const auto awaited = std::ranges::count_if(wanted_, [&](const auto& each) { return !fs::is_directory(each, error); });
  return static_cast<std::size_t>(trees + awaited);
}

void TreeWatcher::addWanted(const std::string& folder, std::set<std::string>* files) {
  std::error_code error;
  watchAbove(folder);
  if (fs::is_directory(folder, error)) addBelow(folder, 0, files);
}

// Watches the parent folders, because any of them may be moved away, and created or moved back later. Starts at the
// top, so that a folder created after its parent was examined is reported by the parent's watch.
void TreeWatcher::watchAbove(const std::string& folder) {
  std::error_code error;
  const fs::path last = fs::path(folder).parent_path();
  fs::path above;
  for (const fs::path& name : last) {
    above /= name;
    if (!fs::is_directory(above, error)) return;
    const int watch = ::inotify_add_watch(events_, above.c_str(), kAboveEvents);
    if (watch < 0 && (errno == ENOSPC || errno == ENOMEM)) ++refused_;
    if (watch >= 0) folders_.try_emplace(watch, Folder{.path = above.string(), .isAbove = true});
  }
}

// Stops watching a folder that was moved away. It is reported again where it arrives.
void TreeWatcher::removeBelow(const std::string& folder) {
  for (const auto& [watch, known] : folders_) {
    if (isBelow(known.path, folder)) ::inotify_rm_watch(events_, watch);
  }
}

// Uses a list instead of recursion, because the nesting of folders has no limit. `files` receives the files that are
// already there, which were created before the watch.
void TreeWatcher::addBelow(const std::string& folder, int depth, std::set<std::string>* files) {
  std::vector<std::pair<std::string, int>> waiting = {{folder, depth}};
  while (!waiting.empty()) {
    const auto [path, level] = std::move(waiting.back());
    waiting.pop_back();
    const int watch = ::inotify_add_watch(events_, path.c_str(), kTreeEvents);
    if (watch < 0) {
      if (errno == ENOSPC || errno == ENOMEM) ++refused_;
      continue;
    }
    folders_[watch] = {.path = path};
    std::error_code error;
    for (fs::directory_iterator each(path, fs::directory_options::skip_permission_denied, error), end;
         !error && each != end; each.increment(error)) {
      std::error_code gone;
      if (each->is_symlink(gone)) continue;
      if (each->is_directory(gone)) {
        if (level < kDeepestFolder) waiting.emplace_back(each->path().string(), level + 1);
      } else if (files != nullptr && each->is_regular_file(gone)) {
        files->insert(each->path().string());
      }
    }
  }
}

SysResult<TreeWatcher::Changed> TreeWatcher::wait(int timeoutMs, int stop) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + milliseconds(timeoutMs);
  while (true) {
    Changed changed;
    std::array<pollfd, 2> sources{
        {{.fd = events_, .events = POLLIN, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}}};
    const auto left = std::max(std::chrono::ceil<milliseconds>(end - steady_clock::now()), milliseconds(0));
    const int ready = ::poll(sources.data(), sources.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return std::unexpected(errno);
    if (ready > 0) readEvents(changed);
    const bool isOver = ready <= 0 || sources[1].revents != 0;
    if (isOver || changed.all || !changed.paths.empty()) return changed;
  }
}

void TreeWatcher::readEvents(Changed& changed) {
  alignas(inotify_event) std::array<char, 16384> buffer{};
  for (ssize_t got = 0; (got = ::read(events_, buffer.data(), buffer.size())) > 0;) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = event.len > 0 ? buffer.data() + at + sizeof event : nullptr;
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) changed.all = true;
      const auto folder = folders_.find(event.wd);
      if (folder == folders_.end()) continue;
      if ((event.mask & IN_IGNORED) != 0) {
        const std::string gone = std::move(folder->second.path);
        folders_.erase(folder);
        // The folder may be created again.
        for (const std::string& wanted : wanted_) {
          if (isBelow(wanted, gone)) addWanted(wanted, &changed.paths);
        }
        continue;
      }
      if (name == nullptr) continue;
      const bool isAbove = folder->second.isAbove;
      const std::string path = (folder->second.path == "/" ? "" : folder->second.path) + "/" + name;
      if ((event.mask & IN_ISDIR) == 0) {
        if (!isAbove && (event.mask & IN_MOVED_FROM) == 0) changed.paths.insert(path);
        continue;
      }
      if ((event.mask & IN_MOVED_FROM) != 0) removeBelow(path);
      if ((event.mask & (IN_CREATE | IN_MOVED_TO)) == 0) continue;
      if (!isAbove) addBelow(path, 1, &changed.paths);
      for (const std::string& wanted : wanted_) {
        if (isAbove && isBelow(wanted, path)) addWanted(wanted, &changed.paths);
      }
    }
  }
}

}  // namespace bough
