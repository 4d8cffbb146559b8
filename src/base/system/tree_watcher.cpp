#include "base/system/tree_watcher.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace bough {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 16;
constexpr std::uint32_t kTreeEvents =
    IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
constexpr std::uint32_t kAboveEvents = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR;

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

void TreeWatcher::addWanted(const std::string& folder, std::set<std::string>* files) {
  std::error_code error;
  // It may be made while the folder above it is being watched.
  while (!fs::is_directory(folder, error)) {
    if (watchAbove(folder)) return;
  }
  addBelow(folder, 0, files);
}

// Watches the nearest folder above that exists. False when there is a nearer one by now.
bool TreeWatcher::watchAbove(const std::string& folder) {
  std::error_code error;
  fs::path above = fs::path(folder).parent_path();
  fs::path next = folder;
  while (!fs::is_directory(above, error)) {
    if (!above.has_relative_path()) return true;
    next = above;
    above = above.parent_path();
  }
  const std::string path = above.string();
  for (const auto& [watch, known] : folders_) {
    if (known.path == path) return !fs::is_directory(next, error);
  }
  const int watch = ::inotify_add_watch(events_, path.c_str(), kAboveEvents);
  if (watch < 0) {
    if (errno == ENOSPC || errno == ENOMEM) ++refused_;
    return true;
  }
  folders_[watch] = {.path = path, .isAbove = true};
  return !fs::is_directory(next, error);
}

// A list instead of recursion: folders nest as deep as somebody likes. `files`: gets what is in them already, since it
// came before the watch.
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
  Changed changed;
  std::array<pollfd, 2> sources{
      {{.fd = events_, .events = POLLIN, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}}};
  const int ready = ::poll(sources.data(), sources.size(), timeoutMs);
  if (ready < 0 && errno != EINTR) return std::unexpected(errno);
  if (ready > 0) readEvents(changed);
  return changed;
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
        // It may be made again.
        for (const std::string& wanted : wanted_) {
          if (isBelow(wanted, gone)) addWanted(wanted, &changed.paths);
        }
        continue;
      }
      if (name == nullptr) continue;
      const bool isAbove = folder->second.isAbove;
      const std::string path = (folder->second.path == "/" ? "" : folder->second.path) + "/" + name;
      if ((event.mask & IN_ISDIR) == 0) {
        if (!isAbove) changed.paths.insert(path);
        continue;
      }
      if ((event.mask & (IN_CREATE | IN_MOVED_TO)) == 0) continue;
      if (!isAbove) addBelow(path, 1, &changed.paths);
      for (const std::string& wanted : wanted_) {
        if (isAbove && isBelow(wanted, path)) addWanted(wanted, &changed.paths);
      }
    }
  }
}

}  // namespace bough
