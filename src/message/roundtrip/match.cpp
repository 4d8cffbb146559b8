#include "message/roundtrip/match.h"

#include <algorithm>
#include <set>

#include "message/json/content_hash.h"
#include "message/plan/server_halves.h"

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
    for (std::size_t i = 0; i < records_.nodes.size(); ++i) {
      for (std::uint32_t k = 0; k < records_.nodes[i].leafCount; ++k) ownerOf_.push_back(i);
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
    for (std::size_t i = 0; i < records_.nodes.size(); ++i) {
      if (records_.nodes[i].section != section) continue;
      before.push_back(i);
      beforeHashes.push_back(records_.nodes[i].hash);
    }
    for (const std::size_t index : now) nowHashes.push_back(hasher_.hashOf(document_[index]));
    const std::vector<std::size_t> matches = align(beforeHashes, nowHashes);
    std::vector<char> matched(before.size(), 0);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (matches[i] == kUnmatched) continue;
      matched[matches[i]] = 1;
      matchNode(now[i], before[matches[i]]);
    }
    matchLeaves(before, matched, now);
    reportSection(before, matched, now, matches);
  }

  void matchNode(std::size_t index, std::size_t record) {
    const NodeRecord& node = records_.nodes[record];
    matches_.values[index].record = record;
    if (node.verbatim) return;
    const std::size_t count = node.section == Section::Tools ? 1 : leavesOf(document_[index]).size();
    if (count != node.leafCount) {
      matches_.values[index].record = kUnmatched;
      return;
    }
    for (std::uint32_t i = 0; i < node.leafCount; ++i) matches_.values[index].leaves.push_back(node.firstLeaf + i);
  }

  // In values that changed, single blocks may be unchanged.
  void matchLeaves(const std::vector<std::size_t>& before, const std::vector<char>& matched,
                   const std::vector<std::size_t>& now) {
    std::vector<std::size_t> beforeLeaves;
    std::vector<std::uint64_t> beforeHashes;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const NodeRecord& node = records_.nodes[before[i]];
      for (std::uint32_t k = 0; matched[i] == 0 && k < node.leafCount; ++k) {
        beforeLeaves.push_back(node.firstLeaf + k);
        beforeHashes.push_back(records_.leaves[node.firstLeaf + k].hash);
      }
    }
    struct Place {
      std::size_t index;
      std::size_t leaf;
    };
    std::vector<Place> places;
    std::vector<std::uint64_t> nowHashes;
    for (const std::size_t index : now) {
      if (matches_.values[index].record != kUnmatched || document_[index].section == Section::Tools) continue;
      const auto leaves = leavesOf(document_[index]);
      matches_.values[index].leaves.assign(leaves.size(), kUnmatched);
      for (std::size_t k = 0; k < leaves.size(); ++k) {
        places.push_back({index, k});
        nowHashes.push_back(hasher_.hash(leaves[k]->raw));
      }
    }
    const std::vector<std::size_t> matches = align(beforeHashes, nowHashes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (matches[i] != kUnmatched) matches_.values[places[i].index].leaves[places[i].leaf] = beforeLeaves[matches[i]];
    }
    for (const std::size_t index : now) dropIfOnlyDressChanged(index);
  }

  // When all blocks are unchanged but the message is not, the edit is outside the blocks (a role). Then nothing of the
  // message counts as unchanged.
  void dropIfOnlyDressChanged(std::size_t index) {
    std::vector<std::size_t>& leaves = matches_.values[index].leaves;
    if (matches_.values[index].record != kUnmatched || leaves.empty() || std::ranges::count(leaves, kUnmatched) > 0)
      return;
    const NodeRecord& node = records_.nodes[ownerOf_[leaves.front()]];
    const bool whole = node.leafCount == leaves.size() && node.firstLeaf == leaves.front();
    if (whole) std::ranges::fill(leaves, kUnmatched);
  }

  // Returns whether a written message was the system prompt of the document that it came from.
  [[nodiscard]] bool wasSystem(const NodeRecord& node) const {
    if (node.section != Section::Messages || node.leafCount == 0) return false;
    const std::int32_t original = records_.leaves[node.firstLeaf].original;
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
      if (matched[i] == 0 && wasSystem(records_.nodes[before[i]])) systemGaps.insert(gap);
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
      const NodeRecord& node = records_.nodes[before[i]];
      std::int32_t last = -1;  // The blocks of one original are adjacent.
      for (std::uint32_t k = 0; k < node.leafCount; ++k) {
        const std::int32_t original = records_.leaves[node.firstLeaf + k].original;
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
bool staysBeside(const Original& original, std::int64_t after, std::int64_t place) {
  const std::vector<Block>& blocks = original.message.blocks;
  if (static_cast<std::size_t>(place) >= blocks.size()) return true;
  const Block& block = blocks[static_cast<std::size_t>(place)];
  const auto half = serverHalfOf(block, original.dialect);
  if (block.kind == BlockKind::ToolResult || (half && half->isResult)) return true;
  return after >= 0 && block.idMissing && blocks[static_cast<std::size_t>(after)].kind == BlockKind::ToolCall;
}

}  // namespace

Matches matchDocument(const WayBackData& wayBack, std::vector<Original>& document, Reporter& reporter) {
  return Matcher(wayBack, document, reporter).run();
}

// A citation is inside its text, except in the normalized form.
std::vector<const Block*> leavesOf(const Original& original) {
  std::vector<const Block*> leaves;
  for (const Block& block : original.message.blocks) {
    if (block.kind != BlockKind::Citation || original.dialect == Dialect::Bough) leaves.push_back(&block);
  }
  return leaves;
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
      isNew |= values[index].record == kUnmatched && values[index].leaves.empty();
      for (const std::size_t leaf : values[index].leaves) {
        isNew |= leaf == kUnmatched;
        if (leaf == kUnmatched || records.leaves[leaf].original < 0) continue;
        const auto original = static_cast<std::size_t>(records.leaves[leaf].original);
        const std::int64_t place = records.leaves[leaf].place;
        if (original != last) after = -1;
        const bool between = original == last ? after >= 0 : seen[original] == 0;
        if (isNew && between && place > after && !staysBeside(wayBack.originals[original], after, place)) {
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
