// Searches sessions that are in no store, in the files that they are made from. Nothing is copied and no index is made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "catalog/session_scan.h"

namespace bough::catalog {

/// As scanSessions, for rows of takeInOutside in `folder`. Hits in titles are left to the caller: the rows have them.
void searchOutside(const std::string& folder, const std::vector<std::string>& sessions, const ScanQuery& query,
                   const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                   const std::function<void(const std::string& sessionId, const Error&)>& problem);

}  // namespace bough::catalog
