// Walks over the files below a folder with little memory, however many there are.
#pragma once

#include <bough/transcript.h>

#include <functional>
#include <string>

namespace bough::transcript {

/// Gives each regular file below `root` (its path, and where the part below `root` begins) to `use`, until it returns
/// false. A folder's names come sorted, in groups of some thousands. Links are not followed. What cannot be looked into
/// is noted in `report`; a root that does not exist is empty. Returns false when `use` did.
bool walkFolder(const std::string& root, TranscriptWalk& report,
                const std::function<bool(const std::string& path, std::size_t relativeAt)>& use);

}  // namespace bough::transcript
