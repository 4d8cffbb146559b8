// Reads a document back into the originals that it was made from.
//
// Without a WayBack every message is an original of the document's dialect. With a WayBack, each value of the document
// is compared with what was written. When all blocks that an original became are unchanged, the original replaces them
// byte for byte. Synthetic blocks are dropped. Everything else is new or edited, and becomes an original of the
// document's dialect.
//
// Originals keep their order, and new values follow the block before them. An original that became nothing (reasoning,
// an empty turn) stays as long as its neighbour does.
#pragma once

#include <bough/convert.h>

#include <string>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"
#include "message/roundtrip/way_back.h"

namespace bough::message {

/// Replaces `documentOriginals`, all originals of the document, by the originals that they came from. The result is in
/// history.originals.
void restoreOriginals(WayBackData& wayBack, std::vector<Original> documentOriginals, History& history,
                      Reporter& reporter);

/// Returns whether an original is a whole response of the Responses API, with its items in it.
bool isWholeResponse(const Original& original);

/// Returns the text of an original with only these of its blocks.
std::string subsetOf(const Original& original, const std::vector<const Block*>& blocks);

}  // namespace bough::message
