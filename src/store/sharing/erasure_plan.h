// Which entries an erasure means, and whose own they are.
#pragma once

#include <functional>

#include "base/system/environment.h"
#include "store/rules/erasure.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

/// NotFound when the session does not show one of the entries. `use` gets each as it is stored.
Result<ErasurePlan> planErasure(SharingBackend& backend, const Erasure& erasure, IdGenerator& ids, Clock& clock,
                                const std::function<void(const Entry&)>& use);

}  // namespace bough
