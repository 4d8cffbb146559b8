// The order in which catalog.db returns a list.
//
// Every order except Cost has an index on `session`, so that a page of a list reads only its own rows. Costs depend on
// the caller's prices, so they are summed from the answers and sorted here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database/conditions.h"

namespace bough::catalog {

/// Returns the statements that create the indexes.
std::string listIndexes();

/// Returns the text after ORDER BY. Not for Cost.
std::string orderOf(ListOrder order, bool reverse);

/// Returns session.id of every session that matches the conditions, most expensive first (last with `reverse`).
std::vector<std::int64_t> idsByCost(Database& database, const Conditions& conditions, const ListOptions& options);

}  // namespace bough::catalog
