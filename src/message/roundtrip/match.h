// Compares a document with what was written into it: which values, and which blocks of changed values, are still the
// same.
#pragma once

#include <cstddef>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"
#include "message/roundtrip/align.h"
#include "message/roundtrip/way_back.h"

namespace bough::message {

/// What became of one value of the document.
struct DocumentValue {
  std::size_t record = kUnmatched;  ///< The record it equals.
  std::vector<std::size_t> leaves;  ///< Of each of its blocks: the block record it equals.
};

struct Matches {
  std::vector<DocumentValue> values;
  std::vector<char> touched;  ///< Of each original: something is in the document where it was.
};

/// Reports what was edited, added and removed, and marks system prompts that were edited as messages.
Matches matchDocument(const WayBackData& wayBack, std::vector<Original>& document, Reporter& reporter);

/// Blocks that are values of their own in the document.
std::vector<const Block*> leavesOf(const Original& original);

/// The places of a section's values.
std::vector<std::size_t> valuesIn(const std::vector<Original>& document, Section section);

}  // namespace bough::message
