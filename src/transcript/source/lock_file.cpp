#include "transcript/source/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/json/json_scan.h"
#include "base/system/environment.h"
#include "base/system/file_io.h"
#include "base/text/timestamp.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript {
namespace {

constexpr std::uint64_t kStaleMs = 30'000;
constexpr int kTries = 200;
constexpr auto kPause = std::chrono::milliseconds(50);

// Returns the age of a file or a folder; 0 when it does not exist.
std::uint64_t ageMs(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  const auto changedMs = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * 1000;
  const std::uint64_t now = systemEnvironment().clock.nowMs();
  return now > changedMs ? now - changedMs : 0;
}

// Returns whether the process that made the lock has ended.
bool isAbandoned(const std::string& path) {
  const auto text = readSmallFile(path).value_or(std::nullopt);
  const auto pid = text ? json::findUnsigned(*text, "pid") : std::nullopt;
  constexpr std::uint64_t kLargestPid = 1U << 30U;
  return pid && *pid > 0 && *pid < kLargestPid && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
}

// Removes a stale lock. Several processes may find the same lock stale. Only the process that holds flock(2) on the
// lock removes it, and only when the lock is still the one at that path; so nobody removes a lock that another process
// has made since. Returns false when another process is about to remove it.
template <typename Stale, typename Remove>
bool removeIfStale(const std::string& path, Stale isStale, Remove remove) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return errno == ENOENT;
  struct stat opened{};
  struct stat named{};
  const bool isAlone = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool isSame = isAlone && ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  if (isSame && isStale()) remove();
  ::close(descriptor);
  return isAlone;
}

template <typename Make, typename Stale, typename Remove>
Result<void> takeLock(const std::string& path, Make make, Stale isStale, Remove remove) {
  for (int i = 0; i < kTries; ++i) {
    const int error = make();
    if (error == 0) return {};
    if (error != EEXIST) return std::unexpected(systemError(error, "lock", path));
    if (!isStale() || !removeIfStale(path, isStale, remove)) std::this_thread::sleep_for(kPause);
  }
  return fail(ErrorCode::Busy, fmt::format("{} is held by the agent", path), "try again when it is idle");
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path) {
  const std::uint64_t now = systemEnvironment().clock.nowMs();
  const std::string text = fmt::format(R"({{"pid":{},"createdAt":"{}"}})", ::getpid(), formatTimestamp(now));
  const auto make = [&] {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) return errno;
    const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(descriptor);
    if (written) return 0;
    ::unlink(path.c_str());
    return EIO;
  };
  auto taken = takeLock(
      path, make, [&] { return ageMs(path) > kStaleMs || isAbandoned(path); }, [&] { ::unlink(path.c_str()); });
  if (!taken) return std::unexpected(taken.error());
  return LockFile(path);
}

LockFile::~LockFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<LockFolder> LockFolder::acquire(const std::string& path) {
  auto taken = takeLock(
      path, [&] { return ::mkdir(path.c_str(), 0700) == 0 ? 0 : errno; }, [&] { return ageMs(path) > kStaleMs; },
      [&] { ::rmdir(path.c_str()); });
  if (!taken) return std::unexpected(taken.error());
  return LockFolder(path);
}

LockFolder::~LockFolder() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

}  // namespace bough::transcript
