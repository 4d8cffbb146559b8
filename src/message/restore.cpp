#include "message/restore.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.h"
#include "message/align.h"
#include "message/content_hash.h"

namespace bough::message {
namespace {

// Blocks that are values of their own in the document. A citation stands inside its text, but for the normalized form.
std::vector<const Block*> leavesOf(const Native& native) {
  std::vector<const Block*> leaves;
  for (const Block& block : native.message.blocks) {
    if (block.kind != BlockKind::Citation || native.dialect == Dialect::Bough) leaves.push_back(&block);
  }
  return leaves;
}

class Restorer {
 public:
  Restorer(OriginData& origin, std::vector<Native> document, History& history, Reporter& reporter)
      : origin_(origin),
        records_(origin.records),
        document_(std::move(document)),
        history_(history),
        reporter_(reporter),
        recordOf_(document_.size(), kUnmatched),
        leafOf_(document_.size()),
        leafIntact_(records_.leaves.size(), 0),
        total_(origin.natives.size(), 0),
        intactCount_(origin.natives.size(), 0),
        keep_(origin.natives.size(), 0),
        touched_(origin.natives.size(), 0),
        inPlace_(origin.natives.size(), 0) {}

  void run() {
    for (Native& native : origin_.natives) readNative(native, history_);
    for (std::size_t i = 0; i < records_.nodes.size(); ++i) {
      for (std::uint32_t k = 0; k < records_.nodes[i].leafCount; ++k) ownerOf_.push_back(i);
    }
    for (const Section section : kSections) matchSection(section);
    judge();
    collect();
  }

 private:
  struct Item {
    std::int64_t key;  // The native it follows, or is.
    std::size_t order;
    Native native;
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
    recordOf_[index] = record;
    if (node.verbatim) return;
    const std::size_t count = node.section == Section::Tools ? 1 : leavesOf(document_[index]).size();
    if (count != node.leafCount) {
      recordOf_[index] = kUnmatched;
      return;
    }
    for (std::uint32_t i = 0; i < node.leafCount; ++i) leafOf_[index].push_back(node.firstLeaf + i);
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
      if (recordOf_[index] != kUnmatched || document_[index].section == Section::Tools) continue;
      const auto leaves = leavesOf(document_[index]);
      leafOf_[index].assign(leaves.size(), kUnmatched);
      for (std::size_t k = 0; k < leaves.size(); ++k) {
        places.push_back({index, k});
        nowHashes.push_back(hasher_.hash(leaves[k]->raw));
      }
    }
    const std::vector<std::size_t> matches = align(beforeHashes, nowHashes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (matches[i] != kUnmatched) leafOf_[places[i].index][places[i].leaf] = beforeLeaves[matches[i]];
    }
    for (const std::size_t index : now) dropIfOnlyDressChanged(index);
  }

