// Removes a transcript that a store holds, but only when the session has every byte of the file and the file did not
// change during the check.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <unordered_map>
#include <vector>

#include "base/bytes/sha256.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/model/carried.h"
#include "transcript/model/origin.h"
#include "transcript/source/record.h"

namespace bough {
namespace {

using namespace transcript;

// A range of the file that an entry holds.
struct Stretch {
  std::uint64_t sizeBytes = 0;
  std::string hash;
};
using Stretches = std::unordered_map<std::uint64_t, std::vector<Stretch>>;

constexpr std::uint64_t kEntriesAtOnce = 1'000;

// A line that is stored without the entries that it carries.
struct Carrier {
  std::uint64_t at = 0;
  std::string line;
  CarriedIds carries;
};

// Returns the ranges by offset. A file that was rewritten has several at one offset, and so has a session of several
// agents.
Result<Stretches> stretchesOf(SessionStore& store, const std::string& sessionId) {
  Stretches all;
  std::vector<Carrier> carriers;
  std::uint64_t from = 0;
  for (std::uint64_t count = 1; count > 0; from += count) {
    count = 0;
    BOUGH_TRY(store.readOwnEntries(sessionId, from, kEntriesAtOnce, [&](std::uint64_t, Entry& entry) {
      ++count;
      const auto origin = originOf(entry);
      if (!origin || !origin->hasLine) return;
      auto line = lineOf(entry);
      if (!line) return;
      if (origin->carries) {
        carriers.push_back({.at = origin->offset, .line = std::move(*line), .carries = *origin->carries});
      } else {
        all[origin->offset].push_back({line->size(), Sha256::of(*line)});
      }
    }));
  }
  for (const Carrier& carrier : carriers) {
    std::vector<Entry> entries;
    for (const std::string& id : carrier.carries.ids) {
      BOUGH_TRY(entries.emplace_back(), store.loadEntry(sessionId, id));
    }
    std::vector<CarriedEntry> cargo;
    for (const Entry& entry : entries) cargo.push_back(asStored(entry));
    const std::string line = withCarried(carrier.line, cargo, carrier.carries.own);
    all[carrier.at].push_back({line.size(), Sha256::of(line)});
  }
  return all;
}

// Reads a file in order, some bytes ahead.
class Ahead {
 public:
  explicit Ahead(ByteSource& source) : source_(source) {}

  /// Returns the next bytes; fewer at the end of the file.
  Result<std::string_view> peek(std::uint64_t count) {
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    while (bytes_.size() < count && !ended_) {
      const std::size_t had = bytes_.size();
      bytes_.resize(had + kPiece);
      const auto got = source_.read(std::span(bytes_).subspan(had));
      bytes_.resize(had + got.value_or(0));
      if (!got) return std::unexpected(got.error());
      ended_ = *got == 0;
    }
    return std::string_view(bytes_).substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes_.size())));
  }
  void skip(std::uint64_t count) { bytes_.erase(0, static_cast<std::size_t>(count)); }

 private:
  ByteSource& source_;
  std::string bytes_;
  bool ended_ = false;
};

struct FileState {
  std::uint64_t inode = 0;
  std::uint64_t sizeBytes = 0;
  std::int64_t modifiedSeconds = 0;
  std::int64_t modifiedNanoseconds = 0;
  bool operator==(const FileState&) const = default;
};

Result<FileState> stateOf(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return std::unexpected(systemError(errno, "look at", path));
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::Unsupported, fmt::format("{} is not a regular file", path));
  return FileState{.inode = info.st_ino,
                   .sizeBytes = static_cast<std::uint64_t>(info.st_size),
                   .modifiedSeconds = info.st_mtim.tv_sec,
                   .modifiedNanoseconds = info.st_mtim.tv_nsec};
}

// A lease on a file: the kernel grants it only when no program has the file open for writing, and revokes it when a
// program opens the file for writing. When the file or its file system does not support leases, nothing can be
// detected.
class Lease {
 public:
  explicit Lease(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
    // The kernel announces the end of a lease with a signal. SIGURG is ignored unless somebody handles it.
    if (file_ < 0 || ::fcntl(file_, F_SETSIG, SIGURG) != 0) return;
    isHeld_ = ::fcntl(file_, F_SETLEASE, F_RDLCK) == 0;
    isRefused_ = !isHeld_ && errno == EAGAIN;
  }
  ~Lease() {
    if (file_ >= 0) ::close(file_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Returns whether a program has the file open for writing.
  [[nodiscard]] bool isWrittenTo() const { return isRefused_ || (isHeld_ && ::fcntl(file_, F_GETLEASE) != F_RDLCK); }

 private:
  int file_;
  bool isHeld_ = false;
  bool isRefused_ = false;
};

}  // namespace

Result<bool> holdsTranscript(SessionStore& store, const std::string& sessionId, const std::string& path) {
  BOUGH_TRY(const Stretches all, stretchesOf(store, sessionId));
  BOUGH_TRY(const auto file, openFile(path));
  Ahead ahead(*file);
  std::uint64_t at = 0;
  while (true) {
    BOUGH_TRY(const std::string_view next, ahead.peek(1));
    if (next.empty()) return true;
    const auto found = all.find(at);
    if (found == all.end()) return false;
    std::uint64_t matched = 0;
    for (const Stretch& each : found->second) {
      BOUGH_TRY(const std::string_view bytes, ahead.peek(each.sizeBytes));
      if (bytes.size() == each.sizeBytes && Sha256::of(bytes) == each.hash) matched = each.sizeBytes;
    }
    if (matched == 0) return false;
    ahead.skip(matched);
    at += matched;
  }
}

Result<void> removeTranscript(SessionStore& store, const std::string& sessionId, const FoundTranscript& file) {
  const Agent* agent = findAgent(file.agent);
  if (agent == nullptr || agent->announce != nullptr) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{} keeps a list of its sessions, which would name a file that is "
                            "gone",
                            file.agent),
                "remove the session with that program");
  }
  BOUGH_TRY(const FileState before, stateOf(file.path));
  BOUGH_TRY(const bool holds, holdsTranscript(store, sessionId, file.path));
  if (!holds) {
    return fail(ErrorCode::Conflict, fmt::format("session {} does not hold every byte of {}", sessionId, file.path),
                "the file stays; `bough import` brings in what is new");
  }
  const Lease lease(file.path);
  BOUGH_TRY(const FileState after, stateOf(file.path));
  if (after != before) {
    return fail(ErrorCode::Conflict, fmt::format("{} changed meanwhile", file.path), "the file stays");
  }
  if (lease.isWrittenTo()) {
    return fail(ErrorCode::Busy, fmt::format("{} is open for writing in another program", file.path),
                "the file stays; try again when that program has ended");
  }
  if (::unlink(file.path.c_str()) != 0) return std::unexpected(systemError(errno, "remove", file.path));
  return {};
}

}  // namespace bough
