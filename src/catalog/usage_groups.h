// Usage in groups that are built from other groups: blocks of five hours from hours, folders from sessions.
#pragma once

#include "bough/catalog.h"

namespace bough::catalog {

/// Groups usage by five-hour blocks as providers count them: a block begins with the hour of the first answer after the
/// previous block.
Result<UsageReport> usageByBlock(Catalog& catalog, const UsageOptions& options);
Result<UsageReport> usageByFolder(Catalog& catalog, const UsageOptions& options);

}  // namespace bough::catalog