  // All blocks are the same but the message is not: the edit is around them (a role), so none of it is as it was.
  void dropIfOnlyDressChanged(std::size_t index) {
    std::vector<std::size_t>& leaves = leafOf_[index];
    if (recordOf_[index] != kUnmatched || leaves.empty() || std::ranges::count(leaves, kUnmatched) > 0) return;
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
        const std::int32_t native = records_.leaves[node.firstLeaf + k].native;
        if (native < 0) continue;
        if (gapsNow.contains(gap)) {
          touched_[static_cast<std::size_t>(native)] = 1;
        } else if (k == 0) {
          reporter_.note(Change::Removed, origin_.natives[static_cast<std::size_t>(native)], nullptr, "message",
                         "its converted form is gone");
        }
      }
    }
  }

  // Decides which natives come back.
  void judge() {
    for (const std::vector<std::size_t>& leaves : leafOf_) {
      for (const std::size_t leaf : leaves) {
        if (leaf != kUnmatched) leafIntact_[leaf] = 1;
      }
    }
    for (const NodeRecord& node : records_.nodes) {
      for (std::uint32_t k = 0; k < node.leafCount; ++k) {
        const std::int32_t native = records_.leaves[node.firstLeaf + k].native;
        if (native < 0) continue;
        const auto at = static_cast<std::size_t>(native);
        inPlace_[at] |= origin_.natives[at].section == node.section;
      }
    }
    for (std::size_t i = 0; i < records_.leaves.size(); ++i) {
      if (records_.leaves[i].native < 0) continue;
      const auto native = static_cast<std::size_t>(records_.leaves[i].native);
      ++total_[native];
      if (leafIntact_[i] != 0) ++intactCount_[native];
    }
    for (std::size_t i = 0; i < origin_.natives.size(); ++i) {
      const Native& native = origin_.natives[i];
      if (native.problem == kDamagedNative) {
        reporter_.warn(pathOf(native) + ": its bytes in the origin were changed; it does not come back from there");
      } else if (total_[i] > 0) {
        keep_[i] = intactCount_[i] == total_[i];
        touched_[i] |= intactCount_[i] > 0;
      } else {
        keep_[i] = 1;
      }
    }
    findNeighbours();
    for (std::size_t i = 0; i < origin_.natives.size(); ++i) {
      sectionOf_.push_back(origin_.natives[i].section);
      hosts_.push_back(total_[i] > 0 ? i : hostOf(i));
      if (total_[i] > 0 || keep_[i] == 0) continue;
      const std::size_t host = hosts_[i];
      if (host != kUnmatched && keep_[host] == 0 && touched_[host] == 0) keep_[i] = 0;
    }
  }

  // For each native, the nearest of its section on either side that became something.
  void findNeighbours() {
    const std::size_t count = origin_.natives.size();
    before_.assign(count, kUnmatched);
    after_.assign(count, kUnmatched);
    nextInPlace_.assign(count + 1, kUnmatched);
    auto sameSection = [&](std::size_t a, std::size_t b) {
      return origin_.natives[a].section == origin_.natives[b].section;
    };
    for (std::size_t i = 1; i < count; ++i) {
      if (sameSection(i, i - 1)) before_[i] = total_[i - 1] > 0 ? i - 1 : before_[i - 1];
    }
    for (std::size_t i = count; i-- > 0;) {
      if (i + 1 < count && sameSection(i, i + 1)) after_[i] = total_[i + 1] > 0 ? i + 1 : after_[i + 1];
      nextInPlace_[i] = inPlace_[i] != 0 ? i : nextInPlace_[i + 1];
    }
  }

  // The native a leafless one belongs to: what an assistant thinks belongs to what it says next.
  [[nodiscard]] std::size_t hostOf(std::size_t index) const {
    const std::size_t after = after_[index];
    const bool leads = origin_.natives[index].message.role == Role::Assistant && after != kUnmatched &&
                       origin_.natives[after].message.role == Role::Assistant;
    if (leads) return after;
    const std::size_t before = before_[index];
    return before != kUnmatched ? before : after;
  }

  // Whether this block of the document is only the image of something that comes back.
  [[nodiscard]] bool consumed(std::size_t leaf) const {
    if (leaf == kUnmatched) return false;
    const std::int32_t native = records_.leaves[leaf].native;
    return native < 0 || keep_[static_cast<std::size_t>(native)] != 0;
  }

  // From which value of the document each native came; what became nothing goes with what it belongs to.
  void locate() {
    for (std::size_t index = 0; index < document_.size(); ++index) {
      for (const std::size_t leaf : leafOf_[index]) {
        const std::int32_t native = leaf == kUnmatched ? -1 : records_.leaves[leaf].native;
        if (native >= 0)
          origin_.natives[static_cast<std::size_t>(native)].documentIndex = document_[index].documentIndex;
      }
    }
    for (std::size_t i = 0; i < origin_.natives.size(); ++i) {
      if (total_[i] == 0 && hosts_[i] != kUnmatched) {
        origin_.natives[i].documentIndex = origin_.natives[hosts_[i]].documentIndex;
      }
    }
  }

  void collect() {
    locate();
    for (std::size_t i = 0; i < origin_.natives.size(); ++i) {
      if (keep_[i] == 0) continue;
      if (origin_.natives[i].section == Section::Messages) ++reporter_.report().restored;
      items_.push_back({static_cast<std::int64_t>(i), 0, std::move(origin_.natives[i])});
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
        if (item.native.section == section) history_.natives.push_back(std::move(item.native));
      }
    }
  }

  // What is new comes behind natives that became nothing and have nothing beside them that did.
  [[nodiscard]] std::int64_t startOf(Section section) const {
    std::int64_t start = -1;
    for (std::size_t i = 0; i < total_.size(); ++i) {
      const bool alone = total_[i] == 0 && keep_[i] != 0 && sectionOf_[i] == section && hosts_[i] == kUnmatched;
      if (alone) start = static_cast<std::int64_t>(i);
    }
    return start;
  }

  // For every native, the last one that stays with it: leafless ones that follow it and belong to it.
  void anchors() {
    lastWith_.resize(total_.size());
    for (std::size_t i = 0; i < total_.size(); ++i) {
      lastWith_[i] = static_cast<std::int64_t>(i);
      if (total_[i] > 0) continue;
      const std::size_t host = hosts_[i];
      if (host != kUnmatched && host < i) lastWith_[host] = static_cast<std::int64_t>(i);
    }
  }

  void take(std::size_t index, std::int64_t& anchor) {
    Native& native = document_[index];
    const std::vector<std::size_t>& leaves = leafOf_[index];
    const auto blocks = leavesOf(native);
    const bool anyConsumed = std::ranges::any_of(leaves, [&](std::size_t leaf) { return consumed(leaf); });
    if (!anyConsumed) {
      const bool known = recordOf_[index] != kUnmatched && records_.nodes[recordOf_[index]].verbatim;
      // It knows what it stood behind; what became nothing behind that stands behind both.
      if (known) anchor = std::max<std::int64_t>(floor_, records_.nodes[recordOf_[index]].native);
      if (recordOf_[index] == kUnmatched) anchor = placeOfEdited(native.section, anchor);
      floor_ = anchor;
      items_.push_back({anchor, ++order_, std::move(native)});
      return;
    }
    std::vector<const Block*> left;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      if (!consumed(leaves[k])) {
        left.push_back(blocks[k]);
        continue;
      }
      takeSubset(native, left, anchor);
      const std::int32_t from = records_.leaves[leaves[k]].native;
      if (from >= 0) anchor = std::max(anchor, lastWith_[static_cast<std::size_t>(from)]);
      floor_ = std::max<std::int64_t>(floor_, from);
    }
    takeSubset(native, left, anchor);
  }

  // What was edited takes the place of the native it replaces: behind the reasoning that led to it.
  [[nodiscard]] std::int64_t placeOfEdited(Section section, std::int64_t anchor) const {
    // What became nothing, or was moved to another section, does not stand between them.
    std::size_t next = nextInPlace_[static_cast<std::size_t>(anchor + 1)];
    while (next != kUnmatched && sectionOf_[next] != section) next = nextInPlace_[next + 1];
    const bool edited = next != kUnmatched && keep_[next] == 0 && touched_[next] != 0;
    return edited ? static_cast<std::int64_t>(next) : anchor;
  }

  void takeSubset(const Native& native, std::vector<const Block*>& blocks, std::int64_t& anchor) {
    if (blocks.empty()) return;
    anchor = placeOfEdited(native.section, anchor);
    floor_ = anchor;
    const std::string& text = history_.texts.emplace_back(subsetOf(native, blocks));
    json::Tree& tree = history_.trees.emplace_back();
    const auto error = tree.parse(text);
    BOUGH_CHECK(!error);
    Native part;
    part.dialect = native.dialect;
    part.section = native.section;
    part.wholeSlot = native.wholeSlot;
    part.tree = &tree;
    part.raw = text;
    part.rawHash = hashBytes(text);
    part.place = native.place;
    part.documentIndex = native.documentIndex;
    part.entryId = native.entryId;
    readNative(part, history_);
    items_.push_back({anchor, ++order_, std::move(part)});
    blocks.clear();
  }

  OriginData& origin_;
  const Records& records_;
  std::vector<Native> document_;
  History& history_;
  Reporter& reporter_;
  ContentHasher hasher_;
  std::vector<std::size_t> recordOf_;             // Of each value of the document: the record it equals.
  std::vector<std::vector<std::size_t>> leafOf_;  // Of each of its blocks: the leaf record it equals.
  std::vector<std::size_t> ownerOf_;              // Of each leaf record: the node it stands in.
  std::vector<char> leafIntact_;
  std::vector<std::uint32_t> total_;        // Of each native: how many leaves it became …
  std::vector<std::uint32_t> intactCount_;  // … and how many are still the same.
  std::vector<char> keep_;
  std::vector<char> touched_;  // Some form of it is still there.
  std::vector<char> inPlace_;  // It became something in its own section.
  std::vector<std::size_t> before_;
  std::vector<std::size_t> after_;
  std::vector<std::size_t> nextInPlace_;
  std::vector<std::size_t> hosts_;  // What a leafless native belongs to.
  std::vector<Section> sectionOf_;
  std::vector<std::int64_t> lastWith_;
  std::vector<Item> items_;
  std::size_t order_ = 0;
  std::int64_t floor_ = -1;  // The last native that something of the document came from.
};

}  // namespace

void restoreNatives(OriginData& origin, std::vector<Native> documentNatives, History& history, Reporter& reporter) {
  Restorer(origin, std::move(documentNatives), history, reporter).run();
}

}  // namespace bough::message
