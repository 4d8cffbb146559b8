#include "message/roundtrip/match.h"

#include <algorithm>
#include <set>

#include "message/json/content_hash.h"
#include "message/plan/server_tool_blocks.h"

namespace bough::message {
namespace {

class Matcher {
 public:
  Matcher(const WayBackData& wayBack, std::vector<Original>& document, Reporter& reporter)
      : wayBack_(wayBack), records_(wayBack.records), document_(document), reporter_(reporter) {
    matches_.values.resize(document.size());
    matches_.touched.assign(wayBack.originals.size(), 0);
  }

  Matches run() {
    for (std::size_t i = 0; i < records_.values.size(); ++i) {
      for (std::uint32_t k = 0; k < records_.values[i].blockCount; ++k) ownerOf_.push_back(i);
    }
    for (const Section section : kSections) matchSection(section);
    return std::move(matches_);
  }

 private:
  void matchSection(Section section) {
    const std::vector<std::size_t> now = valuesIn(document_, section);
    std::vector<std::size_t> before;
    std::vector<std::uint64_t> beforeHashes;
    std::vector<std::uint64_t> nowHashes;
    for (std::size_t i = 0; i < records_.values.size(); ++i) {
      if (records_.values[i].section != section) continue;
      before.push_back(i);
      beforeHashes.push_back(records_.values[i].hash);
    }
    for (const std::size_t index : now) nowHashes.push_back(hasher_.hashOf(document_[index]));
    const std::vector<std::size_t> matches = align(beforeHashes, nowHashes);
    std::vector<char> matched(before.size(), 0);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (matches[i] == kUnmatched) continue;
      matched[matches[i]] = 1;
      matchValue(now[i], before[matches[i]]);
    }
    matchBlocks(before, matched, now);
    reportSection(before, matched, now, matches);
  }

  void matchValue(std::size_t index, std::size_t recordIndex) {
    const ValueRecord& record = records_.values[recordIndex];
    matches_.values[index].record = recordIndex;
    if (record.verbatim) return;
    const std::size_t count = record.section == Section::Tools ? 1 : separateBlocksOf(document_[index]).size();
    if (count != record.blockCount) {
      matches_.values[index].record = kUnmatched;
      return;
    }
    for (std::uint32_t i = 0; i < record.blockCount; ++i)
      matches_.values[index].writtenBlocks.push_back(record.firstBlock + i);
  }

  // In values that changed, single blocks may be unchanged.
  void matchBlocks(const std::vector<std::size_t>& before, const std::vector<char>& matched,
                   const std::vector<std::size_t>& now) {
    std::vector<std::size_t> beforeBlocks;
    std::vector<std::uint64_t> beforeHashes;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const ValueRecord& record = records_.values[before[i]];
      for (std::uint32_t k = 0; matched[i] == 0 && k < record.blockCount; ++k) {
        beforeBlocks.push_back(record.firstBlock + k);
        beforeHashes.push_back(records_.blocks[record.firstBlock + k].hash);
      }
    }
    struct Place {
      std::size_t index;
      std::size_t written;
    };
    std::vector<Place> places;
    std::vector<std::uint64_t> nowHashes;
    for (const std::size_t index : now) {
      if (matches_.values[index].record != kUnmatched || document_[index].section == Section::Tools) continue;
      const auto writtenBlocks = separateBlocksOf(document_[index]);
      matches_.values[index].writtenBlocks.assign(writtenBlocks.size(), kUnmatched);
      for (std::size_t k = 0; k < writtenBlocks.size(); ++k) {
        places.push_back({index, k});
        nowHashes.push_back(hasher_.hash(writtenBlocks[k]->raw));
      }
    }
    const std::vector<std::size_t> matches = align(beforeHashes, nowHashes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (matches[i] != kUnmatched)
        matches_.values[places[i].index].writtenBlocks[places[i].written] = beforeBlocks[matches[i]];
    }
    for (const std::size_t index : now) dropIfOnlyRoleChanged(index);
  }

  // When all blocks are unchanged but the message is not, the edit is outside the blocks (a role). Then nothing of the
  // message counts as unchanged.
  void dropIfOnlyRoleChanged(std::size_t index) {
    std::vector<std::size_t>& writtenBlocks = matches_.values[index].writtenBlocks;
    if (matches_.values[index].record != kUnmatched || writtenBlocks.empty() ||
        std::ranges::count(writtenBlocks, kUnmatched) > 0)
      return;
    const ValueRecord& record = records_.values[ownerOf_[writtenBlocks.front()]];
    const bool whole = record.blockCount == writtenBlocks.size() && record.firstBlock == writtenBlocks.front();
    if (whole) std::ranges::fill(writtenBlocks, kUnmatched);
  }

  // Returns whether a written message was the system prompt of the document that it came from.
  [[nodiscard]] bool wasSystem(const ValueRecord& record) const {
    if (record.section != Section::Messages || record.blockCount == 0) return false;
    const std::int32_t original = records_.blocks[record.firstBlock].original;
    return original >= 0 && wayBack_.originals[static_cast<std::size_t>(original)].section == Section::System;
  }

