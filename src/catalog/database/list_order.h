// In which order a list comes out of catalog.db.
//
// Every order except Cost is an index of `session`, so that a page of a list reads only its own rows. Costs depend on
// the prices of the one who asks: they are added up from the answers and sorted here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database/conditions.h"

namespace bough::catalog {

/// The statements that make the indexes.
std::string listIndexes();

/// What follows ORDER BY. Not for Cost.
std::string orderOf(ListOrder order, bool reverse);

/// session.id of every session that fits the conditions, the costliest first, or last when the options say `reverse`.
std::vector<std::int64_t> idsByCost(Database& database, const Conditions& conditions, const ListOptions& options);

}  // namespace bough::catalog
