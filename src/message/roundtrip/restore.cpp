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
void dropDetachedReasoning(std::vector<Item>& items, HostGone isHostGone, const LossReporter& losses) {
  std::vector<Item> left;  // From the last to the first.
  for (std::size_t i = items.size(); i-- > 0;) {
    const Original& original = items[i].original;
    const bool reasoning = original.fromWayBack && items[i].block < 0 && isReasoningItem(original);
    const bool leads = !left.empty() && mayFollowReasoning(left.back().original);
    if (reasoning && !leads && isHostGone(items[i])) {
      for (const Block& block : original.message.blocks) losses.block(original, block);
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
        states_(wayBack.originals.size() + 1),
        losses_(wayBack.document, reporter),
        media_{.goesBack = std::vector<char>(records_.blocks.size(), 0), .byResultId = {}} {}

  void run() {
    for (Original& original : wayBack_.originals) {
      readOriginal(original, history_);
      if (original.section == Section::Messages)
        history_.lastDocumentPlace = std::max(history_.lastDocumentPlace, original.documentPlace);
      for (const Block& block : original.message.blocks) {
        if (block.kind == BlockKind::ToolCall && block.freeform) history_.freeformTools.push_back(block.name.escaped);
      }
    }
    Matches matches = matchDocument(wayBack_, document_, reporter_);
    values_ = std::move(matches.values);
    losses_.setMarkedErrors(markEditedErrors(wayBack_, document_));
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) states_[i].touched = matches.touched[i] != 0;
    decideKept();
    media_ = mediaOfEdited(wayBack_, document_, values_, [&](std::size_t written) { return comesBack(written); });
    collect();
  }

 private:
  static constexpr std::int64_t kAfter = std::numeric_limits<std::int64_t>::max();  // After all blocks.

  // What happened to one original of the way back.
  struct OriginalState {
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
  void decideKept() {
    std::vector<char> unchanged(records_.blocks.size(), 0);  // By written block: it is unchanged.
    for (const DocumentValue& value : values_) {
      for (const std::size_t written : value.writtenBlocks) {
        if (written != kUnmatched) unchanged[written] = 1;
      }
    }
    for (const ValueRecord& record : records_.values) {
      for (std::uint32_t k = 0; k < record.blockCount; ++k) {
        const std::int32_t original = records_.blocks[record.firstBlock + k].original;
        if (original < 0) continue;
        const auto at = static_cast<std::size_t>(original);
        if (wayBack_.originals[at].section == record.section) states_[at].inPlace = true;
      }
    }
    for (std::size_t i = 0; i < records_.blocks.size(); ++i) {
      if (records_.blocks[i].original < 0) continue;
      const auto original = static_cast<std::size_t>(records_.blocks[i].original);
      ++states_[original].blocks;
      if (unchanged[i] != 0) ++states_[original].unchanged;
    }
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const Original& original = wayBack_.originals[i];
      if (original.problem == kDamagedOriginal) {
        reporter_.warn(pathOf(original) + ": its bytes in the origin were changed; it does not come back from there");
      } else if (states_[i].blocks > 0) {
        states_[i].keep = states_[i].unchanged == states_[i].blocks;
        if (states_[i].unchanged > 0) states_[i].touched = true;
      } else {
        states_[i].keep = true;
      }
    }
    for (auto& [index, cuts] : findCuts(document_, values_, wayBack_)) states_[index].cuts = std::move(cuts);
    keepBlocks(unchanged);
    findNeighbours();
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      states_[i].section = wayBack_.originals[i].section;
      states_[i].host = states_[i].blocks > 0 ? i : hostOf(i);
      if (states_[i].blocks > 0 || !states_[i].keep) continue;
      const std::size_t host = states_[i].host;
      if (host == kUnmatched || states_[host].keep || states_[host].touched) continue;
      states_[i].keep = false;
      reporter_.note(Change::Removed, wayBack_.originals[i], nullptr, "message", "what it belonged to is gone");
    }
  }

  void divideIntoBlocks(std::size_t index) {  // the original comes back block by block
    losses_.message(wayBack_.originals[index]);
    states_[index].keep = false;
    states_[index].touched = true;
    states_[index].kept.assign(wayBack_.originals[index].message.blocks.size(), 1);
  }

  // When an original was edited, its unchanged blocks come back, and so do the blocks that became nothing.
  void keepBlocks(const std::vector<char>& unchanged) {
    const auto returns = [&](BlockPlace place) {
      const OriginalState& state = states_[place.original];
      return state.keep || (place.block < state.kept.size() && state.kept[place.block] != 0);
    };
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const Original& original = wayBack_.originals[i];
      const bool isCut = std::ranges::any_of(states_[i].cuts, [](Cut cut) { return cut.after >= 0; });
      if (states_[i].keep && isCut) divideIntoBlocks(i);
      const bool edited = states_[i].kept.empty() && !states_[i].keep && states_[i].touched && original.problem.empty();
      if (edited) losses_.message(original);
      if (edited && original.section != Section::Tools) states_[i].kept.assign(original.message.blocks.size(), 1);
    }
    for (std::size_t i = 0; i < records_.blocks.size(); ++i) {
      const BlockRecord& written = records_.blocks[i];
      if (written.original < 0 || unchanged[i] != 0) continue;
      std::vector<char>& kept = states_[static_cast<std::size_t>(written.original)].kept;
      const auto place = static_cast<std::size_t>(written.blockIndex);
      if (written.blockIndex < 0 || place >= kept.size()) {
        kept.assign(kept.size(), 0);
      } else {
        kept[place] = 0;
      }
    }
    // The call of a provider's own tool and its result come back together: when one of them was edited or is gone, the
    // document's version of the other one stays.
    for (const auto [index, block] : unpairedServerToolBlocks(wayBack_.originals, returns)) {
      if (states_[index].keep) divideIntoBlocks(index);
      states_[index].kept[block] = 0;
    }
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (!states_[i].kept.empty()) decideKeptBlocks(i);
    }
  }

  void decideKeptBlocks(std::size_t index) {
    const Original& original = wayBack_.originals[index];
    OriginalState& state = states_[index];
    // An item of Responses that is a call or reasoning is one block.
    const bool divisible =
        original.dialect != Dialect::OpenaiResponses || original.message.roleName.present || isWholeResponse(original);
    const std::vector<Block>& blocks = original.message.blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      // A citation is inside the text before it.
      const bool inside = blocks[b].kind == BlockKind::Citation && original.dialect != Dialect::Bough;
      if (inside) state.kept[b] = b > 0 && state.kept[b - 1] != 0;
      if (!divisible) state.kept[b] = 0;
      state.partial |= state.kept[b] != 0 && !inside;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (state.kept[b] == 0) losses_.block(original, blocks[b]);
    }
  }

  // Adds the runs of blocks that come back, each as a message; the plan joins them with what was edited.
  void addKeptRuns(std::size_t index) {
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
      if (states_[index].kept[b] == 0) {
        endRun();
        lostCall |= blocks[b].kind == BlockKind::ToolCall;
        continue;
      }
      if (run.empty()) first = static_cast<std::int64_t>(b);
      run.push_back(&blocks[b]);
      if (std::ranges::count(states_[index].cuts, static_cast<std::int64_t>(b), &Cut::after) > 0) endRun();
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
      if (sameSection(i, i - 1)) states_[i].before = states_[i - 1].inPlace ? i - 1 : states_[i - 1].before;
    }
    for (std::size_t i = count; i-- > 0;) {
      if (i + 1 < count && sameSection(i, i + 1))
        states_[i].after = states_[i + 1].inPlace ? i + 1 : states_[i + 1].after;
      states_[i].nextInPlace = states_[i].inPlace ? i : states_[i + 1].nextInPlace;
    }
  }

  // Returns the original that an original without blocks in the document belongs to. Reasoning of an assistant belongs
  // to the answer that follows.
  [[nodiscard]] std::size_t hostOf(std::size_t index) const {
    const std::size_t after = states_[index].after;
    const bool leads = wayBack_.originals[index].message.role == Role::Assistant && after != kUnmatched &&
                       wayBack_.originals[after].message.role == Role::Assistant;
    if (leads) return after;
    const std::size_t before = states_[index].before;
    return before != kUnmatched ? before : after;
  }

  // Returns whether this block of the document only represents something that comes back.
  [[nodiscard]] bool comesBack(std::size_t written) const {
    if (written == kUnmatched) return false;
    const std::int32_t original = records_.blocks[written].original;
    if (original < 0 || media_.goesBack[written] != 0) return true;
    const OriginalState& state = states_[static_cast<std::size_t>(original)];
    const std::int32_t place = records_.blocks[written].blockIndex;
    return state.keep || (state.partial && place >= 0 && state.kept[static_cast<std::size_t>(place)] != 0);
  }

  // Sets from which value of the document each original came; an original that became nothing goes with its host.
  void setMessageIndexes() {
    for (std::size_t index = 0; index < document_.size(); ++index) {
      for (const std::size_t written : values_[index].writtenBlocks) {
        const std::int32_t original = written == kUnmatched ? -1 : records_.blocks[written].original;
        if (original >= 0)
          wayBack_.originals[static_cast<std::size_t>(original)].messageIndex = document_[index].messageIndex;
      }
    }
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (states_[i].blocks == 0 && states_[i].host != kUnmatched) {
        wayBack_.originals[i].messageIndex = wayBack_.originals[states_[i].host].messageIndex;
      }
    }
  }

  void collect() {
    setMessageIndexes();
    const auto returns = [&](BlockPlace place) {
      const OriginalState& state = states_[place.original];
      return state.keep || (state.partial && state.kept[place.block] != 0);
    };
    for (const std::size_t i : originalsWithUnpairedCalls(wayBack_.originals, returns))
      wayBack_.originals[i].unpaired = true;
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      if (states_[i].partial) addKeptRuns(i);
      if (!states_[i].keep) continue;
      if (wayBack_.originals[i].section == Section::Messages) ++reporter_.report().restored;
      items_.push_back({static_cast<std::int64_t>(i), -1, 0, std::move(wayBack_.originals[i])});
    }
    findLastWith();
    for (const Section section : kSections) {
      std::int64_t anchor = startOf(section);
      lastSource_ = -1;
      for (const std::size_t i : valuesIn(document_, section)) placeValue(i, anchor);
    }
    std::ranges::sort(items_, [](const Item& a, const Item& b) {
      return std::tie(a.key, a.block, a.order) < std::tie(b.key, b.block, b.order);
    });
    const auto isHostGone = [&](const Item& item) {
      const std::size_t host = states_[static_cast<std::size_t>(item.key)].host;
      return host != kUnmatched && !states_[host].keep && !states_[host].partial;
    };
    dropDetachedReasoning(items_, isHostGone, losses_);
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
          inside && states_[static_cast<std::size_t>(item.key)].partial && sideOf(before) == sideOf(item);
    }
  }

  // New values come after originals that became nothing and have no neighbour that became something.
  [[nodiscard]] std::int64_t startOf(Section section) const {
    std::int64_t start = -1;
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      const bool alone =
          states_[i].blocks == 0 && states_[i].keep && states_[i].section == section && states_[i].host == kUnmatched;
      if (alone) start = static_cast<std::int64_t>(i);
    }
    return start;
  }

  // For every original, finds the last one that stays with it: following originals that became nothing and belong to
  // it, or that became something in another section.
  void findLastWith() {
    for (std::size_t i = 0; i < wayBack_.originals.size(); ++i) {
      states_[i].lastWith = static_cast<std::int64_t>(i);
      if (states_[i].inPlace) continue;
      const std::size_t host = states_[i].blocks == 0 ? states_[i].host : states_[i].before;
      if (host != kUnmatched && host < i) states_[host].lastWith = static_cast<std::int64_t>(i);
    }
  }

  void placeValue(std::size_t index, std::int64_t& anchor) {
    Original& original = document_[index];
    const std::vector<std::size_t>& writtenBlocks = values_[index].writtenBlocks;
    const auto blocks = separateBlocksOf(original);
    const bool anyKept = std::ranges::any_of(writtenBlocks, [&](std::size_t written) { return comesBack(written); });
    if (!anyKept) {
      const bool known = values_[index].record != kUnmatched && records_.values[values_[index].record].verbatim;
      // The record says which original the value followed. Later originals that became nothing come after both.
      if (known) anchor = std::max<std::int64_t>(lastSource_, records_.values[values_[index].record].original);
      if (values_[index].record == kUnmatched) anchor = placeOfEdited(original, anchor);
      lastSource_ = anchor;
      const std::int64_t block = values_[index].record == kUnmatched ? nextEdited(anchor) : kAfter;
      returnMedia(media_, original);
      items_.push_back({anchor, block, items_.size() + 1, std::move(original)});
      return;
    }
    std::vector<const Block*> left;
    for (std::size_t k = 0; k < writtenBlocks.size(); ++k) {
      if (!comesBack(writtenBlocks[k])) {
        left.push_back(blocks[k]);
        continue;
      }
      placeSubset(original, left, anchor);
      const std::int32_t from = records_.blocks[writtenBlocks[k]].original;
      if (from >= 0) {
        OriginalState& state = states_[static_cast<std::size_t>(from)];
        anchor = std::max(anchor, state.partial ? static_cast<std::int64_t>(from) : state.lastWith);
        state.lastBlock = std::max<std::int64_t>(state.lastBlock, records_.blocks[writtenBlocks[k]].blockIndex);
      }
      lastSource_ = std::max<std::int64_t>(lastSource_, from);
    }
    placeSubset(original, left, anchor);
  }

  // An edited value goes to the place of the original that it replaces: after the reasoning that led to it.
  [[nodiscard]] std::int64_t placeOfEdited(const Original& edited, std::int64_t anchor) const {
    const Section section = edited.replacesSystem ? Section::System : edited.section;
    if (edited.replacesSystem) {
      const auto system = std::ranges::find_if(
          states_, [](const OriginalState& at) { return at.section == Section::System && at.touched && !at.keep; });
      return system == states_.end() ? anchor : system - states_.begin();
    }
    const OriginalState* const at = anchor < 0 ? nullptr : &states_[static_cast<std::size_t>(anchor)];
    if (at != nullptr && (at->editedBlock() >= 0 || at->cut() != nullptr)) return anchor;
    // Originals that became nothing, or moved to another section, are skipped.
    std::size_t next = states_[static_cast<std::size_t>(anchor + 1)].nextInPlace;
    while (next != kUnmatched && states_[next].section != section) next = states_[next + 1].nextInPlace;
    if (next == kUnmatched || states_[next].keep || !states_[next].touched) return anchor;
    // A user message does not replace an answer.
    const bool answers = wayBack_.originals[next].message.role == Role::Assistant;
    const bool fits = section != Section::Messages || answers == (edited.message.role == Role::Assistant);
    return fits ? static_cast<std::int64_t>(next) : anchor;
  }

  // Returns where a new value goes among the blocks of the original at the anchor.
  [[nodiscard]] std::int64_t nextEdited(std::int64_t anchor) {
    if (anchor < 0) return kAfter;
    OriginalState& state = states_[static_cast<std::size_t>(anchor)];
    const Cut* const cut = state.cut();
    const std::int64_t block = state.editedBlock();
    if (cut != nullptr && (block < 0 || block > cut->before)) return 2 * state.lastBlock + 1;
    if (block >= 0) state.lastBlock = block;
    return block >= 0 ? 2 * block + 1 : kAfter;
  }

  void placeSubset(const Original& original, std::vector<const Block*>& blocks, std::int64_t& anchor) {
    if (blocks.empty()) return;
    anchor = placeOfEdited(original, anchor);
    lastSource_ = anchor;
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
    part.isRequestMember = original.isRequestMember;
    part.tree = &tree;
    part.raw = text;
    part.documentPlace = original.documentPlace;
    part.messageIndex = original.messageIndex;
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
  std::vector<OriginalState> states_;  // One element more than originals, for the end.
  LossReporter losses_;
  ReturnedMedia media_;
  std::vector<Item> items_;
  std::int64_t lastSource_ = -1;  // The last original that something in the document came from.
};

}  // namespace

void restoreOriginals(WayBackData& wayBack, std::vector<Original> documentOriginals, History& history,
                      Reporter& reporter) {
  Restorer(wayBack, std::move(documentOriginals), history, reporter).run();
}

}  // namespace bough::message
