// What a file backend tells of a session without reading its entries.

#include "store/file_backend.h"

namespace bough {

Result<std::uint64_t> FileBackend::numbering(const std::string& sessionId) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  return (*session)->freshGeneration();
}

Result<SessionOutline> FileBackend::outline(const std::string& sessionId) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  return (*session)->outline();
}

Result<std::vector<std::string>> FileBackend::findIds(const std::string& sessionId, std::string_view prefix,
                                                      std::size_t limit) {
  auto session = log(sessionId);
  if (!session) return std::unexpected(session.error());
  return (*session)->findIds(prefix, limit);
}

}  // namespace bough
