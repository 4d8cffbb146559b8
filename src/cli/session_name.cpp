#include "cli/session_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace bough::cli {

Result<std::string> resolveSession(SessionStore& store, const std::string& name) {
  constexpr std::size_t kShown = 8;
  auto sessions = store.listSessions();
  if (!sessions) return std::unexpected(sessions.error());
  if (std::ranges::binary_search(*sessions, name)) return name;
  std::vector<std::string> candidates;
  std::ranges::copy_if(*sessions, std::back_inserter(candidates),
                       [&](const std::string& id) { return !name.empty() && id.starts_with(name); });
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty()) {
    return fail(ErrorCode::NotFound, fmt::format("there is no session {}", name), "`bough` lists the sessions");
  }
  const std::size_t total = candidates.size();
  candidates.resize(std::min(total, kShown));
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} sessions begin with {}: {}{}", total, name, fmt::join(candidates, ", "),
                          total > kShown ? ", …" : ""),
              "type more of the id");
}

}  // namespace bough::cli
