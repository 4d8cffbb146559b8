// Updates a source that does not read sessions itself: reads what has changed and hands it over.
#pragma once

#include "bough/catalog.h"

namespace bough::catalog {

/// Reads the sessions that are out of date in `source` and hands their rows over to it.
Result<CatchUpReport> updateSource(SessionStore& store, CatalogSource& source, const CatchUpOptions& options);

/// How often to retry a source that answers Conflict (CatalogSource::keep).
inline constexpr int kMaxConflictRetries = 50;
/// Returns the error for a source that still answers Conflict after that.
Error asBusy(Error conflict);

}  // namespace bough::catalog
