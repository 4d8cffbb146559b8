// How a source that does not read sessions itself is kept up to date: what has changed is read here and handed over.
#pragma once

#include "bough/catalog.h"

namespace bough::catalog {

/// Reads the sessions that are outdated in `source`, and lets it keep what they say.
Result<CatchUpReport> takeIntoSource(SessionStore& store, CatalogSource& source, const CatchUpOptions& options);

/// How often a source is asked that answers Conflict (CatalogSource::keep).
inline constexpr int kMostTries = 50;
/// What to say when it still does.
Error asBusy(Error conflict);

}  // namespace bough::catalog
