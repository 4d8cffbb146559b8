// A session that is not in a store, as its files describe it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "catalog/external/external_file.h"
#include "catalog/tally/session_tally.h"

namespace bough::catalog {

struct ExternalSession {
  std::vector<ExternalFile> files;
  SessionRow row;
  std::vector<SessionTally::Branch> branches;
  std::map<std::int64_t, TalliedAnswer> answers;  ///< Each answer once, by its id.
  std::optional<Error> error;                     ///< Set when none of the files could be read.
};

/// Reads the files of one session; the first file determines the session. Keeps no entries.
ExternalSession readExternalSession(std::vector<ExternalFile> files);

}  // namespace bough::catalog
