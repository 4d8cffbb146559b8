#include "base/system/posix_watcher.h"
#include "base/try.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace bough {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t kNames = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
constexpr std::uint32_t kWrites = IN_MODIFY | IN_ATTRIB;

// Milliseconds until the deadline; a negative timeout waits forever.
int leftMs(SteadyClock::time_point deadline, int timeoutMs) {
  using namespace std::chrono;
  if (timeoutMs < 0) return -1;
  return static_cast<int>(std::max(ceil<milliseconds>(deadline - SteadyClock::now()), milliseconds(0)).count());
}

class PosixWatcher final : public Watcher {
 public:
  PosixWatcher(std::shared_ptr<PerProcess<FolderEvents>> events, const std::vector<std::string>& names)
      : events_(std::move(events)), names_(names) {}

  SysResult<bool> wait(int timeoutMs) override { return waiter_->wait(timeoutMs); }
  void wake() override { waiter_->wake(); }
  Changed takeChanged() override { return waiter_->takeChanged(); }

 private:
  std::shared_ptr<PerProcess<FolderEvents>> events_;
  const std::vector<std::string> names_;
  const unsigned forks_ = forkCount();
  PerProcess<FolderEvents::Waiter> waiter_{
      [this] { return std::make_unique<FolderEvents::Waiter>(**events_, names_, forkCount() != forks_); }};
};

}  // namespace

SysResult<std::unique_ptr<Watcher>> watchNames(std::shared_ptr<PerProcess<FolderEvents>> events,
                                               const std::vector<std::string>& names) {
  BOUGH_TRY((*events)->status());
  return std::make_unique<PosixWatcher>(std::move(events), names);
}

FolderEvents::FolderEvents(std::string folder)
    : folder_(std::move(folder)),
      events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (events_ < 0 || wakeup_ < 0 || ::inotify_add_watch(events_, folder_.c_str(), kNames) < 0) {
    status_ = std::unexpected(errno);
  }
}

FolderEvents::~FolderEvents() {
  if (events_ >= 0) ::close(events_);
  if (wakeup_ >= 0) ::close(wakeup_);
}

// In a child of fork nothing was watched until now, so anything may have changed.
FolderEvents::Waiter::Waiter(FolderEvents& events, const std::vector<std::string>& names, bool isLate)
    : events_(events), names_(names.begin(), names.end()), changed_{.all = isLate}, hasChanges_(isLate) {
  const std::lock_guard lock(events_.mutex_);
  try {
    enter();
  } catch (...) {
    leave();  // nothing else would remove it from the list, and events would later go to a destroyed waiter
    throw;
  }
}

FolderEvents::Waiter::~Waiter() {
  const std::lock_guard lock(events_.mutex_);
  leave();
}

void FolderEvents::Waiter::enter() {
  if (names_.empty()) {
    events_.waitingForAll_.push_back(this);
    events_.watchFolder();
  }
  for (const std::string& name : names_) {
    File& file = events_.files_[name];
    file.waiters.push_back(this);
    if (file.waiters.size() == 1) events_.watchFile(name, file);
  }
}

void FolderEvents::Waiter::leave() {
  if (std::erase(events_.waitingForAll_, this) > 0) events_.watchFolder();
  for (const std::string& name : names_) {
    const auto found = events_.files_.find(name);
    if (found == events_.files_.end()) continue;
    std::erase(found->second.waiters, this);
    if (!found->second.waiters.empty()) continue;
    events_.unwatch(name, found->second.descriptor);
    events_.files_.erase(found);
  }
}

void FolderEvents::Waiter::wake() {
  const std::lock_guard lock(events_.mutex_);
  woken_ = true;
  events_.eventsRead_.notify_all();
  const std::uint64_t one = 1;
  (void)!::write(events_.wakeup_, &one, sizeof one);
}

Watcher::Changed FolderEvents::Waiter::takeChanged() {
  const std::lock_guard lock(events_.mutex_);
  return std::exchange(changed_, Watcher::Changed());
}

// The watch on the folder reports names that are created, moved or removed. Writes are watched on each file separately,
// so that writes to other files cause no wakeups; only when a waiter wants all names does the folder's watch include
// writes.
void FolderEvents::watchFolder() {
  (void)::inotify_add_watch(events_, folder_.c_str(), waitingForAll_.empty() ? kNames : kNames | kWrites);
}

