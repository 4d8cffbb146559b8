// A session that was named, and the store it is in.
#pragma once

#include <memory>
#include <string>

#include "bough/store.h"

namespace bough::cli {

struct NamedSession {
  std::shared_ptr<void> passing = {};  ///< What goes with it: the folder of a copy.
  std::shared_ptr<SessionStore> store;
  std::string sessionId;
  std::shared_ptr<void> damage = {};  ///< Of tellOfDamage().
  std::string told = {};              ///< What was said of a transcript's damage.
  bool isCopy = false;                ///< Of an agent's files, in a store of its own.
};

}  // namespace bough::cli
