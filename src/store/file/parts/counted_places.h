// Who else in a store has counted entries of a session: its catalog, an archive beside the log, forks.
#pragma once

#include <string>
#include <string_view>

#include "bough/entry.h"
#include "log/file/log_files.h"
#include "log/index/counted_elsewhere.h"

namespace bough {

/// Where to look.
struct CountingPlaces {
  Directory& root;  ///< The store's folder.
  LogFolders folders = {};
  std::string_view trash = {};  ///< The name of the trash in it, which need not be there.
  const EntrySerializer& serializer;
};

/// For AskElsewhere. Uses no open log of the store, so that it can be asked under the lock of any.
CountedElsewhere countedElsewhere(const CountingPlaces& places, const std::string& sessionId,
                                  std::string_view firstLine);

}  // namespace bough