  // Reports what was changed, added and removed between the unchanged values.
  void reportSection(const std::vector<std::size_t>& before, const std::vector<char>& matched,
                     const std::vector<std::size_t>& now, const std::vector<std::size_t>& matches) {
    std::set<std::size_t> gapsNow;
    std::set<std::size_t> gapsBefore;
    std::set<std::size_t> systemGaps;  // Gaps where the system prompt was, as a message.
    std::size_t gap = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (matched[i] != 0) gap = i + 1;
      if (matched[i] == 0) gapsBefore.insert(gap);
      if (matched[i] == 0 && wasSystem(records_.values[before[i]])) systemGaps.insert(gap);
    }
    gap = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (matches[i] != kUnmatched) {
        gap = matches[i] + 1;
        continue;
      }
      gapsNow.insert(gap);
      const bool edited = gapsBefore.contains(gap);
      Original& value = document_[now[i]];
      value.replacesSystem =
          value.section == Section::Messages && value.message.role == Role::System && systemGaps.contains(gap);
      reporter_.note(edited ? Change::Edited : Change::Added, document_[now[i]], nullptr, "message",
                     edited ? "it is not what was written; converted again" : "new since the last conversion");
    }
    gap = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (matched[i] != 0) {
        gap = i + 1;
        continue;
      }
      const ValueRecord& record = records_.values[before[i]];
      std::int32_t last = -1;  // The blocks of one original are adjacent.
      for (std::uint32_t k = 0; k < record.blockCount; ++k) {
        const std::int32_t original = records_.blocks[record.firstBlock + k].original;
        if (original < 0) continue;
        if (gapsNow.contains(gap)) {
          matches_.touched[static_cast<std::size_t>(original)] = 1;
        } else if (original != last) {
          reporter_.note(Change::Removed, wayBack_.originals[static_cast<std::size_t>(original)], nullptr, "message",
                         "its converted form is gone");
        }
        last = original;
      }
    }
  }

  const WayBackData& wayBack_;
  const Records& records_;
  std::vector<Original>& document_;
  Reporter& reporter_;
  ContentHasher hasher_;
  std::vector<std::size_t> ownerOf_;  // By written block: the value that contains it.
  Matches matches_;
};

// Returns whether a block must stay next to the block before it: a result, which is found by its position when it has
// no id, or a call whose result is found that way.
bool mustStayAfterPrevious(const Original& original, std::int64_t after, std::int64_t place) {
  const std::vector<Block>& blocks = original.message.blocks;
  if (static_cast<std::size_t>(place) >= blocks.size()) return true;
  const Block& block = blocks[static_cast<std::size_t>(place)];
  const auto half = serverToolBlockOf(block, original.dialect);
  if (block.kind == BlockKind::ToolResult || (half && half->isResult)) return true;
  return after >= 0 && block.idMissing && blocks[static_cast<std::size_t>(after)].kind == BlockKind::ToolCall;
}

}  // namespace

Matches matchDocument(const WayBackData& wayBack, std::vector<Original>& document, Reporter& reporter) {
  return Matcher(wayBack, document, reporter).run();
}

// A citation is inside its text, except in the normalized form.
std::vector<const Block*> separateBlocksOf(const Original& original) {
  std::vector<const Block*> writtenBlocks;
  for (const Block& block : original.message.blocks) {
    if (block.kind != BlockKind::Citation || original.dialect == Dialect::Bough) writtenBlocks.push_back(&block);
  }
  return writtenBlocks;
}

std::vector<std::size_t> valuesIn(const std::vector<Original>& document, Section section) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (document[i].section == section) indices.push_back(i);
  }
  return indices;
}

std::map<std::size_t, std::vector<Cut>> findCuts(const std::vector<Original>& document,
                                                 const std::vector<DocumentValue>& values, const WayBackData& wayBack) {
  const Records& records = wayBack.records;
  std::map<std::size_t, std::vector<Cut>> cuts;
  if (std::ranges::find(values, kUnmatched, &DocumentValue::record) == values.end()) return cuts;  // Nothing is new.
  std::vector<char> seen(wayBack.originals.size(), 0);
  for (const Section section : {Section::System, Section::Messages}) {
    std::size_t last = kUnmatched;  // The original of the last unchanged block …
    std::int64_t after = -1;        // … and the last of its blocks so far.
    bool isNew = false;             // Something new follows that block.
    for (const std::size_t index : valuesIn(document, section)) {
      isNew |= values[index].record == kUnmatched && values[index].writtenBlocks.empty();
      for (const std::size_t written : values[index].writtenBlocks) {
        isNew |= written == kUnmatched;
        if (written == kUnmatched || records.blocks[written].original < 0) continue;
        const auto original = static_cast<std::size_t>(records.blocks[written].original);
        const std::int64_t place = records.blocks[written].blockIndex;
        if (original != last) after = -1;
        const bool between = original == last ? after >= 0 : seen[original] == 0;
        if (isNew && between && place > after && !mustStayAfterPrevious(wayBack.originals[original], after, place)) {
          cuts[original].push_back({after, place});
        }
        after = std::max(after, place);
        last = original;
        seen[original] = 1;
        isNew = false;
      }
    }
  }
  return cuts;
}

}  // namespace bough::message
