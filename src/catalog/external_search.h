// Searches sessions that are not in a store, directly in their files. Copies nothing and builds no index.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "catalog/session_scan.h"

namespace bough::catalog {

/// Like scanSessions, for rows of updateExternalRows in `folder`. Does not search titles: the caller can search them in
/// the rows.
void searchExternalSessions(const std::string& folder, const std::vector<std::string>& sessions, const ScanQuery& query,
                            const ScanOptions& options, const std::function<bool(SearchHit&)>& use,
                            const std::function<void(const std::string& sessionId, const Error&)>& problem);

}  // namespace bough::catalog
