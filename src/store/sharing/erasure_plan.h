// Determines which entries an erasure covers, and to which session each belongs.
#pragma once

#include <functional>

#include "base/system/environment.h"
#include "store/rules/erasure.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

/// Plans an erasure. NotFound when the session does not show one of the entries. `use` receives each entry as it is
/// stored.
Result<ErasurePlan> planErasure(SharingBackend& backend, const Erasure& erasure, IdGenerator& ids, Clock& clock,
                                const std::function<void(const Entry&)>& use);

}  // namespace bough
