// Images of results that were edited, in documents whose results hold only text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "message/roundtrip/match.h"

namespace bough::message {

/// Media that were written next to a result because the document's result could not hold them, and that go back into
/// the result.
struct ReturnedMedia {
  std::vector<char> goesBack;  ///< By written block: it goes back, or it announced media that go back.
  std::map<std::string, std::vector<Block>> byResultId;  ///< By id of the result.
};

/// For each result of the way back that does not come back unchanged (`isKept` tells which blocks do): finds the images
/// that were written next to it, if all of them are still there and the document has exactly one result with its id.
ReturnedMedia mediaOfEdited(const WayBackData& wayBack, const std::vector<Original>& document,
                            const std::vector<DocumentValue>& values,
                            const std::function<bool(std::size_t written)>& isKept);

/// Puts the media back into the results of a message.
void returnMedia(const ReturnedMedia& media, Original& original);

}  // namespace bough::message
