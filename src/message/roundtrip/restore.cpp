#include "message/roundtrip/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "message/dialect/read_original.h"
#include "message/json/content_hash.h"
#include "message/roundtrip/edited_errors.h"
#include "message/roundtrip/edited_media.h"
#include "message/roundtrip/losses.h"
#include "message/roundtrip/match.h"
#include "message/roundtrip/pairs.h"

namespace bough::message {
namespace {

struct Item {
  std::int64_t key;    // The original that it follows, or is.
  std::int64_t block;  // Its position among the blocks of that original.
  std::size_t order;
  Original original;
};

// In Responses, reasoning is a separate item, which the API refuses when what it led to is gone. `isHostGone` returns
// whether what an item belongs to does not come back.
template <typename HostGone>
void dropLonelyReasoning(std::vector<Item>& items, HostGone isHostGone, const LossNamer& losses) {
  std::vector<Item> left;  // From the last to the first.
  for (std::size_t i = items.size(); i-- > 0;) {
    const Original& original = items[i].original;
    const std::vector<Block>& blocks = original.message.blocks;
    const bool reasoning = original.fromWayBack && items[i].block < 0 && isReasoningItem(original);
    const bool leads = !left.empty() && mayFollowReasoning(left.back().original);
    if (reasoning && !leads && isHostGone(items[i])) {
      for (const Block& block : blocks) losses.block(original, block);
    } else {
      left.push_back(std::move(items[i]));
    }
  }
  std::ranges::reverse(left);
  items = std::move(left);
}

class Restorer {
 public:
  Restorer(WayBackData& wayBack, std::vector<Original> document, History& history, Reporter& reporter)
      : wayBack_(wayBack),
        records_(wayBack.records),
        document_(std::move(document)),
        history_(history),
        reporter_(reporter),
        known_(wayBack.originals.size() + 1),
        losses_(wayBack.document, reporter),
        media_{.leaves = std::vector<char>(records_.leaves.size(), 0), .of = {}} {}

  void run() {
    for (Original& original : wayBack_.originals) {
      readOriginal(original, history_);
      if (original.section == Section::Messages) history_.lastPlace = std::max(history_.lastPlace, original.place);
      for (const Block& block : original.message.blocks) {
        if (block.kind == BlockKind::ToolCall && block.freeform) history_.freeformTools.push_back(block.name.escaped);
      }
    }
    Matches matches = matchDocument(wayBack_, document_, reporter_);
    values_ = std::move(matches.values);
    losses_.setMarkedErrors(markEditedErrors(wayBack_, document_));
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) known_[i].touched = matches.touched[i] != 0;
    judge();
    media_ = mediaOfEdited(wayBack_, document_, values_, [&](std::size_t leaf) { return consumed(leaf); });
    collect();
  }

 private:
  static constexpr std::int64_t kAfter = std::numeric_limits<std::int64_t>::max();  // After all blocks.

  // What happened to one original of the way back.
  struct Known {
    std::uint32_t blocks = 0;     // Number of blocks that it was written as.
    std::uint32_t unchanged = 0;  // Number of those blocks that are unchanged.
    bool keep = false;            // It comes back.
    bool touched = false;         // Some form of it is still in the document.
    bool inPlace = false;         // It became something in its own section.
    bool partial = false;         // It comes back only in part: the blocks in `kept`.
    std::vector<char> kept;       // By block of the original.
    std::int64_t lastBlock = -1;  // The last block that was found in the document.
    Section section = Section::Messages;
    std::size_t before = kUnmatched;       // The nearest original before it in its section that is in place.
    std::size_t after = kUnmatched;        // The nearest original after it in its section that is in place.
    std::size_t nextInPlace = kUnmatched;  // The next original from here on that is in place.
    std::size_t host = kUnmatched;         // What it belongs to: itself, or a neighbour when it became nothing.
    std::int64_t lastWith = 0;             // The last original that stays with it.
    std::vector<Cut> cuts;

    // Returns the next edited block after those that were found; -1 when there is none.
    [[nodiscard]] std::int64_t editedBlock() const {
      if (!partial) return -1;
      for (auto b = static_cast<std::size_t>(lastBlock + 1); b < kept.size(); ++b) {
        if (kept[b] == 0) return static_cast<std::int64_t>(b);
      }
      return -1;
    }
    // Returns the cut after the blocks that were found.
    [[nodiscard]] const Cut* cut() const {
      const auto here =
          std::ranges::find_if(cuts, [&](Cut each) { return each.after <= lastBlock && lastBlock < each.before; });
      return here == cuts.end() ? nullptr : &*here;
    }
  };

