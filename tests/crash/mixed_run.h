// One recorded run of everything that writes to a session in daily use, for the crash tests to cut.
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
