#include "agent/chat/turn_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "base/bytes/sha256.h"
#include "base/system/file_io.h"

namespace bough::agent {
namespace {

// Each session has a byte of the file, far beyond its end.
off_t placeOf(const std::string& sessionId) {
  const std::string digits = Sha256::of(sessionId).substr(0, 15);
  std::uint64_t place = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), place, 16);
  return static_cast<off_t>(place);
}

}  // namespace

Result<TurnLock> TurnLock::take(const std::string& storeFolder, const std::string& sessionId) {
  struct stat info{};
  if (::stat(storeFolder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return TurnLock(Descriptor());
  const std::string path = storeFolder + "/turns.lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return std::unexpected(systemError(errno, "open", path));
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = placeOf(sessionId);
  range.l_len = 1;
  if (::fcntl(file.get(), F_OFD_SETLK, &range) == 0) return TurnLock(std::move(file));
  if (errno != EAGAIN && errno != EACCES) return std::unexpected(systemError(errno, "lock", path));
  return fail(ErrorCode::Busy, fmt::format("another chat is in the middle of a turn in session {}", sessionId),
              "wait for it, or use --on-conflict branch to go on beside it");
}

}  // namespace bough::agent
