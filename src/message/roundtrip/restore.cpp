#include "message/roundtrip/restore.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.h"
#include "message/dialect/read_original.h"
#include "message/json/content_hash.h"
#include "message/roundtrip/align.h"

namespace bough::message {
namespace {

// Blocks that are values of their own in the document. A citation stands inside its text, but for the normalized form.
std::vector<const Block*> leavesOf(const Original& original) {
  std::vector<const Block*> leaves;
  for (const Block& block : original.message.blocks) {
    if (block.kind != BlockKind::Citation || original.dialect == Dialect::Bough) leaves.push_back(&block);
  }
  return leaves;
}

class Restorer {
 public:
  Restorer(WayBackData& wayBack, std::vector<Original> document, History& history, Reporter& reporter)
      : wayBack_(wayBack),
        records_(wayBack.records),
        document_(std::move(document)),
        history_(history),
        reporter_(reporter),
        values_(document_.size()),
        unchanged_(records_.leaves.size(), 0),
        known_(wayBack.originals.size() + 1) {}

  void run() {
    for (Original& original : wayBack_.originals) readOriginal(original, history_);
    for (std::size_t i = 0; i < records_.nodes.size(); ++i) {
      for (std::uint32_t k = 0; k < records_.nodes[i].leafCount; ++k) ownerOf_.push_back(i);
    }
    for (const Section section : kSections) matchSection(section);
    judge();
    collect();
  }

 private:
  // What became of one value of the document.
  struct DocumentValue {
    std::size_t record = kUnmatched;  // The record it equals.
    std::vector<std::size_t> leaves;  // Of each of its blocks: the block record it equals.
  };

  // What became of one original of the way back.
  struct Known {
    std::uint32_t blocks = 0;     // How many blocks it was written as …
    std::uint32_t unchanged = 0;  // … and how many of them still say the same.
    bool keep = false;            // It comes back.
    bool touched = false;         // Some form of it is still there.
    bool inPlace = false;         // It became something in its own section.
    Section section = Section::Messages;
    std::size_t before = kUnmatched;       // The nearest of its section before it that became something …
    std::size_t after = kUnmatched;        // … and after it.
    std::size_t nextInPlace = kUnmatched;  // The next from here on that is in place.
    std::size_t host = kUnmatched;         // What it belongs to: itself, or a neighbour when it became nothing.
    std::int64_t lastWith = 0;             // The last original that stays with it.
  };

  struct Item {
    std::int64_t key;  // The original it follows, or is.
    std::size_t order;
    Original original;
  };

  [[nodiscard]] std::vector<std::size_t> documentIn(Section section) const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < document_.size(); ++i) {
      if (document_[i].section == section) indices.push_back(i);
    }
    return indices;
  }

  void matchSection(Section section) {
    const std::vector<std::size_t> now = documentIn(section);
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
    values_[index].record = record;
    if (node.verbatim) return;
    const std::size_t count = node.section == Section::Tools ? 1 : leavesOf(document_[index]).size();
    if (count != node.leafCount) {
      values_[index].record = kUnmatched;
      return;
    }
    for (std::uint32_t i = 0; i < node.leafCount; ++i) values_[index].leaves.push_back(node.firstLeaf + i);
  }

