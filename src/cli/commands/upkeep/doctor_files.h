// What `bough doctor` finds, and the part of it that looks at the files of a store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bough/store.h"

namespace bough::cli {

enum class Health : std::uint8_t { Good, Note, Bad };

// One thing that was looked at, and what to do about it.
struct Diagnosis {
  Health health = Health::Good;
  std::string what;
  std::string advice;
  bool isOpen = false;    // of a session whose end may be being written
  bool isUnread = false;  // of a session that can be read another time
};

using Diagnoses = std::vector<Diagnosis>;

/// The folder of a store, the disk, and the files among the sessions. `fix`: removes files of sessions that were never
/// created.
void checkFiles(SessionStore& store, const std::string& location, bool fix, Diagnoses& findings);

}  // namespace bough::cli
