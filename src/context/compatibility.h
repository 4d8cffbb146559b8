// The report on converting a branch, made from the whole branch at once or part by part.
#pragma once

#include <bough/context.h>

#include <optional>
#include <string>
#include <vector>

namespace bough::context {

/// `entries` is the branch, when it was already read.
Result<CompatibilityReport> reportWhole(SessionStore& store, const std::string& sessionId, Dialect target,
                                        const std::string& at, std::vector<Entry> entries = {});

/// Reports in parts of about `partBytes`, so that only one part is in memory; findings are listed part by part. Returns
/// std::nullopt when the branch was migrated before or has no entries.
Result<std::optional<CompatibilityReport>> reportInParts(SessionStore& store, const std::string& sessionId,
                                                         Dialect target, const std::string& at,
                                                         std::uint64_t partBytes);

}  // namespace bough::context
