#include "agent/chat/turn_lock.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <mutex>

#include "base/bytes/sha256.h"
#include "base/system/file_io.h"
#include "base/system/threads.h"
#include "base/try.h"

namespace bough::agent {
namespace {

// Maps each session to one byte of the lock file, far beyond its end.
off_t lockOffsetOf(const std::string& sessionId) {
  const std::string digits = Sha256::of(sessionId).substr(0, 15);
  std::uint64_t place = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), place, 16);
  return static_cast<off_t>(place);
}

// Three renewals fit into one lease, so a single lost answer does no harm.
constexpr std::uint64_t kLeaseMs = 10'000;
constexpr std::chrono::milliseconds kRenewEvery{3'000};

Result<Descriptor> lockByte(const std::string& storeFolder, const std::string& sessionId) {
  const std::string path = storeFolder + "/turns.lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return std::unexpected(systemError(errno, "open", path));
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = lockOffsetOf(sessionId);
  range.l_len = 1;
  if (::fcntl(file.get(), F_OFD_SETLK, &range) == 0) return file;
  if (errno != EAGAIN && errno != EACCES) return std::unexpected(systemError(errno, "lock", path));
  return fail(ErrorCode::Busy, "another chat is in the middle of a turn in this session",
              "wait for it, or use --on-conflict branch to continue on a branch of your own");
}

}  // namespace

// Renews the lease until it is destroyed. Retries failed renewals. If another turn has begun meanwhile, the store
// refuses the next append of this turn by its number.
class TurnLock::Lease {
 public:
  explicit Lease(Session session) : session_(std::move(session)) {}
  ~Lease() {
    if (turn_ == 0) return;
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    if (renewer_.joinable()) renewer_.join();
    // If memory runs out here, the lease expires by itself.
    ThreadFailure().guard([&] { (void)session_.renewTurn(turn_, 0); });
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  [[nodiscard]] std::uint64_t turn() const { return turn_; }
  // Fails when the thread cannot start: without renewal the lease would expire in the middle of the turn.
  Result<void> start() {
    BOUGH_TRY(turn_, session_.leaseTurn(kLeaseMs));
    BOUGH_TRY(renewer_, startThread("to renew the lease of a turn", [this] { renew(); }));
    return {};
  }

 private:
  void renew() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kRenewEvery, [&] { return over_; })) {
      lock.unlock();
      bool over = false;
      // Running out of memory must not end the process; the next round renews the lease.
      ThreadFailure().guard([&] {
        const auto renewed = session_.renewTurn(turn_, kLeaseMs);
        over = !renewed && renewed.error().code == ErrorCode::Conflict;
      });
      lock.lock();
      if (over) return;
    }
  }

  const Session session_;
  std::uint64_t turn_ = 0;  // none yet
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::jthread renewer_;
};

TurnLock::TurnLock(Descriptor file, std::unique_ptr<Lease> lease) : file_(std::move(file)), lease_(std::move(lease)) {}
TurnLock::~TurnLock() = default;
TurnLock::TurnLock(TurnLock&&) noexcept = default;

std::optional<std::uint64_t> TurnLock::turn() const {
  return lease_ ? std::optional(lease_->turn()) : std::nullopt;
}

Result<TurnLock> TurnLock::take(SessionStore& store, const std::string& storeFolder, const std::string& sessionId) {
  struct stat info{};
  if (::stat(storeFolder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    BOUGH_TRY(auto file, lockByte(storeFolder, sessionId));
    return TurnLock(std::move(file), nullptr);
  }
  BOUGH_TRY(auto session, store.session(sessionId));
  // Made before the turn begins, so that no later failure leaves a lease that nobody ends.
  auto lease = std::make_unique<Lease>(std::move(session));
  const auto started = lease->start();
  if (!started && started.error().code == ErrorCode::Unsupported) return TurnLock(Descriptor(), nullptr);
  if (!started) return std::unexpected(started.error());
  return TurnLock(Descriptor(), std::move(lease));
}

}  // namespace bough::agent