  // Decides which originals come back.
  void judge() {
    std::vector<char> unchanged(records_.leaves.size(), 0);  // By written block: it is unchanged.
    for (const DocumentValue& value : values_) {
      for (const std::size_t leaf : value.leaves) {
        if (leaf != kUnmatched) unchanged[leaf] = 1;
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
      if (unchanged[i] != 0) ++known_[original].unchanged;
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
    for (auto& [index, cuts] : findCuts(document_, values_, wayBack_)) known_[index].cuts = std::move(cuts);
    keepBlocks(unchanged);
    findNeighbours();
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      known_[i].section = wayBack_.originals[i].section;
      known_[i].host = known_[i].blocks > 0 ? i : hostOf(i);
      if (known_[i].blocks > 0 || !known_[i].keep) continue;
      const std::size_t host = known_[i].host;
      if (host == kUnmatched || known_[host].keep || known_[host].touched) continue;
      known_[i].keep = false;
      reporter_.note(Change::Removed, wayBack_.originals[i], nullptr, "message", "what it belonged to is gone");
    }
  }

  void divide(std::size_t index) {  // the original comes back block by block
    losses_.message(wayBack_.originals[index]);
    known_[index].keep = false;
    known_[index].touched = true;
    known_[index].kept.assign(wayBack_.originals[index].message.blocks.size(), 1);
  }

  // When an original was edited, its unchanged blocks come back, and so do the blocks that became nothing.
  void keepBlocks(const std::vector<char>& unchanged) {
    const auto returns = [&](BlockPlace place) {
      const Known& known = known_[place.original];
      return known.keep || (place.block < known.kept.size() && known.kept[place.block] != 0);
    };
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const Original& original = wayBack_.originals[i];
      const bool isCut = std::ranges::any_of(known_[i].cuts, [](Cut cut) { return cut.after >= 0; });
      if (known_[i].keep && isCut) divide(i);
      const bool edited = known_[i].kept.empty() && !known_[i].keep && known_[i].touched && original.problem.empty();
      if (edited) losses_.message(original);
      if (edited && original.section != Section::Tools) known_[i].kept.assign(original.message.blocks.size(), 1);
    }
    for (std::size_t i = 0; i < records_.leaves.size(); ++i) {
      const LeafRecord& leaf = records_.leaves[i];
      if (leaf.original < 0 || unchanged[i] != 0) continue;
      std::vector<char>& kept = known_[static_cast<std::size_t>(leaf.original)].kept;
      const auto place = static_cast<std::size_t>(leaf.place);
      if (leaf.place < 0 || place >= kept.size()) {
        kept.assign(kept.size(), 0);
      } else {
        kept[place] = 0;
      }
    }
    // The call of a provider's own tool and its result come back together: when one of them was edited or is gone, the
    // document's version of the other one stays.
    for (const auto [index, block] : loneServerHalves(wayBack_.originals, returns)) {
      if (known_[index].keep) divide(index);
      known_[index].kept[block] = 0;
    }
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (!known_[i].kept.empty()) judgeBlocks(i);
    }
  }

