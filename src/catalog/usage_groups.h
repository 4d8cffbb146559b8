// Usage in groups that are made from other groups: blocks of five hours from hours, folders from sessions.
#pragma once

#include "bough/catalog.h"

namespace bough::catalog {

/// Blocks as providers count them: one begins with the hour of the first answer after the block before it.
Result<UsageReport> usageByBlock(Catalog& catalog, const UsageOptions& options);
Result<UsageReport> usageByFolder(Catalog& catalog, const UsageOptions& options);

}  // namespace bough::catalog
