// Compares a document with what was written into it: which values, and which blocks of changed values, are unchanged,
// and where something new is before or between the blocks of one original.
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

/// The match for one value of the document.
struct DocumentValue {
  std::size_t record = kUnmatched;         ///< The equal record.
  std::vector<std::size_t> writtenBlocks;  ///< For each of its blocks: the equal block record.
};

struct Matches {
  std::vector<DocumentValue> values;
  std::vector<char> touched;  ///< By original: something is in the document where the original was.
};

/// Reports what was edited, added and removed. Marks system prompts that were edited as messages.
Matches matchDocument(const WayBackData& wayBack, std::vector<Original>& document, Reporter& reporter);

/// Returns the blocks that are separate values in the document.
std::vector<const Block*> separateBlocksOf(const Original& original);

/// Returns the indexes of a section's values.
std::vector<std::size_t> valuesIn(const std::vector<Original>& document, Section section);

/// A point between two blocks of an original where something new was inserted.
struct Cut {
  std::int64_t after;  ///< -1 when it is before all blocks.
  std::int64_t before;
};

/// Returns the cuts of each original that has any.
std::map<std::size_t, std::vector<Cut>> findCuts(const std::vector<Original>& document,
                                                 const std::vector<DocumentValue>& values, const WayBackData& wayBack);

}  // namespace bough::message
