// Walks over the files in a folder and its subfolders with little memory, however many there are.
#pragma once

#include <bough/transcript.h>

#include <functional>
#include <string>

namespace bough::transcript {

/// Passes each regular file below `root` to `use`, until `use` returns false: its path, and where the part relative to
/// `root` begins. The names of a folder come sorted, in groups of some thousands. Links are not followed. What cannot
/// be read is noted in `report`; a root that does not exist counts as empty. Returns false when `use` did.
bool walkFolder(const std::string& root, TranscriptWalk& report,
                const std::function<bool(const std::string& path, std::size_t relativeAt)>& use);

}  // namespace bough::transcript
