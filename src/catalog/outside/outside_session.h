// A session that is in no store, as its files tell it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "catalog/outside/outside_file.h"
#include "catalog/tally/session_tally.h"

namespace bough::catalog {

struct Told {
  std::vector<OutsideFile> files;
  SessionRow row;
  std::vector<SessionTally::Branch> branches;
  std::map<std::int64_t, TalliedAnswer> answers;  ///< Each once, by its id.
  std::optional<Error> error;                     ///< None of the files could be read.
};

/// Reads the files of one session; the first says what it is. No entry is kept.
Told tellOutside(std::vector<OutsideFile> files);

}  // namespace bough::catalog
