// Reads a document back into the natives it was made from.
//
// Without an Origin every message is a native of the document's dialect. With one, each value of the document is
// compared with what was written: where all blocks that a native became still say the same, the native takes their
// place, byte for byte; synthetic blocks vanish; whatever is left is new or edited, and is a native of the document's
// dialect itself.
//
// The order: natives keep the order they had, and what is new follows the native whose block stands before it. A native
// that became nothing (reasoning, an empty turn) stays as long as its neighbour does.
#pragma once

#include <bough/convert.h>

#include <string>
#include <string_view>
#include <vector>

#include "message/history.h"
#include "message/origin.h"
#include "message/report.h"

namespace bough::message {

/// Fails as convertHistory does. `document` and `origin` must outlive the history.
Result<void> readHistory(std::string_view document, Dialect from, const ConvertOptions& options, const Origin* origin,
                         History& history, Reporter& reporter);

/// Replaces `documentNatives`, all natives of the document, by those they came from. In the end history.natives holds
/// the result.
void restoreNatives(OriginData& origin, std::vector<Native> documentNatives, History& history, Reporter& reporter);

/// Normalizes a native whose place in a tree is known; says in `problem` when it cannot be.
void readNative(Native& native, History& history);

/// The text of a native with only these of its blocks.
std::string subsetOf(const Native& native, const std::vector<const Block*>& blocks);

}  // namespace bough::message
