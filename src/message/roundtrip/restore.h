// Reads a document back into the originals it was made from.
//
// Without a WayBack every message is an original of the document's dialect. With one, each value of the document is
// compared with what was written: where all blocks that an original became still say the same, the original takes their
// place, byte for byte; synthetic blocks vanish; whatever is left is new or edited, and is an original of the
// document's dialect itself.
//
// The order: originals keep the order they had, and what is new follows the block that is before it. An
// original that became nothing (reasoning, an empty turn) stays as long as its neighbour does.
#pragma once

#include <bough/convert.h>

#include <string>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"
#include "message/roundtrip/way_back.h"

namespace bough::message {

/// Replaces `documentOriginals`, all originals of the document, by those they came from. In the end history.originals
/// holds the result.
void restoreOriginals(WayBackData& wayBack, std::vector<Original> documentOriginals, History& history,
                      Reporter& reporter);

/// Whether it is a response of the Responses API, with its items in it.
bool isWholeResponse(const Original& original);

/// The text of an original with only these of its blocks.
std::string subsetOf(const Original& original, const std::vector<const Block*>& blocks);

}  // namespace bough::message
