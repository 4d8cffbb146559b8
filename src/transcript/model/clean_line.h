// Lines of an agent in a clean copy of a damaged file.
#pragma once

#include <bough/entry.h>

#include <string>
#include <string_view>

#include "transcript/model/origin.h"

namespace bough::transcript {

/// The records alone, one a line, in UTF-8. `bytes`: the entry's own.
std::string cleanLines(std::string_view bytes, const Origin& origin);

/// Whether an entry's line is whole by itself: a part of an older document is not.
bool isWholeRecord(const Entry& entry, const Origin& origin);

/// The lines with another parent in the first of them; `member` names it. `parentId`: an entry's; empty: a root.
std::string withParent(std::string lines, std::string_view member, const std::string& parentId);

/// Whether an id was used twice, and so is another one in a clean copy: lines that name it are written again, too.
bool isRenamed(const Entry& entry);

}  // namespace bough::transcript