void FolderEvents::watchFile(const std::string& name, File& file) {
  const std::string path = folder_ + "/" + name;
  const int descriptor = ::inotify_add_watch(events_, path.c_str(), kWrites | IN_DONT_FOLLOW);
  if (descriptor == file.descriptor) return;
  unwatch(name, file.descriptor);
  file.descriptor = descriptor;
  if (descriptor >= 0) names_.emplace(descriptor, name);
}

void FolderEvents::unwatch(const std::string& name, int descriptor) {
  if (descriptor < 0) return;
  const auto [first, last] = names_.equal_range(descriptor);
  const auto old = std::find_if(first, last, [&](const auto& each) { return each.second == name; });
  if (old != last) names_.erase(old);
  if (!names_.contains(descriptor)) (void)::inotify_rm_watch(events_, descriptor);
}

SysResult<bool> FolderEvents::wait(Waiter& waiter, int timeoutMs) {
  if (!status_) return std::unexpected(status_.error());
  const auto deadline = SteadyClock::now() + std::chrono::milliseconds(timeoutMs);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!reading_) readEvents();
    const bool woken = std::exchange(waiter.woken_, false);
    if (std::exchange(waiter.hasChanges_, false) || woken) return true;
    if (timeoutMs >= 0 && SteadyClock::now() >= deadline) return false;
    if (reading_) {
      if (timeoutMs < 0) eventsRead_.wait(lock);
      if (timeoutMs >= 0) eventsRead_.wait_until(lock, deadline);
      continue;
    }
    reading_ = true;
    std::array<pollfd, 2> sources{
        {{.fd = events_, .events = POLLIN, .revents = 0}, {.fd = wakeup_, .events = POLLIN, .revents = 0}}};
    lock.unlock();
    const int ready = ::poll(sources.data(), sources.size(), leftMs(deadline, timeoutMs));
    const int error = errno;
    lock.lock();
    reading_ = false;
    std::uint64_t count = 0;
    if (ready > 0 && sources[1].revents != 0) (void)!::read(wakeup_, &count, sizeof count);
    eventsRead_.notify_all();  // another thread reads the events after this one stops
    if (ready < 0 && error != EINTR) return std::unexpected(error);
  }
}

void FolderEvents::recordChange(const std::string& name) {
  const auto mark = [&](Waiter* waiter) {
    waiter->changed_.names.insert(name);
    waiter->hasChanges_ = true;
  };
  std::ranges::for_each(waitingForAll_, mark);
  if (const auto file = files_.find(name); file != files_.end()) std::ranges::for_each(file->second.waiters, mark);
}

void FolderEvents::recordAllChanged() {
  const auto mark = [](Waiter* waiter) {
    waiter->changed_.all = true;
    waiter->hasChanges_ = true;
  };
  std::ranges::for_each(waitingForAll_, mark);
  for (auto& [name, file] : files_) std::ranges::for_each(file.waiters, mark);
}

// Reads all pending events and notifies the waiters concerned. When memory runs out here, all waiters are told that
// anything may have changed, and the next call watches the files again.
void FolderEvents::readEvents() {
  try {
    if (rewatch_) {
      for (auto& [name, file] : files_) watchFile(name, file);
      rewatch_ = false;
      recordAllChanged();
    }
    handleEvents();
  } catch (const std::bad_alloc&) {
    rewatch_ = true;
    recordAllChanged();
    eventsRead_.notify_all();
  }
}

void FolderEvents::handleEvents() {
  alignas(inotify_event) std::array<char, 16384> buffer{};
  bool any = false;
  for (ssize_t got = 0; (got = ::read(events_, buffer.data(), buffer.size())) > 0;) {
    any = true;
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* text = event.len > 0 ? buffer.data() + at + sizeof event : nullptr;
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_Q_OVERFLOW) != 0) recordAllChanged();
      if (text != nullptr) {
        const std::string name = text;
        // The name may belong to another file by now.
        if (const auto file = files_.find(name); file != files_.end()) watchFile(name, file->second);
        recordChange(name);
        continue;
      }
      const auto [first, last] = names_.equal_range(event.wd);
      for (auto each = first; each != last; ++each) recordChange(each->second);
      if ((event.mask & IN_IGNORED) == 0) continue;
      for (auto each = first; each != last; ++each) {
        if (const auto file = files_.find(each->second); file != files_.end()) file->second.descriptor = -1;
      }
      names_.erase(event.wd);
    }
  }
  if (any) eventsRead_.notify_all();
}

}  // namespace bough
