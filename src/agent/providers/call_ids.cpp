#include <fmt/format.h>

#include "agent/providers/stream_reader.h"
#include "base/system/environment.h"

namespace bough::agent {

std::optional<std::string> CallIds::replace(std::string_view id, std::string_view responseId, std::size_t number) {
  if (!id.empty() && used_.emplace(id).second) return std::nullopt;
  std::string other = responseId.empty() ? std::string() : fmt::format("call-{}-{}", responseId, number);
  while (other.empty() || !used_.insert(other).second) {
    other = fmt::format("call-{:016x}", systemEnvironment().random.next());
  }
  return other;
}

}  // namespace bough::agent
