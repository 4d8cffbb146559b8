// Results that failed, in documents without a flag for that.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "message/model/history.h"
#include "message/roundtrip/way_back.h"

namespace bough::message {

/// Chat and Responses have the word Error before the text of a result that failed. Where the word is still there, gives
/// the document's result its flag again and takes off the word that was written for it. Returns the ids of these
/// results.
std::set<std::string> markEditedErrors(const WayBackData& wayBack, std::vector<Original>& document);

}  // namespace bough::message
