// What the conversion of a branch reports: of all of it at once, or part by part.
#pragma once

#include <bough/context.h>

#include <optional>
#include <string>
#include <vector>

namespace bough::context {

/// `entries`: the branch, when it was read already.
Result<CompatibilityReport> reportWhole(SessionStore& store, const std::string& sessionId, Dialect target,
                                        const std::string& at, std::vector<Entry> entries = {});

/// In parts of about so many bytes, so that only one of them is in memory; findings come part by part. None when the
/// branch was migrated before, or has no entry.
Result<std::optional<CompatibilityReport>> reportInParts(SessionStore& store, const std::string& sessionId,
                                                         Dialect target, const std::string& at,
                                                         std::uint64_t partBytes);

}  // namespace bough::context
