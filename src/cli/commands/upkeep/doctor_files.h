// The findings of `bough doctor`, and the checks of a store's files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bough/store.h"

namespace bough::cli {

enum class Health : std::uint8_t { Good, Note, Bad };

// One finding, and what to do about it.
struct Diagnosis {
  Health health = Health::Good;
  std::string what;
  std::string advice;
  bool isOpen = false;    // about a session whose end may be being written now
  bool isUnread = false;  // about a session that could not be read now but may be readable later
};

using Diagnoses = std::vector<Diagnosis>;

/// Checks the folder of a store, the disk, and the files among the sessions. `fix` removes files of sessions that were
/// never created.
void checkFiles(SessionStore& store, const std::string& location, bool fix, Diagnoses& findings);

}  // namespace bough::cli
