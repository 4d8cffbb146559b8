#include "context/memory_need.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace bough::context {
namespace {

constexpr std::uint64_t kAlwaysFitsBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMegabyte = 1'000'000;

// Returns how much memory the system can provide without reclaiming it from others, limited to what this process may
// use.
std::uint64_t freeMemoryBytes() {
  std::uint64_t bytes = UINT64_MAX;
  constexpr std::uint64_t kKibibyte = 1024;
  std::ifstream info("/proc/meminfo");
  std::string name;
  for (std::uint64_t kilobytes = 0; info >> name >> kilobytes; info.ignore(256, '\n')) {
    if (name == "MemAvailable:") bytes = kilobytes * kKibibyte;
  }
  // The limit of the container.
  std::uint64_t limitBytes = 0;
  std::uint64_t used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limitBytes &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    bytes = std::min(bytes, limitBytes - std::min(limitBytes, used));
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0) bytes = std::min<std::uint64_t>(bytes, limit.rlim_cur);
  return bytes;
}

}  // namespace

Result<void> checkMemory(SessionStore& store, const std::string& sessionId, std::uint64_t copies,
                         std::string_view hint) {
  const auto state = store.sessionState(sessionId);
  const std::uint64_t bytes = state ? state->bytes : 0;  // when it cannot be read, reading the session reports why
  if (bytes <= kAlwaysFitsBytes) return {};
  const std::uint64_t free = freeMemoryBytes();
  if (bytes <= free / copies) return {};
  return fail(
      ErrorCode::Unsupported,
      fmt::format("the session has {} MB, and all of it at once would take about {} MB of memory; {} MB are free",
                  bytes / kMegabyte, bytes / kMegabyte * copies, free / kMegabyte),
      std::string(hint));
}

}  // namespace bough::context
