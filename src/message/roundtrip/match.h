// Compares a document with what was written into it: which values, and which blocks of changed values, are still the
// same, and where something new is before or between the blocks of one original.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

/// Something new is between these two blocks of an original.
struct Cut {
  std::int64_t after;  ///< -1: before all of them.
  std::int64_t before;
};

/// The cuts of each original that has any.
std::map<std::size_t, std::vector<Cut>> findCuts(const std::vector<Original>& document,
                                                 const std::vector<DocumentValue>& values, const WayBackData& wayBack);

}  // namespace bough::message
