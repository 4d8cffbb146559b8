// Finds expired sessions.

#include <algorithm>

#include "base/try.h"
#include "catalog/catalog_state.h"
#include "catalog/database/session_row.h"

#include <fmt/format.h>

namespace bough {

Result<std::vector<Catalog::Expired>> Catalog::expired(std::uint64_t nowMs,
                                                       std::optional<std::uint64_t> defaultTimeToLiveMs) {
  if (!defaultTimeToLiveMs) {
    BOUGH_TRY(auto settings, state_->store.settings());
    defaultTimeToLiveMs = settings.timeToLiveMs;
  }
  if (state_->source != nullptr)
    return state_->askSource([&](CatalogSource& source) { return source.expired(nowMs, defaultTimeToLiveMs); });
  return state_->answerFromSnapshot([&]() -> Result<std::vector<Expired>> {
    std::vector<Expired> found;
    {
      // A damaged or missing session must not be removed without anybody noticing.
      catalog::Query query(
          *state_->database,
          fmt::format("SELECT {} FROM session WHERE pinned = 0 AND condition < {} AND (timeToLiveMs IS "
                      "NOT NULL OR {}) ORDER BY activeMs, sessionId",
                      catalog::rowColumns(), static_cast<int>(SessionCondition::Damaged),
                      defaultTimeToLiveMs.has_value()));
      while (query.next()) {
        SessionSummary session = catalog::readRow(query).facts;
        const std::uint64_t life = session.timeToLiveMs ? *session.timeToLiveMs : *defaultTimeToLiveMs;
        // The messages of an imported session may be older than the session's creation in the store.
        const std::uint64_t storedMs = std::max(session.activeMs, session.createdMs);
        if (life > nowMs || storedMs > nowMs - life) continue;
        const std::uint64_t expiredMs = storedMs + life;
        found.push_back({.session = std::move(session), .expiredMs = expiredMs});
      }
    }
    BOUGH_TRY(state_->database->takeFailure());
    return found;
  });
}

}  // namespace bough
