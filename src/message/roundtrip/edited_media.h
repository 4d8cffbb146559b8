// Images of results that were edited, in documents whose results hold only text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "message/roundtrip/match.h"

namespace bough::message {

/// What was written beside a result because the document's result could not hold it, and goes back into the result.
struct ReturnedMedia {
  std::vector<char> leaves;                      ///< Of each written block: it goes back, or announced what does.
  std::map<std::string, std::vector<Block>> of;  ///< By the id of the result.
};

/// For each result of the way back that does not come back as it was (`isKept` says which do): the images that were
/// written beside it, when all of them are still there and the document has one result with its id.
ReturnedMedia mediaOfEdited(const WayBackData& wayBack, const std::vector<Original>& document,
                            const std::vector<DocumentValue>& values,
                            const std::function<bool(std::size_t leaf)>& isKept);

/// Puts the media back into the results of a message.
void returnMedia(const ReturnedMedia& media, Original& original);

}  // namespace bough::message
