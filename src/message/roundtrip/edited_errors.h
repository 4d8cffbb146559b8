// Failed results in documents that have no flag for a failure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "message/model/history.h"
#include "message/roundtrip/way_back.h"

namespace bough::message {

/// In Chat and Responses, the text of a failed result begins with the word Error. When that word is still there, sets
/// the flag of the document's result again and removes the word if a conversion added it. Returns the ids of these
/// results.
std::set<std::string> markEditedErrors(const WayBackData& wayBack, std::vector<Original>& document);

}  // namespace bough::message