  // Inside values that changed, single blocks may still be the same.
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
      if (values_[index].record != kUnmatched || document_[index].section == Section::Tools) continue;
      const auto leaves = leavesOf(document_[index]);
      values_[index].leaves.assign(leaves.size(), kUnmatched);
      for (std::size_t k = 0; k < leaves.size(); ++k) {
        places.push_back({index, k});
        nowHashes.push_back(hasher_.hash(leaves[k]->raw));
      }
    }
    const std::vector<std::size_t> matches = align(beforeHashes, nowHashes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (matches[i] != kUnmatched) values_[places[i].index].leaves[places[i].leaf] = beforeLeaves[matches[i]];
    }
    for (const std::size_t index : now) dropIfOnlyDressChanged(index);
  }

  // All blocks are the same but the message is not: the edit is around them (a role), so none of it is as it was.
  void dropIfOnlyDressChanged(std::size_t index) {
    std::vector<std::size_t>& leaves = values_[index].leaves;
    if (values_[index].record != kUnmatched || leaves.empty() || std::ranges::count(leaves, kUnmatched) > 0) return;
    const NodeRecord& node = records_.nodes[ownerOf_[leaves.front()]];
    const bool whole = node.leafCount == leaves.size() && node.firstLeaf == leaves.front();
    if (whole) std::ranges::fill(leaves, kUnmatched);
  }

  // What was changed, added and taken away, seen from the values that stayed.
  void reportSection(const std::vector<std::size_t>& before, const std::vector<char>& matched,
                     const std::vector<std::size_t>& now, const std::vector<std::size_t>& matches) {
    std::set<std::size_t> gapsNow;
    std::set<std::size_t> gapsBefore;
    std::size_t gap = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (matched[i] != 0) gap = i + 1;
      if (matched[i] == 0) gapsBefore.insert(gap);
    }
    gap = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (matches[i] != kUnmatched) {
        gap = matches[i] + 1;
        continue;
      }
      gapsNow.insert(gap);
      const bool edited = gapsBefore.contains(gap);
      reporter_.note(edited ? Change::Edited : Change::Added, document_[now[i]], nullptr, "message",
                     edited ? "it is not what was written; converted anew" : "new since the last conversion");
    }
    gap = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (matched[i] != 0) {
        gap = i + 1;
        continue;
      }
      const NodeRecord& node = records_.nodes[before[i]];
      for (std::uint32_t k = 0; k < node.leafCount; ++k) {
        const std::int32_t original = records_.leaves[node.firstLeaf + k].original;
        if (original < 0) continue;
        if (gapsNow.contains(gap)) {
          known_[static_cast<std::size_t>(original)].touched = true;
        } else if (k == 0) {
          reporter_.note(Change::Removed, wayBack_.originals[static_cast<std::size_t>(original)], nullptr, "message",
                         "its converted form is gone");
        }
      }
    }
  }

  // Decides which originals come back.
  void judge() {
    for (const DocumentValue& value : values_) {
      for (const std::size_t leaf : value.leaves) {
        if (leaf != kUnmatched) unchanged_[leaf] = 1;
      }
    }
    for (const NodeRecord& node : records_.nodes) {
      for (std::uint32_t k = 0; k < node.leafCount; ++k) {
        const std::int32_t original = records_.leaves[node.firstLeaf + k].original;
        if (original < 0) continue;
        const auto at = static_cast<std::size_t>(original);
        if (wayBack_.originals[at].section == node.section) known_[at].inPlace = true;
      }
    }
    for (std::size_t i = 0; i < records_.leaves.size(); ++i) {
      if (records_.leaves[i].original < 0) continue;
      const auto original = static_cast<std::size_t>(records_.leaves[i].original);
      ++known_[original].blocks;
      if (unchanged_[i] != 0) ++known_[original].unchanged;
    }
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const Original& original = wayBack_.originals[i];
      if (original.problem == kDamagedOriginal) {
        reporter_.warn(pathOf(original) + ": its bytes in the origin were changed; it does not come back from there");
      } else if (known_[i].blocks > 0) {
        known_[i].keep = known_[i].unchanged == known_[i].blocks;
        if (known_[i].unchanged > 0) known_[i].touched = true;
      } else {
        known_[i].keep = true;
      }
    }
    findNeighbours();
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      known_[i].section = wayBack_.originals[i].section;
      known_[i].host = known_[i].blocks > 0 ? i : hostOf(i);
      if (known_[i].blocks > 0 || !known_[i].keep) continue;
      const std::size_t host = known_[i].host;
      if (host != kUnmatched && !known_[host].keep && !known_[host].touched) known_[i].keep = false;
    }
  }

  // For each original, the nearest of its section on either side that became something.
  void findNeighbours() {
    const std::size_t count = wayBack_.originals.size();
    auto sameSection = [&](std::size_t a, std::size_t b) {
      return wayBack_.originals[a].section == wayBack_.originals[b].section;
    };
    for (std::size_t i = 1; i < count; ++i) {
      if (sameSection(i, i - 1)) known_[i].before = known_[i - 1].blocks > 0 ? i - 1 : known_[i - 1].before;
    }
    for (std::size_t i = count; i-- > 0;) {
      if (i + 1 < count && sameSection(i, i + 1))
        known_[i].after = known_[i + 1].blocks > 0 ? i + 1 : known_[i + 1].after;
      known_[i].nextInPlace = known_[i].inPlace ? i : known_[i + 1].nextInPlace;
    }
  }

  // The original a leafless one belongs to: what an assistant thinks belongs to what it says next.
  [[nodiscard]] std::size_t hostOf(std::size_t index) const {
    const std::size_t after = known_[index].after;
    const bool leads = wayBack_.originals[index].message.role == Role::Assistant && after != kUnmatched &&
                       wayBack_.originals[after].message.role == Role::Assistant;
    if (leads) return after;
    const std::size_t before = known_[index].before;
    return before != kUnmatched ? before : after;
  }

  // Whether this block of the document is only the image of something that comes back.
  [[nodiscard]] bool consumed(std::size_t leaf) const {
    if (leaf == kUnmatched) return false;
    const std::int32_t original = records_.leaves[leaf].original;
    return original < 0 || known_[static_cast<std::size_t>(original)].keep;
  }

  // From which value of the document each original came; what became nothing goes with what it belongs to.
  void locate() {
    for (std::size_t index = 0; index < document_.size(); ++index) {
      for (const std::size_t leaf : values_[index].leaves) {
        const std::int32_t original = leaf == kUnmatched ? -1 : records_.leaves[leaf].original;
        if (original >= 0)
          wayBack_.originals[static_cast<std::size_t>(original)].documentIndex = document_[index].documentIndex;
      }
    }
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (known_[i].blocks == 0 && known_[i].host != kUnmatched) {
        wayBack_.originals[i].documentIndex = wayBack_.originals[known_[i].host].documentIndex;
      }
    }
  }

  void collect() {
    locate();
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (!known_[i].keep) continue;
      if (wayBack_.originals[i].section == Section::Messages) ++reporter_.report().restored;
      items_.push_back({static_cast<std::int64_t>(i), 0, std::move(wayBack_.originals[i])});
    }
    anchors();
    for (const Section section : kSections) {
      std::int64_t anchor = startOf(section);
      floor_ = -1;
      for (const std::size_t i : documentIn(section)) take(i, anchor);
    }
    std::ranges::sort(items_,
                      [](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.order < b.order; });
    for (const Section section : kSections) {
      for (Item& item : items_) {
        if (item.original.section == section) history_.originals.push_back(std::move(item.original));
      }
    }
  }

  // What is new comes behind originals that became nothing and have nothing beside them that did.
  [[nodiscard]] std::int64_t startOf(Section section) const {
    std::int64_t start = -1;
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const bool alone =
          known_[i].blocks == 0 && known_[i].keep && known_[i].section == section && known_[i].host == kUnmatched;
      if (alone) start = static_cast<std::int64_t>(i);
    }
    return start;
  }

  // For every original, the last one that stays with it: leafless ones that follow it and belong to it.
  void anchors() {
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      known_[i].lastWith = static_cast<std::int64_t>(i);
      if (known_[i].blocks > 0) continue;
      const std::size_t host = known_[i].host;
      if (host != kUnmatched && host < i) known_[host].lastWith = static_cast<std::int64_t>(i);
    }
  }

  void take(std::size_t index, std::int64_t& anchor) {
    Original& original = document_[index];
    const std::vector<std::size_t>& leaves = values_[index].leaves;
    const auto blocks = leavesOf(original);
    const bool anyConsumed = std::ranges::any_of(leaves, [&](std::size_t leaf) { return consumed(leaf); });
    if (!anyConsumed) {
      const bool known = values_[index].record != kUnmatched && records_.nodes[values_[index].record].verbatim;
      // It knows what it stood behind; what became nothing behind that stands behind both.
      if (known) anchor = std::max<std::int64_t>(floor_, records_.nodes[values_[index].record].original);
      if (values_[index].record == kUnmatched) anchor = placeOfEdited(original.section, anchor);
      floor_ = anchor;
      items_.push_back({anchor, ++order_, std::move(original)});
      return;
    }
    std::vector<const Block*> left;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      if (!consumed(leaves[k])) {
        left.push_back(blocks[k]);
        continue;
      }
      takeSubset(original, left, anchor);
      const std::int32_t from = records_.leaves[leaves[k]].original;
      if (from >= 0) anchor = std::max(anchor, known_[static_cast<std::size_t>(from)].lastWith);
      floor_ = std::max<std::int64_t>(floor_, from);
    }
    takeSubset(original, left, anchor);
  }

  // What was edited takes the place of the original it replaces: behind the reasoning that led to it.
  [[nodiscard]] std::int64_t placeOfEdited(Section section, std::int64_t anchor) const {
    // What became nothing, or was moved to another section, does not stand between them.
    std::size_t next = known_[static_cast<std::size_t>(anchor + 1)].nextInPlace;
    while (next != kUnmatched && known_[next].section != section) next = known_[next + 1].nextInPlace;
    const bool edited = next != kUnmatched && !known_[next].keep && known_[next].touched;
    return edited ? static_cast<std::int64_t>(next) : anchor;
  }

  void takeSubset(const Original& original, std::vector<const Block*>& blocks, std::int64_t& anchor) {
    if (blocks.empty()) return;
    anchor = placeOfEdited(original.section, anchor);
    floor_ = anchor;
    const std::string& text = history_.texts.emplace_back(subsetOf(original, blocks));
    json::Tree& tree = history_.trees.emplace_back();
    const auto error = tree.parse(text);
    BOUGH_CHECK(!error);
    Original part;
    part.dialect = original.dialect;
    part.section = original.section;
    part.wholeSlot = original.wholeSlot;
    part.tree = &tree;
    part.raw = text;
    part.rawHash = hashBytes(text);
    part.place = original.place;
    part.documentIndex = original.documentIndex;
    part.entryId = original.entryId;
    readOriginal(part, history_);
    items_.push_back({anchor, ++order_, std::move(part)});
    blocks.clear();
  }

  WayBackData& wayBack_;
  const Records& records_;
  std::vector<Original> document_;
  History& history_;
  Reporter& reporter_;
  ContentHasher hasher_;
  std::vector<std::size_t> ownerOf_;  // Of each written block: the value it is in.
  std::vector<DocumentValue> values_;
  std::vector<char> unchanged_;  // Of each written block: it still says the same.
  std::vector<Known> known_;     // One more than there are originals: the end.
  std::vector<Item> items_;
  std::size_t order_ = 0;
  std::int64_t floor_ = -1;  // The last original that something of the document came from.
};

}  // namespace

void restoreOriginals(WayBackData& wayBack, std::vector<Original> documentOriginals, History& history,
                      Reporter& reporter) {
  Restorer(wayBack, std::move(documentOriginals), history, reporter).run();
}

}  // namespace bough::message
