// A session that was named, and the store that holds it.
#pragma once

#include <memory>
#include <string>

#include "bough/store.h"

namespace bough::cli {

struct NamedSession {
  std::shared_ptr<void> temporaryFiles = {};  ///< Keeps the temporary folder of a copy.
  std::shared_ptr<SessionStore> store;
  std::string sessionId;
  std::shared_ptr<void> damage = {};  ///< Returned by reportDamage().
  std::string reportedDamage = {};    ///< What the user was told about damage in the transcript.
  bool isCopy = false;                ///< A copy made from an agent's files, in its own store.
};

}  // namespace bough::cli
