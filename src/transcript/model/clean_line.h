// Lines of an agent in a clean copy of a damaged file.
#pragma once

#include <bough/entry.h>

#include <string>
#include <string_view>

#include "transcript/model/agent.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

/// The records alone, one a line, in UTF-8. `bytes`: the entry's own.
std::string cleanLines(std::string_view bytes, const Origin& origin, const Agent& agent);

/// Whether an entry's line is whole by itself: a part of an older document is not.
bool isWholeRecord(const Entry& entry, const Origin& origin, const Agent& agent);

/// The lines with another parent in the first of them; `member` names it. `parentId`: an entry's; empty: a root.
std::string withParent(std::string lines, std::string_view member, const std::string& parentId);

/// Whether an agent's lines are copied as they are into a file of the agent.
bool isSameFormat(const Agent& agent, std::string_view name);

/// Whether the agent wrote an entry itself, and its line can be copied; `clean`: into a clean copy. `continued`: the
/// entry that it continues.
bool isLineOf(const Agent& agent, const Entry& entry, const Entry* continued, bool clean);

}  // namespace bough::transcript
