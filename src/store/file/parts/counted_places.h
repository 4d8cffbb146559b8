// Asks who else in a store has counted entries of a session: the catalog, an archive beside the log, forks.
#pragma once

#include <string>
#include <string_view>

#include "bough/entry.h"
#include "log/file/log_files.h"
#include "log/index/counted_elsewhere.h"

namespace bough {

/// The places to ask.
struct CountingPlaces {
  Directory& root;  ///< The store's folder.
  LogFolders folders = {};
  std::string_view trash = {};  ///< The name of the trash folder in `root`; the folder need not exist.
  const EntrySerializer& serializer;
};

/// Implements AskElsewhere. Uses no open log of the store, so it can be called while the lock of any log is held.
CountedElsewhere countedElsewhere(const CountingPlaces& places, const std::string& sessionId,
                                  std::string_view firstLine);

}  // namespace bough
