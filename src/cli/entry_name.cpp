#include "cli/entry_name.h"

namespace bough::cli {

Result<std::string> resolveEntry(SessionStore& store, const std::string& sessionId, const std::string& name) {
  if (name != "@head") return name;
  auto state = store.sessionState(sessionId);
  if (!state) return std::unexpected(state.error());
  return state->headId;
}

}  // namespace bough::cli