  void judgeBlocks(std::size_t index) {
    const Original& original = wayBack_.originals[index];
    Known& known = known_[index];
    // An item of Responses that is a call or reasoning is one block.
    const bool divisible =
        original.dialect != Dialect::OpenaiResponses || original.message.roleName.present || isWholeResponse(original);
    const std::vector<Block>& blocks = original.message.blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      // A citation is inside the text before it.
      const bool inside = blocks[b].kind == BlockKind::Citation && original.dialect != Dialect::Bough;
      if (inside) known.kept[b] = b > 0 && known.kept[b - 1] != 0;
      if (!divisible) known.kept[b] = 0;
      known.partial |= known.kept[b] != 0 && !inside;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (known.kept[b] == 0) losses_.block(original, blocks[b]);
    }
  }

  // Adds the runs of blocks that come back, each as a message; the plan joins them with what was edited.
  void takeKept(std::size_t index) {
    const Original& original = wayBack_.originals[index];
    const std::vector<Block>& blocks = original.message.blocks;
    std::vector<const Block*> run;
    std::int64_t first = 0;
    bool lostCall = false;
    const auto endRun = [&] {
      if (run.empty()) return;
      Original part = partOf(original, run);
      part.fromWayBack = true;
      part.partial = true;
      part.prefix = original.prefix;
      part.signedBlocks = original.signedBlocks;
      part.separator = original.separator;
      part.unpaired = original.unpaired;
      part.lostCall = lostCall;
      items_.push_back({static_cast<std::int64_t>(index), 2 * first, items_.size() + 1, std::move(part)});
      run.clear();
    };
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].kind == BlockKind::Citation && original.dialect != Dialect::Bough) continue;
      if (known_[index].kept[b] == 0) {
        endRun();
        lostCall |= blocks[b].kind == BlockKind::ToolCall;
        continue;
      }
      if (run.empty()) first = static_cast<std::int64_t>(b);
      run.push_back(&blocks[b]);
      if (std::ranges::count(known_[index].cuts, static_cast<std::int64_t>(b), &Cut::after) > 0) endRun();
    }
    endRun();
  }

  // For each original, finds the nearest originals before and after it in its section that became something there.
  void findNeighbours() {
    const std::size_t count = wayBack_.originals.size();
    auto sameSection = [&](std::size_t a, std::size_t b) {
      return wayBack_.originals[a].section == wayBack_.originals[b].section;
    };
    for (std::size_t i = 1; i < count; ++i) {
      if (sameSection(i, i - 1)) known_[i].before = known_[i - 1].inPlace ? i - 1 : known_[i - 1].before;
    }
    for (std::size_t i = count; i-- > 0;) {
      if (i + 1 < count && sameSection(i, i + 1)) known_[i].after = known_[i + 1].inPlace ? i + 1 : known_[i + 1].after;
      known_[i].nextInPlace = known_[i].inPlace ? i : known_[i + 1].nextInPlace;
    }
  }

  // Returns the original that an original without blocks in the document belongs to. Reasoning of an assistant belongs
  // to the answer that follows.
  [[nodiscard]] std::size_t hostOf(std::size_t index) const {
    const std::size_t after = known_[index].after;
    const bool leads = wayBack_.originals[index].message.role == Role::Assistant && after != kUnmatched &&
                       wayBack_.originals[after].message.role == Role::Assistant;
    if (leads) return after;
    const std::size_t before = known_[index].before;
    return before != kUnmatched ? before : after;
  }

  // Returns whether this block of the document only represents something that comes back.
  [[nodiscard]] bool consumed(std::size_t leaf) const {
    if (leaf == kUnmatched) return false;
    const std::int32_t original = records_.leaves[leaf].original;
    if (original < 0 || media_.leaves[leaf] != 0) return true;
    const Known& known = known_[static_cast<std::size_t>(original)];
    const std::int32_t place = records_.leaves[leaf].place;
    return known.keep || (known.partial && place >= 0 && known.kept[static_cast<std::size_t>(place)] != 0);
  }

  // Sets from which value of the document each original came; an original that became nothing goes with its host.
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
    const auto returns = [&](BlockPlace place) {
      const Known& known = known_[place.original];
      return known.keep || (known.partial && known.kept[place.block] != 0);
    };
    for (const std::size_t i : originalsOfLoneHalves(wayBack_.originals, returns))
      wayBack_.originals[i].unpaired = true;
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (known_[i].partial) takeKept(i);
      if (!known_[i].keep) continue;
      if (wayBack_.originals[i].section == Section::Messages) ++reporter_.report().restored;
      items_.push_back({static_cast<std::int64_t>(i), -1, 0, std::move(wayBack_.originals[i])});
    }
    anchors();
    for (const Section section : kSections) {
      std::int64_t anchor = startOf(section);
      floor_ = -1;
      for (const std::size_t i : valuesIn(document_, section)) take(i, anchor);
    }
    std::ranges::sort(items_, [](const Item& a, const Item& b) {
      return std::tie(a.key, a.block, a.order) < std::tie(b.key, b.block, b.order);
    });
    const auto isHostGone = [&](const Item& item) {
      const std::size_t host = known_[static_cast<std::size_t>(item.key)].host;
      return host != kUnmatched && !known_[host].keep && !known_[host].partial;
    };
    dropLonelyReasoning(items_, isHostGone, losses_);
    joinPieces();
    for (const Section section : kSections) {
      for (Item& item : items_) {
        const Section where = item.original.replacesSystem ? Section::System : item.original.section;
        if (where == section) history_.originals.push_back(std::move(item.original));
      }
    }
  }

  // Marks edited pieces that belong to the message whose other blocks were kept.
  void joinPieces() {
    // Some dialects have tool results in user messages.
    const auto sideOf = [](const Item& item) {
      const Role role = item.original.message.role;
      return role == Role::Tool ? Role::User : role;
    };
    for (std::size_t i = 1; i < items_.size(); ++i) {
      const Item& before = items_[i - 1];
      Item& item = items_[i];
      const bool inside = before.key == item.key && item.key >= 0 && before.block >= 0 && item.block != kAfter;
      item.original.joinsPrevious =
          inside && known_[static_cast<std::size_t>(item.key)].partial && sideOf(before) == sideOf(item);
    }
  }

  // New values come after originals that became nothing and have no neighbour that became something.
  [[nodiscard]] std::int64_t startOf(Section section) const {
    std::int64_t start = -1;
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const bool alone =
          known_[i].blocks == 0 && known_[i].keep && known_[i].section == section && known_[i].host == kUnmatched;
      if (alone) start = static_cast<std::int64_t>(i);
    }
    return start;
  }

  // For every original, finds the last one that stays with it: following originals that became nothing and belong to
  // it, or that became something in another section.
  void anchors() {
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      known_[i].lastWith = static_cast<std::int64_t>(i);
      if (known_[i].inPlace) continue;
      const std::size_t host = known_[i].blocks == 0 ? known_[i].host : known_[i].before;
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
      // The record says which original the value followed. Later originals that became nothing come after both.
      if (known) anchor = std::max<std::int64_t>(floor_, records_.nodes[values_[index].record].original);
      if (values_[index].record == kUnmatched) anchor = placeOfEdited(original, anchor);
      floor_ = anchor;
      const std::int64_t block = values_[index].record == kUnmatched ? nextEdited(anchor) : kAfter;
      returnMedia(media_, original);
      items_.push_back({anchor, block, items_.size() + 1, std::move(original)});
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
      if (from >= 0) {
        Known& known = known_[static_cast<std::size_t>(from)];
        anchor = std::max(anchor, known.partial ? static_cast<std::int64_t>(from) : known.lastWith);
        known.lastBlock = std::max<std::int64_t>(known.lastBlock, records_.leaves[leaves[k]].place);
      }
      floor_ = std::max<std::int64_t>(floor_, from);
    }
    takeSubset(original, left, anchor);
  }

  // An edited value goes to the place of the original that it replaces: after the reasoning that led to it.
  [[nodiscard]] std::int64_t placeOfEdited(const Original& edited, std::int64_t anchor) const {
    const Section section = edited.replacesSystem ? Section::System : edited.section;
    if (edited.replacesSystem) {
      const auto system = std::ranges::find_if(
          known_, [](const Known& known) { return known.section == Section::System && known.touched && !known.keep; });
      return system == known_.end() ? anchor : system - known_.begin();
    }
    const Known* const at = anchor < 0 ? nullptr : &known_[static_cast<std::size_t>(anchor)];
    if (at != nullptr && (at->editedBlock() >= 0 || at->cut() != nullptr)) return anchor;
    // Originals that became nothing, or moved to another section, are skipped.
    std::size_t next = known_[static_cast<std::size_t>(anchor + 1)].nextInPlace;
    while (next != kUnmatched && known_[next].section != section) next = known_[next + 1].nextInPlace;
    if (next == kUnmatched || known_[next].keep || !known_[next].touched) return anchor;
    // A user message does not replace an answer.
    const bool answers = wayBack_.originals[next].message.role == Role::Assistant;
    const bool fits = section != Section::Messages || answers == (edited.message.role == Role::Assistant);
    return fits ? static_cast<std::int64_t>(next) : anchor;
  }

  // Returns where a new value goes among the blocks of the original at the anchor.
  [[nodiscard]] std::int64_t nextEdited(std::int64_t anchor) {
    if (anchor < 0) return kAfter;
    Known& known = known_[static_cast<std::size_t>(anchor)];
    const Cut* const cut = known.cut();
    const std::int64_t block = known.editedBlock();
    if (cut != nullptr && (block < 0 || block > cut->before)) return 2 * known.lastBlock + 1;
    if (block >= 0) known.lastBlock = block;
    return block >= 0 ? 2 * block + 1 : kAfter;
  }

  void takeSubset(const Original& original, std::vector<const Block*>& blocks, std::int64_t& anchor) {
    if (blocks.empty()) return;
    anchor = placeOfEdited(original, anchor);
    floor_ = anchor;
    Original part = partOf(original, blocks);
    part.replacesSystem = original.replacesSystem;
    returnMedia(media_, part);
    items_.push_back({anchor, nextEdited(anchor), items_.size() + 1, std::move(part)});
    blocks.clear();
  }

  // Returns a message with only these blocks of an original.
  Original partOf(const Original& original, const std::vector<const Block*>& blocks) {
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
    part.place = original.place;
    part.documentIndex = original.documentIndex;
    part.entryId = original.entryId;
    readOriginal(part, history_);
    return part;
  }

  WayBackData& wayBack_;
  const Records& records_;
  std::vector<Original> document_;
  History& history_;
  Reporter& reporter_;
  std::vector<DocumentValue> values_;
  std::vector<Known> known_;  // One element more than originals, for the end.
  LossNamer losses_;
  ReturnedMedia media_;
  std::vector<Item> items_;
  std::int64_t floor_ = -1;  // The last original that something in the document came from.
};

}  // namespace

void restoreOriginals(WayBackData& wayBack, std::vector<Original> documentOriginals, History& history,
                      Reporter& reporter) {
  Restorer(wayBack, std::move(documentOriginals), history, reporter).run();
}

}  // namespace bough::message
