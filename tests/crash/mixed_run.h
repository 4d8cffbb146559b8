// A recorded run of all common writes to a session, which the crash tests interrupt.
#pragma once

#include "crash/ledger.h"

namespace bough {

struct MixedRun {
  enum class Size : std::uint8_t { Small, Large };

  std::unique_ptr<SimFileSystem> files;
  Ledger ledger;
  StoreOptions options;
};

MixedRun recordMixedRun(MixedRun::Size size);

}  // namespace bough
